import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { machineOf } from './machine.mjs';
import { projectRoot } from './build.mjs';
import { cellsOnPage, merged, parseRows, tableOf } from './faults/table.mjs';
import { answerHelp } from './help.mjs';

answerHelp(`Runs the long version of the fault tests on both logs, and prints a table of what was tried and what was lost.

  npm run test:faults                        everything; FAULTS_SEED=… repeats the chances of a run
  npm run test:faults -- scenarios/killed    those scenarios
  npm run test:faults -- --write             and writes what was tried into the table of docs/faults.md
  npm run test:faults -- --help              this text`);

const pageOf = (table) => `# What was tried, and what was lost

Written by \`npm run test:faults -- --write\`: scenarios of \`test/faults\` in their long version, on real processes and
services, each as it was last tried so: the row says at which commit. Which promise each proves, and which there are beside these:
[operations/faults.md](operations/faults.md).

${machineText()}

${table}`;

const { machine, node, commit } = machineOf(projectRoot);
const machineText = () => `The last of them on ${machine}, Node ${node}.`;

const given = process.argv.slice(2);
const writes = given.includes('--write');
const filters = given.filter((argument) => argument !== '--write');
const folder = mkdtempSync(join(tmpdir(), 'ladder-faults-'));
const file = join(folder, 'rows');

process.env.FAULTS_LONG = '1';
process.env.FAULTS_TABLE = file;
process.argv.splice(
  2,
  given.length,
  ...(filters.length > 0 ? filters.map((name) => `test/faults/${name}`) : ['test/faults']),
);

// The tests end the process themselves, in whatever way they end.
process.on('exit', () => {
  const rows = (existsSync(file) ? parseRows(readFileSync(file, 'utf8')) : []).map((row) => ({ ...row, commit }));
  rmSync(folder, { recursive: true, force: true });
  if (rows.length === 0) return;
  console.log(`\n${tableOf(merged([], rows))}`);
  const page = join(projectRoot, 'docs', 'faults.md');
  if (writes) writeFileSync(page, pageOf(tableOf(merged(cellsOnPage(readFileSync(page, 'utf8')), rows))));
});
await import('./test.mjs');
