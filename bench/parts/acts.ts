import { setTimeout as sleep } from 'node:timers/promises';
import { distinctScore, findBoard, insertEntries } from '../boards/entries.js';
import { count } from '../command-line/arguments.js';
import type { Options, ValuesOf } from '../command-line/options.js';
import { cellOf, tableOf } from '../figures/figures.js';
import { builtCode } from '../installation/built-code.js';
import type { BenchContext } from '../installation/context.js';
import { Sender } from '../load/post.js';

/**
 * What acts of moderators take until everybody sees them: a ban of a player with many entries, and the void of a run in a
 * large window whose standings are written.
 */
export const description = 'a ban of a player with many entries, and a void in large standings of a window that ended';

export const options = {
  entries: { type: 'string', help: 'entries of the ended window (1000000)', default: '1000000', parse: count },
  boards: { type: 'string', help: 'boards of the player, four windows each (250)', default: '250', parse: count },
} satisfies Options;

type Context = BenchContext<ValuesOf<typeof options>>;

const connections = 8;
const lookEveryMs = 50;
const seenWithinMs = 120_000;
const windows = ['alltime', 'daily', 'weekly', 'monthly'];
const others = 4;
const banned = 'banned';
const settled = 'settled';
const voidedPlayer = 'cheat';
const asksOfPages = 100;
const runs = { keepDays: 90 };

/** Milliseconds, each of a round. */
type Found = Record<'answered' | 'seen', number[]>;

export async function run(context: Context): Promise<string> {
  const { service, rounds, options: given, step, keep } = context;
  const sender = new Sender(service, connections);
  try {
    const ban: Found = { answered: [], seen: [] };
    const lift: Found = { answered: [], seen: [] };
    await makeBoards(sender, given.boards);
    for (let round = 1; round <= rounds; round += 1) {
      step(`Round ${round} of ${rounds}: a ban of a player with ${4 * given.boards} entries`);
      await act(
        ban,
        () => putBan(sender),
        () => untilTotals(sender, given.boards, others),
      );
      await act(
        lift,
        () => liftBan(sender),
        () => untilTotals(sender, given.boards, others + 1),
      );
    }
    const { settledMs, id } = await makeSettled(context, sender);
    const voids = await voidAndRestore(context, sender, id);
    keep({ ban, lift, settledMs, voids });
    return [banTable(4 * given.boards, { ban, lift }), voidTable(given.entries, settledMs, voids)].join('\n\n');
  } finally {
    sender.close();
  }
}

async function act(found: Found, doIt: () => Promise<unknown>, seen: () => Promise<void>): Promise<void> {
  const began = performance.now();
  await doIt();
  found.answered.push(performance.now() - began);
  await seen();
  found.seen.push(performance.now() - began);
}

async function makeBoards(sender: Sender, boards: number): Promise<void> {
  const names = Array.from({ length: boards }, (_, at) => `board-${at}`);
  for (const name of names)
    await sender.send('PUT', `/v1/boards/${name}`, { order: 'desc', operator: 'best', windows, runs });
  const players = [banned, ...Array.from({ length: others }, (_, at) => `other-${at}`)];
  for (const playerId of players) {
    const submissions = names.map((board) => ({ board, playerId, score: players.indexOf(playerId) }));
    await sender.submitAll(submissions);
  }
  await untilTotals(sender, boards, players.length);
}

const putBan = (sender: Sender): Promise<unknown> =>
  sender.send('PUT', `/v1/admin/players/${banned}/sanction`, { kind: 'ban', reason: 'of the benchmark' });
const liftBan = (sender: Sender): Promise<unknown> =>
  sender.send('DELETE', `/v1/admin/players/${banned}/sanction?reason=of-the-benchmark`);

/** Until every list has so many rows; the boards that were seen so are not asked again. */
async function untilTotals(sender: Sender, boards: number, total: number): Promise<void> {
  const lists = Array.from({ length: boards }, (_, at) =>
    windows.map((window) => `board-${at}/entries?limit=5&window=${window}`),
  );
  const waiting = lists.flat();
  const until = performance.now() + seenWithinMs;
  const look = async (): Promise<void> => {
    for (let list = waiting.pop(); list !== undefined; list = waiting.pop()) {
      for (;;) {
        const { total: found } = await sender.send<{ total: number }>('GET', `/v1/boards/${list}`);
        if (found === total) break;
        if (performance.now() > until) throw new Error(`${list} has ${found} rows, and not ${total}.`);
        await sleep(lookEveryMs);
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, look));
}

/** A board whose day ended with so many entries, and one more with two runs. */
async function makeSettled(context: Context, sender: Sender): Promise<{ settledMs: number; id: string }> {
  const { installation, database, options: given, step } = context;
  await sender.send('PUT', `/v1/boards/${settled}`, {
    order: 'desc',
    operator: 'best',
    windows: ['alltime', 'daily'],
    runs,
  });
  for (const score of [1, 2]) {
    const body = { playerId: voidedPlayer, score: 5e8 * score, submissionId: `run-${score}` };
    await sender.send('POST', `/v1/boards/${settled}/scores`, body);
  }
  await installation.stop();
  const { domain } = await builtCode(installation.root);
  const board = await findBoard(database.pool, settled);
  const { rows } = await database.pool.query<{ windowUid: number; id: string }>(
    `SELECT window_uid AS "windowUid", window_id AS id FROM windows WHERE board_uid = $1 AND kind = 'daily'`,
    [board.uid],
  );
  const { windowUid, id } = rows[0]!;
  step(`Writing ${given.entries.toLocaleString('en')} entries of the day`);
  const into = { pool: database.pool, domain, board: { uid: board.uid, windowUid }, entries: given.entries };
  await insertEntries({ ...into, scoreOf: distinctScore, onRows: () => {} });
  await database.pool.query('VACUUM (ANALYZE) entries');
  await database.pool.query('CHECKPOINT');
  await installation.start();
  step('Ending the day');
  const began = performance.now();
  await sender.send('POST', `/v1/admin/boards/${settled}/close-window`, { window: id });
  await untilEdition(sender, id, 1);
  return { settledMs: performance.now() - began, id };
}

/** What `entries` of the ended day answer; null while its standings are not written. */
async function pageOf(sender: Sender, window: string, offset: number): Promise<{ edition?: number; total: number }> {
  const page = await sender.send<{ total: number; window: { edition?: number; revising?: boolean } }>(
    'GET',
    `/v1/boards/${settled}/entries?window=${window}&limit=100&offset=${offset}`,
  );
  return { edition: page.window.edition, total: page.total };
}

async function untilEdition(sender: Sender, window: string, wanted: number): Promise<void> {
  const until = performance.now() + seenWithinMs;
  for (;;) {
    const { edition = 0 } = await pageOf(sender, window, 0);
    if (edition >= wanted) return;
    if (performance.now() > until) throw new Error(`${window} shows edition ${edition}, and not ${wanted}.`);
    await sleep(lookEveryMs);
  }
}

interface Voids extends Found {
  /** Bytes that PostgreSQL wrote ahead from the act until the next edition. */
  walBytes: number[];
  /** Rows that were laid over, or written, for all next editions. */
  rowsLaid: number;
  rowsWritten: number;
  /** Milliseconds of a page in the middle, of the first edition and of the last. */
  pageMs: [number[], number[]];
}

/** Voids and restores the better run in turn: each makes another edition. */
async function voidAndRestore(context: Context, sender: Sender, window: string): Promise<Voids> {
  const { database, rounds, options: given, step } = context;
  const found: Voids = { answered: [], seen: [], walBytes: [], rowsLaid: 0, rowsWritten: 0, pageMs: [[], []] };
  const middle = Math.floor(given.entries / 2);
  found.pageMs[0] = await pagesMs(sender, window, middle);
  const path = `/v1/boards/${settled}/submissions/run-2`;
  for (let round = 1; round <= rounds; round += 1) {
    step(`Round ${round} of ${rounds}: a void in the ended day`);
    const [method, address] = round % 2 === 1 ? ['DELETE', path] : ['POST', `${path}/restore`];
    const before = await walPosition(database.pool);
    const send = (): Promise<unknown> => sender.send(method!, `${address}?reason=of-the-benchmark`);
    await act(found, send, () => untilEdition(sender, window, round + 1));
    found.walBytes.push((await walPosition(database.pool)) - before);
  }
  found.pageMs[1] = await pagesMs(sender, window, middle);
  const { rows } = await database.pool.query<{ laid: number; written: number }>(`
    SELECT (SELECT count(*) FROM edition_changes)::int AS laid,
      (SELECT count(*) FROM standings s JOIN editions e USING (edition_uid) WHERE e.number > 1)::int AS written`);
  return { ...found, rowsLaid: rows[0]!.laid, rowsWritten: rows[0]!.written };
}

async function walPosition(pool: Context['database']['pool']): Promise<number> {
  const { rows } = await pool.query<{ bytes: string }>(`SELECT pg_current_wal_lsn() - '0/0' AS bytes`);
  return Number(rows[0]!.bytes);
}

async function pagesMs(sender: Sender, window: string, from: number): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < asksOfPages; at += 1) {
    const began = performance.now();
    await pageOf(sender, window, from + 100 * at);
    times.push(performance.now() - began);
  }
  return times;
}

const secondsOf = (ms: readonly number[]): string =>
  cellOf(
    ms.map((one) => one / 1000),
    2,
  );

function banTable(entries: number, { ban, lift }: Record<'ban' | 'lift', Found>): string {
  const row = (name: string, { answered, seen }: Found): string[] => [name, secondsOf(answered), secondsOf(seen)];
  return tableOf(
    [`of a player with ${entries.toLocaleString('en')} entries`, 'answered, s', 'seen in all lists, s'],
    [row('ban', ban), row('lift', lift)],
  );
}

function voidTable(entries: number, settledMs: number, voids: Voids): string {
  const { answered, seen, walBytes, rowsLaid, rowsWritten, pageMs } = voids;
  return tableOf(
    [`an ended day of ${entries.toLocaleString('en')} entries`, ''],
    [
      ['its end until its standings are read, s', secondsOf([settledMs])],
      ['a void or restore, answered, s', secondsOf(answered)],
      ['until the next edition is read, s', secondsOf(seen)],
      ['WAL from the act to the edition, kB', cellOf(walBytes.map((bytes) => bytes / 1000))],
      ['rows laid over, and written, of all next editions', `${rowsLaid}, ${rowsWritten}`],
      ['a page in the middle of the first edition, ms', cellOf(pageMs[0], 1)],
      ['the same of the last edition, ms', cellOf(pageMs[1], 1)],
    ],
  );
}
