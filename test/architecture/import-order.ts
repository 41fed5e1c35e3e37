import { posix } from 'node:path';
import { packageOf, type Import } from './imports.js';
import { isTest } from './source-tree.js';

/** The only order in which libs may import each other: a lib sees those before it. Everything else comes after them. */
export const LIBS = [
  'domain',
  'extension',
  'platform',
  'ledger',
  'identity',
  'event-log',
  'projections',
  'commands',
  'queries',
  'sagas',
  'realtime',
  'leaderboard',
  'testing',
];

const SCOPE = '@laddercast/';

/** Apps that are built from another one: the standalone process is the three apps in one. */
const APPS_OF_APPS: Record<string, string[]> = { standalone: ['api'] };

/** Arithmetic of others that the domain may use: without I/O and clock, behind a fence of its own. */
const DOMAIN_MAY_IMPORT = ['openskill'];

/** What an example may import: it is written as a team would write it. */
const EXAMPLES_MAY_IMPORT = ['@laddercast/leaderboard', '@nestjs/common', 'class-validator'];

/** The only file of a client that may import what Node has, and browsers have not. */
const FOR_NODE_ALONE = 'clients/typescript/src/node.ts';

/** The example of a page, which sees the service from outside, and what it may import. */
const PAGE_EXAMPLE = 'examples/react-board/';
const PAGE_EXAMPLE_MAY_IMPORT = ['@laddercast/client', 'react', 'react-dom'];

/** What is wrong with an import by the order of the libs, or null. */
export function faultOfImportOrder(one: Import): string | null {
  const fault = one.specifier.startsWith('.') ? faultOfRelative(one) : faultOfBare(one);
  return fault && `${one.from}:${one.line} imports ${one.specifier}: ${fault}`;
}

/** `libs/ledger/src/x.ts` → `['libs', 'ledger']`. */
const placeOf = (path: string): [string, string] => path.split('/').slice(0, 2) as [string, string];

function faultOfRelative({ from, specifier }: Import): string | null {
  const target = posix.normalize(posix.join(posix.dirname(from), specifier));
  const [kind, name] = placeOf(from);
  const [targetKind, targetName] = placeOf(target);
  if (kind === targetKind && (name === targetName || kind === 'test' || kind === 'bench')) return null;
  if (kind === 'bench' && targetKind === 'tools') return null;
  // What only tests use has no index: it is shared by its path.
  if (isTest(from) && (isTest(target) || /^(apps|clients|packages)\//.test(target))) return null;
  if (kind === 'packages') {
    if (['packages', 'apps'].includes(targetKind) || (name === 'testing' && targetKind === 'tools')) return null;
  }
  if (kind === 'apps' && targetKind === 'apps' && APPS_OF_APPS[name]?.includes(targetName)) return null;
  if (targetKind === 'libs') return `another lib is imported as ${SCOPE}${targetName}`;
  return `${kind}/${name} may not reach into ${targetKind}/${targetName}`;
}

function faultOfBare(one: Import): string | null {
  const { from, specifier } = one;
  const [kind, name] = placeOf(from);
  if (kind === 'libs' && name === 'domain' && !isTest(from)) {
    const isAllowed = DOMAIN_MAY_IMPORT.includes(packageOf(specifier) ?? '');
    return isAllowed ? null : `domain imports nothing but ${DOMAIN_MAY_IMPORT.join(' and ')}`;
  }
  if (kind === 'clients' && !isTest(from)) {
    return from === FOR_NODE_ALONE && specifier.startsWith('node:') ? null : 'a client imports only its own files';
  }
  if (from.startsWith(PAGE_EXAMPLE)) {
    const isAllowed = PAGE_EXAMPLE_MAY_IMPORT.includes(packageOf(specifier) ?? '');
    return isAllowed ? null : `the example of a page imports only ${PAGE_EXAMPLE_MAY_IMPORT.join(', ')}`;
  }
  if (kind === 'examples' && !isTest(from) && !EXAMPLES_MAY_IMPORT.includes(specifier)) {
    return `an example imports only ${EXAMPLES_MAY_IMPORT.join(' and ')}`;
  }
  if (!specifier.startsWith(SCOPE)) return null;
  const lib = specifier.slice(SCOPE.length);
  if (lib.includes('/')) return `a lib is imported by its name alone: ${packageOf(specifier)}`;
  if (!LIBS.includes(lib)) return `there is no lib "${lib}"; known: ${LIBS.join(', ')}`;
  return kind === 'libs' ? faultBetweenLibs(one, name, lib) : faultOutsideLibs(one, kind, lib);
}

function faultBetweenLibs({ from, typeOnly }: Import, name: string, lib: string): string | null {
  // A lib's tests look at it from outside, and may use what is published for tests.
  if (isTest(from) && (lib === name || lib === 'testing')) return null;
  if (lib === name) return 'a lib imports its own files by their paths';
  if (!LIBS.includes(name)) return `the lib "${name}" has no place in the order: ${LIBS.join(' → ')}`;
  if (LIBS.indexOf(lib) > LIBS.indexOf(name)) return `${lib} comes after ${name} in the order: ${LIBS.join(' → ')}`;
  // The seams are what teams implement: they bring along the words of the domain, and none of its code.
  if (name === 'extension' && !typeOnly && !isTest(from)) return 'extension takes only types from domain';
  return null;
}

function faultOutsideLibs({ from, typeOnly }: Import, kind: string, lib: string): string | null {
  if (kind === 'bench' && !typeOnly) return 'the benchmark takes only types: it loads libs as they were built';
  const isForTests = isTest(from) || from.startsWith('packages/testing/');
  return ['apps', 'packages'].includes(kind) && lib === 'testing' && !isForTests ? 'testing is for tests' : null;
}
