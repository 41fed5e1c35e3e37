import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOnPath, outputOf, runStep } from '../commands.mjs';

const requirements = 'test/schemathesis/requirements.txt';
const pythonMinorMin = 10;
const cure = 'install Python 3.10 or newer with venv and pip (apt-get install python3 python3-venv python3-pip)';

/**
 * A schemathesis for the tests, which tries what openapi.json says against the service: that of
 * `.data/cache`, where it is put at the versions of test/schemathesis/requirements.txt when it is not there.
 * @returns `{ command }`, or `{ missing }` with the reason and the cure
 */
export async function findSchemathesis(root, cacheDir, env = process.env) {
  const wanted = readFileSync(join(root, requirements), 'utf8');
  const folder = join(cacheDir, `schemathesis-${/^schemathesis==(.+)$/m.exec(wanted)[1]}`);
  const command = join(folder, 'bin', 'schemathesis');
  const installedFile = join(folder, 'installed.txt');
  // Written last: without it, or with other versions in it, the folder is half of something.
  const isInstalled = existsSync(installedFile) && readFileSync(installedFile, 'utf8') === wanted;
  if (isInstalled && outputOf(command, ['--version']) !== null) return { command };
  const [python] = findOnPath('python3', env);
  if (python === undefined) return { missing: `python3 is not on the PATH; ${cure}` };
  if (
    outputOf(python, ['-c', `import sys, venv, ensurepip; assert sys.version_info >= (3, ${pythonMinorMin})`]) === null
  )
    return { missing: `${python} is too old, or comes without venv; ${cure}` };
  rmSync(folder, { recursive: true, force: true });
  try {
    await runStep('Making a Python environment for schemathesis', python, ['-m', 'venv', folder], { env });
    const pip = [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--no-input',
      '--only-binary',
      ':all:',
    ];
    const patience = ['--retries', '2', '--timeout', '20'];
    const args = [...pip, ...patience, '-r', join(root, requirements)];
    await runStep('Installing schemathesis (25 MB)', join(folder, 'bin', 'python'), args, { env });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    return {
      missing: `schemathesis could not be installed: ${error.message}; ${cure}, with access to its package index`,
    };
  }
  writeFileSync(installedFile, wanted);
  return { command };
}
