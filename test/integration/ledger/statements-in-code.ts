import { join, relative } from 'node:path';
import ts from 'typescript';

/** A statement as the code hands it to PostgreSQL. */
export interface StatementInCode {
  /** File and line of the call. */
  at: string;
  sql: string;
  /** The names that the code reads of a row; null where it says nothing of them. */
  columns: string[] | null;
}

/** Texts that PostgreSQL prepares; others (LOCK, BEGIN, SET) have no plan. */
const PREPARABLE = /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/;

type Known = ReadonlyMap<ts.Symbol, unknown>;
const NOTHING: Known = new Map();

class NotConstant extends Error {}

/** Reads the statements of some files out of their source, as far as these are constants. */
export class StatementsInCode {
  readonly found: StatementInCode[] = [];
  /** Calls whose statement is put together at run time, as `file: expression`. */
  readonly atRunTime: string[] = [];
  private readonly checker: ts.TypeChecker;

  constructor(
    private readonly root: string,
    folders: readonly string[],
  ) {
    const config = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path)).config as object;
    const { options } = ts.parseJsonConfigFileContent({ ...config, include: folders }, ts.sys, root);
    const paths = folders.flatMap((folder) => ts.sys.readDirectory(join(root, folder), ['.ts']));
    const program = ts.createProgram(paths, options);
    this.checker = program.getTypeChecker();
    for (const path of paths) {
      if (/\.spec\.ts$|\/migrations\//.test(path)) continue;
      this.visit(program.getSourceFile(path)!);
    }
  }

  private visit(node: ts.Node): void {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const runs = node.expression.name.text === 'query' || /\bdatabase\.chunks$/.test(node.expression.getText());
      if (runs && node.arguments.length > 0) this.take(node, node.arguments[0]!);
    }
    ts.forEachChild(node, (child) => this.visit(child));
  }

  /**
   * @param statement is what `call` passes on to PostgreSQL
   * @param read the columns that are read of its rows, where that is known already
   */
  private take(call: ts.CallExpression, statement: ts.Expression, read = this.columnsRead(call)): void {
    const file = call.getSourceFile();
    const at = relative(this.root, file.fileName);
    const parameter = ts.isIdentifier(statement) && this.declarationOf(statement);
    if (parameter && ts.isParameter(parameter) && this.takeCallers(file, parameter, read)) return;
    try {
      const { line } = file.getLineAndCharacterOfPosition(call.getStart());
      for (const sql of this.valuesOf(statement, NOTHING)) {
        if (typeof sql !== 'string' || !PREPARABLE.test(sql)) continue;
        this.found.push({ at: `${at}:${line + 1}`, sql, columns: read });
      }
    } catch (error) {
      if (!(error instanceof NotConstant)) throw error;
      this.atRunTime.push(`${at}: ${statement.getText().split('\n')[0]!}`);
    }
  }

  /** A function that is handed its statement: what its callers in the file hand to it is meant. */
  private takeCallers(file: ts.SourceFile, parameter: ts.ParameterDeclaration, read: string[] | null): boolean {
    const place = parameter.parent.parameters.indexOf(parameter);
    let isCalled = false;
    const look = (node: ts.Node): void => {
      if (ts.isCallExpression(node) && node.arguments.length > place) {
        const called = this.checker.getResolvedSignature(node)?.declaration;
        if (called === parameter.parent) {
          isCalled = true;
          this.take(node, node.arguments[place]!, read ?? this.columnsRead(node));
        }
      }
      ts.forEachChild(node, look);
    };
    look(file);
    return isCalled;
  }

  /** Of `Promise<Row[]>` or a generator of such pages: what Row has. */
  private columnsRead(call: ts.CallExpression): string[] | null {
    let type = this.checker.getTypeAtLocation(call);
    for (let depth = 0; depth < 2; depth += 1) {
      const inner = this.checker.getTypeArguments(type as ts.TypeReference)[0];
      if (!inner) return null;
      type = inner;
    }
    const kinds = type.isUnion() ? type.types : [type];
    const columns = kinds.flatMap((kind) => this.checker.getPropertiesOfType(kind).map(({ name }) => name));
    return columns.length === 0 ? null : [...new Set(columns)];
  }

  private declarationOf(name: ts.Node): ts.Declaration | undefined {
    const symbol = this.checker.getSymbolAtLocation(name);
    if (!symbol) return undefined;
    const itself = symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol;
    return itself.valueDeclaration;
  }

  private one(node: ts.Expression, known: Known): unknown {
    return this.valuesOf(node, known)[0];
  }

  /** Every value that a constant expression can have. @throws NotConstant */
  private valuesOf(node: ts.Expression, known: Known): unknown[] {
    if (ts.isStringLiteralLike(node)) return [node.text];
    if (ts.isNumericLiteral(node)) return [Number(node.text)];
    if (ts.isTemplateExpression(node)) {
      return node.templateSpans.reduce(
        (heads, { expression, literal }) =>
          this.valuesOf(expression, known).flatMap((value) =>
            heads.map((head) => `${head}${String(value)}${literal.text}`),
          ),
        [node.head.text],
      );
    }
    if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node)) {
      return this.valuesOf(node.expression, known);
    }
    if (ts.isConditionalExpression(node)) {
      return [...this.valuesOf(node.whenTrue, known), ...this.valuesOf(node.whenFalse, known)];
    }
    if (ts.isObjectLiteralExpression(node)) return [this.objectOf(node, known)];
    if (ts.isPropertyAccessExpression(node)) {
      return this.valuesOf(node.expression, known).map((owner) => (owner as Record<string, unknown>)[node.name.text]);
    }
    // Whatever the key may be.
    if (ts.isElementAccessExpression(node)) return Object.values(this.one(node.expression, known) as object);
    if (ts.isBinaryExpression(node)) return [this.computed(node, known)];
    if (ts.isCallExpression(node)) return this.valuesOfCall(node, known);
    if (ts.isIdentifier(node)) return this.valuesOfName(node, known);
    throw new NotConstant(node.getText());
  }

  private objectOf(node: ts.ObjectLiteralExpression, known: Known): Record<string, unknown> {
    return Object.fromEntries(
      node.properties.map((property) => {
        if (!ts.isPropertyAssignment(property)) throw new NotConstant(property.getText());
        return [property.name.getText(), this.one(property.initializer, known)];
      }),
    );
  }

  private computed(node: ts.BinaryExpression, known: Known): number {
    const [left, right] = [this.one(node.left, known) as number, this.one(node.right, known) as number];
    switch (node.operatorToken.kind) {
      case ts.SyntaxKind.AsteriskToken:
        return left * right;
      case ts.SyntaxKind.MinusToken:
        return left - right;
      case ts.SyntaxKind.AsteriskAsteriskToken:
        return left ** right;
      default:
        throw new NotConstant(node.getText());
    }
  }

  private valuesOfName(node: ts.Identifier, known: Known): unknown[] {
    const symbol = this.checker.getSymbolAtLocation(node)!;
    if (known.has(symbol)) return [known.get(symbol)];
    const declaration = this.declarationOf(node);
    const isConstant = declaration && ts.isVariableDeclaration(declaration) && ts.isIdentifier(declaration.name);
    if (isConstant && declaration.initializer && declaration.parent.flags & ts.NodeFlags.Const) {
      return this.valuesOf(declaration.initializer, known);
    }
    throw new NotConstant(node.getText());
  }

  /** `prepared(sql)`, and functions of one expression whose arguments are constants. */
  private valuesOfCall(node: ts.CallExpression, known: Known): unknown[] {
    const { expression, arguments: given } = node;
    if (ts.isPropertyAccessExpression(expression) && expression.name.text === 'join') {
      return [(this.one(expression.expression, known) as unknown[]).join(this.one(given[0]!, known) as string)];
    }
    if (ts.isIdentifier(expression) && expression.text === 'prepared') return this.valuesOf(given[0]!, known);
    const declaration = this.declarationOf(expression);
    const made = declaration && ts.isVariableDeclaration(declaration) ? declaration.initializer : undefined;
    if (!made || !ts.isArrowFunction(made) || ts.isBlock(made.body)) throw new NotConstant(node.getText());
    const bound = new Map(known);
    for (const [at, { name, dotDotDotToken, initializer: byDefault }] of made.parameters.entries()) {
      const value = dotDotDotToken
        ? given.slice(at).map((one) => this.one(one, known))
        : this.one((given[at] ?? byDefault)!, known);
      if (ts.isIdentifier(name)) bound.set(this.checker.getSymbolAtLocation(name)!, value);
      else {
        for (const element of name.elements) {
          if (!ts.isBindingElement(element)) continue;
          const key = element.name.getText();
          bound.set(this.checker.getSymbolAtLocation(element.name)!, (value as Record<string, unknown>)[key]);
        }
      }
    }
    return this.valuesOf(made.body, bound);
  }
}
