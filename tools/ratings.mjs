// Replays a rating pool from its first game on, and compares every change and rating that is stored:
//   npm run ratings -- verify POOL
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { prepare, projectRoot } from './build.mjs';
import { answerHelp } from './help.mjs';
import { describeFailure, messageOf, Problem } from './problem.mjs';
import { step } from './progress.mjs';
import { ledgerAddress, noLedger } from './services/answers.mjs';

const usage = `Replays a rating pool from its first game on, in memory, and compares every change and rating that is stored:
to the last bit where the same engine made it, else to 1e-9. It writes nothing, and the service may run.

  npm run ratings -- verify POOL

  --algorithms FILE          an ES module that exports a team's own algorithms, of pools that rate by them
  DATABASE_URL               the ledger's database, as the service has it; DATABASE_CA_FILE the same

Ends with 0 where all is the same, with 1 where something is not.
`;

const toldEveryMs = 2000;

/** @param {string} lib */
const built = (lib) => import(pathToFileURL(resolve(projectRoot, `dist/libs/${lib}/src/index.js`)).href);

/**
 * Replays the pool of this id, all of one moment.
 * @param {{ url: string, caFile?: string }} database
 * @param {string} poolId
 * @param {readonly import('@laddercast/domain').RatingAlgorithm[]} ofTeams
 * @returns {Promise<import('@laddercast/ledger').PoolReplay>}
 */
export async function verifyPool({ url, caFile }, poolId, ofTeams = []) {
  const { PostgresDatabase, RatingAlgorithms, replayPool, requirePool } = await built('ledger');
  const { NO_EXTENSIONS } = await built('extension');
  const algorithms = new RatingAlgorithms({ ...NO_EXTENSIONS, ratingAlgorithms: ofTeams });
  const database = new PostgresDatabase({ url, ...(caFile && { caFile }) });
  await database.open({ migrate: false }).catch((error) => {
    throw noLedger(url, error);
  });
  let toldAt = Date.now();
  try {
    return await database.transaction(async (/** @type {import('@laddercast/ledger').SqlRunner} */ transaction) => {
      await transaction.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
      const pool = await requirePool(transaction, poolId);
      return replayPool(transaction, pool, algorithms.poolOf(pool.definition), (/** @type {number} */ games) => {
        if (Date.now() < toldAt + toldEveryMs) return;
        toldAt = Date.now();
        step(`${games} of ${pool.games} games`);
      });
    });
  } finally {
    await database.close();
  }
}

/** @param {string} file */
async function algorithmsOf(file) {
  const found = await import(pathToFileURL(resolve(file)).href);
  const algorithms = Object.values(found).filter((one) => typeof one?.engine === 'string');
  if (algorithms.length === 0) throw new Problem(`${file} exports no rating algorithm.`);
  return algorithms;
}

/** @param {import('@laddercast/ledger').PoolDifference} difference */
function told({ playerId, position, stored, replayed }) {
  const what = position === null ? 'rating' : `change at position ${position}`;
  return `${playerId}, ${what}\n  stored:   ${JSON.stringify(stored)}\n  replayed: ${JSON.stringify(replayed)}`;
}

function given() {
  try {
    return parseArgs({ allowPositionals: true, options: { algorithms: { type: 'string' } } });
  } catch (error) {
    throw new Problem(`${messageOf(error)}\n\n${usage}`);
  }
}

async function main() {
  answerHelp(usage);
  const { values, positionals } = given();
  const [what, poolId, ...rest] = positionals;
  if (what !== 'verify' || poolId === undefined || rest.length > 0) {
    process.stdout.write(usage);
    return 1;
  }
  const { DATABASE_CA_FILE: caFile } = process.env;
  const url = ledgerAddress(process.env);
  await prepare(projectRoot);
  const ofTeams = values.algorithms === undefined ? [] : await algorithmsOf(values.algorithms);
  const { games, changes, players, ofOtherEngines, differences, named } = await verifyPool(
    { url, caFile },
    poolId,
    ofTeams,
  );
  for (const difference of named) console.log(told(difference));
  if (differences > named.length) console.log(`… and ${differences - named.length} more`);
  const engines = ofOtherEngines > 0 ? `, ${ofOtherEngines} of them by other engines, compared to 1e-9` : '';
  const found = differences === 0 ? 'all as stored' : `${differences} are not as stored`;
  console.log(`Games ${games}, changes ${changes}${engines}, ratings ${players}: ${found}`);
  return differences === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    process.exitCode = await main();
  } catch (error) {
    // What the service refuses in a sentence, such as a pool that is not there.
    console.error(/** @type {{ detail?: string }} */ (error).detail ?? describeFailure(error));
    process.exitCode = 1;
  }
}
