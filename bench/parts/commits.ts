import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../../tools/problem.mjs';
import { fillEntries, findBoard, boardOptions, distinctScore, lanes } from '../boards/entries.js';
import { Submissions } from '../boards/submissions.js';
import { count } from '../command-line/arguments.js';
import type { Options, ValuesOf } from '../command-line/options.js';
import { numberOf, tableOf } from '../figures/figures.js';
import { builtCode } from '../installation/built-code.js';
import type { BenchContext } from '../installation/context.js';
import { LedgerAlone, type Submitted } from '../installation/ledger-alone.js';
import { once, runLoad } from '../load/load.js';

/**
 * What PostgreSQL takes for a submission by how many are in its commit, and what that writes: the ledger alone, so many
 * submissions of each lane at a time. Then the same after a checkpoint, when pages are written whole.
 */
export const description = 'a submission by how many are committed together: CPU of PostgreSQL, and what it writes';

export const options = {
  entries: { type: 'string', help: 'how many entries the board has (1000000)', default: '1000000', parse: count },
  ids: { type: 'string', help: 'how many ids are remembered before (2000000)', default: '2000000', parse: count },
  submissions: { type: 'string', help: 'how many make a figure (40000)', default: '40000', parse: count },
} satisfies Options;

type Values = ValuesOf<typeof options>;

const boardId = 'bench';
const sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
/** Small commits take long, and cost so much that fewer of them say it as well. */
const commitsMost = 4000;
/** Before the figures: until a page that is touched has most likely been touched since the last checkpoint. */
const warmUps = 8;
const sizeAfterCheckpoint = 16;
/** PostgreSQL tells its statistics of a connection that rests after ten seconds. */
const statisticsToldMs = 11_000;

/** Ids of clients: anywhere among those that are there, or behind all of them. */
const idsOf = { random: randomUUID, 'by time': idByTime } as const;
type Ids = keyof typeof idsOf;

interface Figure {
  size: number;
  written: number;
  postgresUs: number;
  nodeUs: number;
  walBytes: number;
}

/** `pages`: how many were written whole for a submission. */
type FigureWithPages = Figure & { pages: number };

export async function run(context: BenchContext<Values>): Promise<string> {
  const { installation, step, keep } = context;
  if (installation.log === 'kafka') throw new Problem('commits has nobody read the log: leave --kafka out.');
  await makeBoard(context);
  const { root, databaseUrl } = installation;
  const ledger = await LedgerAlone.open(root, { databaseUrl, boardId, lanes });
  const load = new CommitLoad(context, ledger, (await builtCode(root)).domain.laneOf);
  const bySize: Record<Ids, Figure[]> = { random: [], 'by time': [] };
  const after: Record<Ids, FigureWithPages[]> = { random: [], 'by time': [] };
  try {
    for (const ids of Object.keys(idsOf) as Ids[]) {
      for (let time = 0; time < warmUps; time += 1) await load.measure(ids, Math.max(...sizes));
      for (const size of sizes) {
        bySize[ids].push(await load.measure(ids, size));
        step(`${ids}, ${size} in a commit: ${bySize[ids].at(-1)!.postgresUs.toFixed(1)} µs of PostgreSQL`);
      }
      for (const checkpoint of [true, false]) {
        after[ids].push(await load.measureWithPages(ids, sizeAfterCheckpoint, checkpoint));
        step(`${ids}, after a checkpoint: ${after[ids].at(-1)!.walBytes.toFixed(0)} bytes of WAL`);
      }
    }
  } finally {
    await ledger.close();
  }
  keep({ options: context.options, bySize, after });
  return [sizesTable(bySize), afterTable(after)].join('\n\n');
}

/** The board, and the ids of submissions that were made before; then nothing of the service runs any more. */
async function makeBoard({
  service,
  installation,
  database,
  step,
  options: given,
}: BenchContext<Values>): Promise<void> {
  const { pool } = database;
  const { url, key } = service;
  const put = once({ method: 'PUT', path: `/v1/boards/${boardId}`, body: boardOptions });
  await runLoad({ url, key, connections: 1, next: put });
  await installation.stop();
  const { domain } = await builtCode(installation.root);
  const board = await findBoard(pool, boardId);
  const { entries, ids } = given;
  step(`Writing ${entries.toLocaleString('en')} entries and ${ids.toLocaleString('en')} submissions`);
  await fillEntries({ pool, domain, board, entries, scoreOf: distinctScore, onRows: () => {} });
  await pool.query('ALTER TABLE entries SET LOGGED');
  await pool.query(
    `INSERT INTO submissions (board_uid, owner, submission_id, player_id, body_sha256, score, columns, achieved_at_ms, answer,
       accepted_at)
     SELECT $1, '', gen_random_uuid()::text, 'user' || lpad(n::text, 8, '0'), sha256('a'), n, '{}', 0, repeat('x', 150), now()
     FROM generate_series(1, $2::int) AS n`,
    [board.uid, ids],
  );
  await pool.query('VACUUM (ANALYZE) entries');
  await pool.query('VACUUM (ANALYZE) submissions');
  // Checkpoints only when they are asked for, and no page that somebody else touches.
  await pool.query('ALTER SYSTEM SET autovacuum = off');
  await pool.query(`ALTER SYSTEM SET checkpoint_timeout = '1h'`);
  await pool.query(`ALTER SYSTEM SET max_wal_size = '16GB'`);
  await pool.query('SELECT pg_reload_conf()');
  await pool.query('CHECKPOINT');
}

/**
 * Submissions of all players, so many of each lane at a time: writes of one turn share a commit. The next ones come when
 * all of these are committed.
 */
class CommitLoad {
  private readonly source: Submissions;

  constructor(
    private readonly context: BenchContext<Values>,
    private readonly ledger: LedgerAlone,
    private readonly laneOf: (playerId: string, lanes: number) => number,
  ) {
    const { entries } = context.options;
    this.source = new Submissions({ entries, players: entries });
  }

  async measure(ids: Ids, size: number): Promise<Figure> {
    const waves = this.waves(ids, size);
    const written = waves.length * size * lanes;
    const before = await this.read();
    const node = process.cpuUsage();
    for (const wave of waves) await Promise.all(wave.map((one) => this.ledger.write(one)));
    const { user, system } = process.cpuUsage(node);
    const after = await this.read();
    return {
      size,
      written,
      postgresUs: (1e6 * (after.postgres - before.postgres)) / written,
      nodeUs: (user + system) / written,
      walBytes: (after.wal - before.wal) / written,
    };
  }

  /** @param checkpoint whether one comes just before */
  async measureWithPages(ids: Ids, size: number, checkpoint: boolean): Promise<FigureWithPages> {
    const { pool } = this.context.database;
    const before = await this.pages();
    if (checkpoint) await pool.query('CHECKPOINT');
    const figure = await this.measure(ids, size);
    return { ...figure, pages: ((await this.pages()) - before) / figure.written };
  }

  private waves(ids: Ids, size: number): Submitted[][] {
    const { submissions } = this.context.options;
    const wanted = Math.ceil(Math.min(submissions, commitsMost * size) / (size * lanes));
    const all = this.source.take(2 * wanted * size * lanes);
    this.source.sent(all.length);
    const ofLane = Array.from({ length: lanes }, () => [] as Submitted[]);
    for (const one of all) {
      ofLane[this.laneOf(one.playerId, lanes)]!.push({ ...one, submissionId: idsOf[ids]() });
    }
    return Array.from({ length: wanted }, (_, wave) =>
      ofLane.flatMap((one) => one.slice(wave * size, (wave + 1) * size)),
    );
  }

  private async read(): Promise<{ wal: number; postgres: number }> {
    const { rows } = await this.context.database.pool.query<{ wal: number }>(
      `SELECT (pg_current_wal_insert_lsn() - '0/0')::float8 AS wal`,
    );
    return { wal: rows[0]!.wal, postgres: this.context.service.cpuSeconds('postgres') };
  }

  /** How many were written whole until now. */
  private async pages(): Promise<number> {
    await sleep(statisticsToldMs);
    const { rows } = await this.context.database.pool.query<{ pages: number }>(
      'SELECT wal_fpi::float8 AS pages FROM pg_stat_wal',
    );
    return rows[0]!.pages;
  }
}

/** An id that begins with the time: version 7 of UUIDs (RFC 9562, section 5.7). */
function idByTime(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const text = bytes.toString('hex');
  return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join('-');
}

const sizesTable = (found: Record<Ids, Figure[]>): string =>
  tableOf(
    ['in a commit', 'PostgreSQL, µs', 'Node, µs', 'WAL, bytes', 'ids by time: PostgreSQL, µs', 'WAL, bytes'],
    found.random.map((random, at) => {
      const byTime = found['by time'][at]!;
      const figures = [random.postgresUs, random.nodeUs, random.walBytes, byTime.postgresUs, byTime.walBytes];
      return [numberOf(random.size), ...figures.map((figure) => numberOf(figure))];
    }),
  );

const afterTable = (found: Record<Ids, FigureWithPages[]>): string =>
  tableOf(
    ['after a checkpoint', 'random ids: WAL, bytes', 'whole pages', 'ids by time: WAL, bytes', 'whole pages'],
    ['the first', 'the next'].map((name, at) => [
      name,
      ...(['random', 'by time'] as const).flatMap((ids) => {
        const { walBytes, pages } = found[ids][at]!;
        return [numberOf(walBytes), numberOf(pages, 2)];
      }),
    ]),
  );
