import ts from 'typescript';
import { nodesOf, parse, type TextFile } from './source-tree.js';

/** How many lines of a file are neither blank nor a comment of their own. */
export function linesOfCode({ text }: TextFile): number {
  return text.split('\n').filter((line) => !/^\s*($|\/\/|\/\*|\*)/.test(line)).length;
}

export interface ConstructorSize {
  className: string;
  parameters: number;
  /** Whether Nest makes the instances: the class has a decorator. */
  isInjected: boolean;
}

/** The constructors of a file with their number of parameters. */
export function constructorsOf(file: TextFile): ConstructorSize[] {
  return [...nodesOf(parse(file))].filter(ts.isConstructorDeclaration).map((node) => ({
    className: node.parent.name?.text ?? '(anonymous)',
    parameters: node.parameters.length,
    isInjected: (ts.getDecorators(node.parent as ts.ClassDeclaration) ?? []).length > 0,
  }));
}
