import { join } from 'node:path';
import type { OutboxRow } from '@laddercast/ledger';
import { count } from '../command-line/arguments.js';
import { kafkaFloor } from '../floors/kafka-floor.js';
import { httpFloor } from '../floors/http-floor.js';
import { PostgresFloor } from '../floors/postgres-floor.js';
import { redisFloor } from '../floors/redis-floor.js';
import type { Options, ValuesOf } from '../command-line/options.js';
import { built } from '../installation/built-code.js';
import type { BenchContext, CleanState } from '../installation/context.js';
import { loadFully, loadPaced, type Rated } from '../load/generator.js';
import type { Definition } from '../boards/entries.js';
import { makeLargeBoard, type LargeBoard } from '../boards/large-board.js';
import { writeRequests, type Call } from '../load/requests.js';
import { SampledSubmissions } from '../boards/sampled-submissions.js';
import { askedBetween, grownBetween, meanBetween, scrape, type Asked } from '../meters/scrape.js';
import { Submissions, type BoardSubmission } from '../boards/submissions.js';
import { beside, BehindWatch, cpuMeter, untilProjected, type Spent } from '../meters/watch.js';

const pacedPart = 0.7;
const lookEveryMs = 100;
const floorSeconds = 2;
/** More than any machine of ours takes: requests are prepared before they are sent. */
const submissionsPerSecondMax = 30_000;

/** Options of the parts that submit. */
export const writeOptions = {
  entries: { type: 'string', help: 'how many entries the board has (1000000)', default: '1000000', parse: count },
  players: { type: 'string', help: 'how many of them submit (20000)', default: '20000', parse: count },
  seconds: { type: 'string', help: 'how long each round loads the service (10)', default: '10', parse: count },
  warmup: { type: 'string', help: 'how long it is loaded before the first round (8)', default: '8', parse: count },
  connections: { type: 'string', help: 'how many connections load it (64)', default: '64', parse: count },
  improving: { type: 'string', help: 'how many of 100 submissions improve (50)', default: '50', parse: count },
} satisfies Options;

export type WriteValues = ValuesOf<typeof writeOptions>;

/** What one load of submissions found. */
export interface WritesFound extends Rated, Spent {
  /** How many events the ranks were behind, at most. */
  behindMost: number;
  caughtUpMs: number;
  /** How many of a hundred changed the player's entry. */
  improved: number;
  asked: Asked;
  /** Submissions that were committed together, on average; null when no process says. */
  commit: number | null;
  /** How many of a hundred were handed to another process, whether it answered or not. */
  handedOver: number;
}

export interface WriteRound {
  full: WritesFound;
  paced: WritesFound;
  /** What each floor did a second. */
  floors: Record<string, number>;
}

/**
 * Loads a large board with submissions, round by round, each at full speed and then at 70 % of what that gave, and the
 * floors after it.
 * @param what `batch`: submissions in a request; 0: single ones
 * @returns the rounds
 * @throws Error when an answer is wrong, a submission is lost or counts twice, or the ranks do not catch up
 */
export async function measureWrites(
  context: BenchContext<WriteValues>,
  { definition, batch }: { definition: Definition; batch: number },
): Promise<WriteRound[]> {
  const { options, rounds, step, database } = context;
  const board = await makeLargeBoard(context, { entries: options.entries, definition });
  const load = new WriteLoad(context, board, batch);
  step(`Warming up for ${options.warmup} s`);
  await load.run({ seconds: options.warmup });
  const floors = await Floors.open(context, board, load);
  const found: WriteRound[] = [];
  try {
    for (let round = 1; round <= rounds; round += 1) {
      const full = await load.run({ seconds: options.seconds });
      const paced = await load.run({ seconds: options.seconds, rate: (pacedPart * full.perSecond) / load.size });
      found.push({ full, paced, floors: await floors.measure(full) });
      step(`round ${round}: ${describe(full)}; at ${paced.perSecond.toFixed(0)}/s p99 ${paced.p99.toFixed(1)} ms`);
    }
    await load.sampled.checkRanks(database.pool);
  } finally {
    await floors.close();
  }
  return found;
}

const describe = ({ perSecond, p99, behindMost, caughtUpMs, others }: WritesFound): string =>
  `${perSecond.toFixed(0)}/s, p99 ${p99.toFixed(1)} ms, at most ${behindMost} events behind, caught up in ${caughtUpMs.toFixed(0)} ms, others ${(100 * others).toFixed(0)} % of the CPU`;

/** What submissions are made with. */
export interface WriteContext extends CleanState {
  options: Pick<WriteValues, 'entries' | 'players' | 'improving' | 'connections'>;
}

/** Submissions to one board, all of which are found in PostgreSQL afterwards. */
export class WriteLoad {
  /** Submissions in a request. */
  readonly size: number;
  readonly file: string;
  readonly source: Submissions;
  readonly sampled: SampledSubmissions;

  /** @param batch submissions in a request; 0: single ones */
  constructor(
    private readonly context: WriteContext,
    private readonly board: LargeBoard,
    private readonly batch: number,
  ) {
    const { entries, players, improving } = context.options;
    this.size = Math.max(1, batch);
    this.file = join(context.installation.dataDir, 'requests');
    this.source = new Submissions({ entries, players, improving });
    this.sampled = new SampledSubmissions(context.service, board, { movedMax: players, batch });
  }

  /** @param rate requests a second; without it as many as go */
  async run({ seconds, rate = null }: { seconds: number; rate?: number | null }): Promise<WritesFound> {
    const { service, database, options } = this.context;
    const { connections } = options;
    const prepared = rate === null ? seconds * submissionsPerSecondMax : Math.ceil(rate * seconds) * this.size;
    writeRequests(this.file, this.#requests(this.source.take(prepared)), service);
    const watch = new BehindWatch(database);
    const before = await scrape(service.metricsUrlsOf('api'));
    const cpuOf = cpuMeter(service);
    const load = { url: service.url, file: this.file, connections, seconds };
    const found = await beside(
      () => (rate === null ? loadFully(load) : loadPaced({ ...load, rate })),
      lookEveryMs,
      async () => {
        await this.sampled.look();
        await watch.look();
      },
    );
    const submitted = found.count * this.size;
    if (submitted > prepared) throw new Error(`More than ${prepared} submissions were sent: some were sent twice.`);
    const spent = cpuOf(submitted);
    const caughtUpMs = await untilProjected(database);
    const after = await scrape(service.metricsUrlsOf('api'));
    const improved = await this.#checkCounted(submitted, rate === null ? connections * this.size : 0);
    this.source.sent(submitted + (rate === null ? connections * this.size : 0));
    return {
      ...found,
      perSecond: submitted / found.seconds,
      behindMost: watch.most,
      caughtUpMs,
      ...spent,
      improved,
      asked: askedBetween(before, after, submitted),
      commit: meanBetween(before, after, 'laddercast_group_commit_submissions'),
      handedOver: (100 * grownBetween(before, after, 'laddercast_lane_writes_handed_over_total')) / submitted,
    };
  }

  #requests(submissions: readonly BoardSubmission[]): Call[] {
    const { batch, board } = this;
    if (batch === 0) {
      return submissions.map((body) => ({ method: 'POST', path: `/v1/boards/${board.id}/scores`, body }));
    }
    return Array.from({ length: Math.ceil(submissions.length / batch) }, (_, at) => ({
      method: 'POST',
      path: '/v1/scores',
      body: {
        submissions: submissions.slice(at * batch, (at + 1) * batch).map((one) => ({ board: board.id, ...one })),
      },
    }));
  }

  /**
   * Every answered submission is in PostgreSQL, and none that was not sent.
   * @param underWay how many were still on their way when the load ended
   * @returns how many of a hundred changed the player's entry
   */
  async #checkCounted(submitted: number, underWay: number): Promise<number> {
    const { rows } = await this.context.database.pool.query<{ stored: number; changed: number }>(
      `SELECT count(*)::int AS stored, (count(*) FILTER (WHERE answer NOT LIKE '%"unchanged"%'))::int AS changed
       FROM submissions WHERE board_uid = $1 AND starts_with(submission_id, $2)`,
      [this.board.uid, this.source.prefix],
    );
    const { stored, changed } = rows[0]!;
    if (stored < submitted || stored > submitted + underWay) {
      throw new Error(`${submitted} submissions were answered (and ${underWay} under way), but ${stored} are stored.`);
    }
    return (100 * changed) / stored;
  }
}

/** What the submissions stand on, measured after each round. */
class Floors {
  private constructor(
    private readonly context: WriteContext,
    private readonly load: WriteLoad,
    private readonly postgres: PostgresFloor,
    /** As the log carries it. */
    private readonly event: string,
  ) {}

  static async open(context: WriteContext, board: LargeBoard, load: WriteLoad): Promise<Floors> {
    const { installation, database } = context;
    const { rows } = await database.pool.query<{ event: OutboxRow; answer: string }>(
      `SELECT (SELECT row_to_json(o) FROM outbox o WHERE topic = 'entry-changed' ORDER BY position DESC LIMIT 1) AS event,
         (SELECT answer FROM submissions WHERE board_uid = $1 LIMIT 1) AS answer`,
      [board.uid],
    );
    const { event, answer } = rows[0]!;
    const { root, databaseUrl } = installation;
    const players = load.source.playerIds;
    const template = { event: event.payload, answer };
    const postgres = await PostgresFloor.open({ root, databaseUrl, board, players, template });
    const { wholePayload } = await built<Pick<typeof import('@laddercast/ledger'), 'wholePayload'>>(
      root,
      'ledger',
      'entries/entry-payload',
    );
    return new Floors(context, load, postgres, wholePayload(event));
  }

  async measure({ commit, improved }: WritesFound): Promise<Record<string, number>> {
    const { load, postgres } = this;
    const { installation, options } = this.context;
    const { redisUrl, kafkaBrokers } = installation;
    const batch = Math.max(1, Math.round(commit ?? 1));
    const answer = load.sampled.last;
    if (answer === null) throw new Error('No answer was looked at.');
    const http = {
      file: load.file,
      connections: options.connections,
      seconds: floorSeconds,
      answer,
    };
    const { zadd } = await redisFloor({ redisUrl, seconds: floorSeconds });
    return {
      http: (await httpFloor(http)) * load.size,
      commit: await postgres.measure({ batch, changing: improved, seconds: floorSeconds }),
      zadd,
      ...(kafkaBrokers !== null && {
        kafka: await kafkaFloor({ brokers: kafkaBrokers, batch, seconds: floorSeconds, event: this.event }),
      }),
    };
  }

  close(): Promise<void> {
    return this.postgres.close();
  }
}
