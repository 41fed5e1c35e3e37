import { posix } from 'node:path';
import ts from 'typescript';
import { packageOf, type Import } from './imports.js';
import { isTest, lineOf, nodesOf, oncePerFile, parse } from './source-tree.js';

/** Where the client library of a product may be imported; everywhere else it hides behind a port. */
const VENDOR_FENCES: { packages: string[]; rule: string; allows(path: string): boolean }[] = [
  { packages: ['kafkajs'], rule: 'kafka-* files', allows: (path) => isNamedAfter('kafka', path) },
  { packages: ['ioredis'], rule: 'redis-* files', allows: (path) => isNamedAfter('redis', path) },
  { packages: ['pg'], rule: 'postgres-* files', allows: (path) => isNamedAfter('postgres', path) },
  { packages: ['prom-client'], rule: 'metrics* files', allows: (path) => posix.basename(path).startsWith('metrics') },
  {
    packages: ['@opentelemetry/api', '@opentelemetry/sdk-trace-node', '@opentelemetry/exporter-trace-otlp-http'],
    rule: 'tracing* files',
    allows: (path) => posix.basename(path).startsWith('tracing'),
  },
  {
    packages: ['@fastify/proxy-addr'],
    rule: 'client-address.ts',
    allows: (path) => posix.basename(path) === 'client-address.ts',
  },
  { packages: ['openskill'], rule: 'openskill-* files', allows: (path) => isNamedAfter('openskill', path) },
  { packages: ['typeorm', '@nestjs/typeorm'], rule: 'libs/ledger', allows: (path) => path.startsWith('libs/ledger/') },
];

/** The product comes first in a file's name; a test may name it behind the part that it tests. */
function isNamedAfter(product: string, path: string): boolean {
  const words = posix.basename(path).split(/[-.]/);
  return isTest(path) ? words.includes(product) : words[0] === product && words.length > 2;
}

/** What is wrong with an import by the vendor fences, or null. */
export function faultOfVendor({ from, line, specifier }: Import): string | null {
  const fence = VENDOR_FENCES.find(({ packages }) => packages.includes(packageOf(specifier) ?? ''));
  return !fence || fence.allows(from) ? null : `${from}:${line} imports ${specifier}, which is for ${fence.rule} only`;
}

/** Something of the world around the process, and the only file that may touch it. */
export interface WorldAccess {
  what: 'environment' | 'clock' | 'console';
  line: number;
  text: string;
}

const CLOCK_READINGS = [
  ['Date', 'now'],
  ['performance', 'now'],
  ['process', 'hrtime'],
  ['process', 'uptime'],
];

/** Every place where a file reads the environment or the clock, or writes to the console. */
export const worldAccesses = oncePerFile((file): readonly WorldAccess[] =>
  [...nodesOf(parse(file))].flatMap((node) => {
    const what = accessAt(node);
    return what ? [{ what, line: lineOf(node), text: node.getText().split('\n')[0]! }] : [];
  }),
);

function accessAt(node: ts.Node): WorldAccess['what'] | null {
  const [object, member] = memberOf(node);
  if (object === 'console') return 'console';
  if (object === 'process' && member === 'env') return 'environment';
  if (CLOCK_READINGS.some(([owner, name]) => object === owner && member === name)) return 'clock';
  if (isDateOfNow(node)) return 'clock';
  return takesEnvironment(node) ? 'environment' : null;
}

/** `process.env`, `process['env']` and `globalThis.process.env` → `['process', 'env']`. */
function memberOf(node: ts.Node): [string?, string?] {
  if (ts.isPropertyAccessExpression(node)) return [nameOf(node.expression), node.name.text];
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) {
    return [nameOf(node.expression), node.argumentExpression.text];
  }
  return [];
}

function nameOf(node: ts.Expression): string | undefined {
  if (ts.isIdentifier(node)) return node.text;
  return ts.isPropertyAccessExpression(node) && nameOf(node.expression) === 'globalThis' ? node.name.text : undefined;
}

/** `new Date()`, `new Date` and `Date()`: with arguments a date is only a value. */
function isDateOfNow(node: ts.Node): boolean {
  if (ts.isNewExpression(node)) return nameOf(node.expression) === 'Date' && (node.arguments?.length ?? 0) === 0;
  return ts.isCallExpression(node) && nameOf(node.expression) === 'Date';
}

/** `const { env } = process` and `import { env } from 'node:process'`. */
function takesEnvironment(node: ts.Node): boolean {
  if (ts.isVariableDeclaration(node) && ts.isObjectBindingPattern(node.name) && node.initializer) {
    return nameOf(node.initializer) === 'process' && node.name.elements.some((one) => takenName(one) === 'env');
  }
  return (
    ts.isImportSpecifier(node) &&
    takenName(node) === 'env' &&
    /^(node:)?process$/.test((node.parent.parent.parent.moduleSpecifier as ts.StringLiteral).text)
  );
}

const takenName = (node: ts.BindingElement | ts.ImportSpecifier): string => (node.propertyName ?? node.name).getText();
