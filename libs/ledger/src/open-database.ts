import { Environment, untrustedCertificate } from '@laddercast/platform';
import { Logger } from '@nestjs/common';
import { settleLanes } from './lanes/lane-raiser.js';
import { Lanes, readLaneMaps } from './lanes/lanes.js';
import { believesAnyServer, postgresAddress } from './database/postgres-address.js';
import { faultOfServer, serverFacts, unsafeDatabaseSettings } from './database/database-checks.js';
import { PostgresDatabase } from './database/postgres-database.js';
import { isDatabaseUnavailable, isServersAnswer } from './database/postgres-errors.js';
import { isStranger } from './database/postgres-stranger.js';

/** One that the lane's writer keeps, and one for what is written in the lane beside runs. */
const CONNECTIONS_PER_LANE = 2;
/** Connections beside those of the lanes. */
const POOL_SPARE = 10;

/**
 * Connects to PostgreSQL, migrates its tables to this release, and checks its durability settings.
 * @throws if it cannot be used, with what to do
 */
export async function openDatabase(environment: Environment): Promise<PostgresDatabase> {
  const { DATABASE_URL, DATABASE_CA_FILE, LEDGER_LANES } = environment;
  const database = new PostgresDatabase({
    url: DATABASE_URL,
    ...(DATABASE_CA_FILE !== undefined && { caFile: DATABASE_CA_FILE }),
    poolMax: connectionsFor(LEDGER_LANES),
  });
  try {
    await database.open({ migrate: false });
    await assertServes(database);
    await database.open({ migrate: true });
  } catch (cause) {
    const distrust = untrustedCertificate(cause, 'PostgreSQL', 'DATABASE_CA_FILE');
    if (distrust !== null) throw new Error(`PostgreSQL cannot be used: ${distrust}`);
    if (isServersAnswer(cause)) throw cause;
    if (await isStranger(postgresAddress(DATABASE_URL, DATABASE_CA_FILE)))
      throw new Error('What answers at the address of DATABASE_URL is no PostgreSQL: correct DATABASE_URL', { cause });
    if (!isDatabaseUnavailable(cause)) throw cause;
    throw new Error('PostgreSQL cannot be reached: start it, or correct DATABASE_URL', { cause });
  }
  await settleLanes(database, LEDGER_LANES);
  await assertKeepsCommits(database, environment);
  const log = new Logger('postgres');
  if (believesAnyServer(DATABASE_URL, DATABASE_CA_FILE)) {
    const why = 'with this sslmode of DATABASE_URL any server is believed';
    log.warn(`PostgreSQL is not checked: ${why}. DATABASE_CA_FILE names who may vouch for it.`);
  }
  return database;
}

/** The lanes that there are; as they are raised, there are connections for them. */
export async function openLanes(database: PostgresDatabase): Promise<Lanes> {
  const lanes = new Lanes(await readLaneMaps(database));
  database.growPool(connectionsFor(lanes.count));
  lanes.onRaise(() => database.growPool(connectionsFor(lanes.count)));
  return lanes;
}

const connectionsFor = (lanes: number): number => CONNECTIONS_PER_LANE * lanes + POOL_SPARE;

/** @throws before anything is written to a server of the wrong kind */
async function assertServes(database: PostgresDatabase): Promise<void> {
  const fault = faultOfServer(await serverFacts(database));
  if (fault === null) return;
  await database.close();
  throw new Error(fault);
}

/** @throws if answered commits could be lost, and no setting allows that */
async function assertKeepsCommits(database: PostgresDatabase, environment: Environment): Promise<void> {
  const unsafe = await unsafeDatabaseSettings(database);
  if (unsafe.length === 0) return;
  const what = `PostgreSQL runs with ${unsafe.join(', ')}: a crash can take back scores that were answered.`;
  const log = new Logger('postgres');
  if (environment.DATABASE_MAY_FORGET === 'true') return log.log(what);
  if (environment.NODE_ENV !== 'production') return log.warn(what);
  await database.close();
  throw new Error(`${what} Set them on, or DATABASE_MAY_FORGET=true where that is meant.`);
}
