// Real: PostgreSQL, two ledgers as two processes have them, TCP between them, and a proxy on that way.
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { withBoardDefaults, type Board, type BoardDefinition } from '@laddercast/domain';
import { decodeResults, encodeMessage, PATIENCE_MS, takeLane, type OverrideWrite } from '@laddercast/ledger';
import { sleep } from '@laddercast/platform';
import { createTestDatabase, openTcpProxy, type TcpProxy, type TestDatabase } from '@laddercast/testing';
import { ServerTCP } from '@nestjs/microservices';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { holdCommit } from '../nodes/hold-commit.js';
import { lanesWaitedFor } from '../nodes/lanes-waited-for.js';
import { LedgerNode, submissionOf } from '../nodes/ledger-node.js';

const LANES = 2;

let testDatabase: TestDatabase;
let nodes: LedgerNode[];
let proxies: Pick<TcpProxy, 'port' | 'close'>[];

beforeEach(async () => {
  testDatabase = await createTestDatabase();
  nodes = [];
  proxies = [];
});
afterEach(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await Promise.all(proxies.map((proxy) => proxy.close()));
  await testDatabase.drop();
});

async function start(owns = true): Promise<LedgerNode> {
  const node = new LedgerNode(testDatabase.url);
  nodes.push(node);
  await node.start();
  await node.ledger.start(owns);
  return node;
}

/** Resolves once these own all lanes, as all of `nodes` see it. */
async function untilOwned(by: readonly LedgerNode[]): Promise<void> {
  await expect
    .poll(() => by.flatMap(({ owners }) => owners.own).sort(), { interval: 50 })
    .toEqual(Array.from({ length: LANES }, (_, lane) => lane));
  for (const node of nodes) {
    const others = by.filter((one) => one !== node).flatMap(({ owners }) => owners.own);
    const seen = (): number[] => node.lanes.all.filter((lane) => node.owners.ownerOf(lane) !== null);
    await expect.poll(seen, { interval: 50 }).toEqual(others.sort());
  }
}

/** An owner of all lanes, and a process that owns none, with a proxy between them. */
async function ownerAndSender(): Promise<{ owner: LedgerNode; sender: LedgerNode; proxy: TcpProxy }> {
  const owner = await start();
  const sender = await start(false);
  await untilOwned([owner]);
  const [row] = await owner.database.query<{ port: number }>('SELECT port FROM lane_writers');
  const proxy = await openTcpProxy('127.0.0.1', row!.port);
  await standBetween(proxy, sender);
  return { owner, sender, proxy };
}

async function standBetween(proxy: Pick<TcpProxy, 'port' | 'close'>, sender: LedgerNode): Promise<void> {
  proxies.push(proxy);
  await sender.database.query('UPDATE lane_writers SET port = $1', [proxy.port]);
  await expect.poll(() => sender.owners.ownerOf(0)?.port, { interval: 50 }).toBe(proxy.port);
}

interface Sealed {
  text: string;
  seal?: string;
}

/** Passes messages on, and answers what it likes: it has the owner's port, and not the secret. */
async function openForger(forge: (message: Sealed) => Promise<Sealed>): Promise<Pick<TcpProxy, 'port' | 'close'>> {
  const server = new ServerTCP({ host: '127.0.0.1', port: 0 });
  server.addHandler('lane-writes', forge);
  const socket = server.unwrap<Server>();
  server.listen(() => undefined);
  await once(socket, 'listening');
  const close = async (): Promise<void> => void server.close();
  return { port: (socket.address() as AddressInfo).port, close };
}

async function boardOf(node: LedgerNode, definition: Partial<BoardDefinition>): Promise<Board> {
  const { board } = await node.registry.put(
    `b-${randomUUID()}`,
    withBoardDefaults({ order: 'desc', ...definition } as never),
  );
  for (const one of nodes) await one.boards.refresh();
  return board;
}

const scoresOn = async ({ database }: LedgerNode, { uid }: Board): Promise<Record<string, number>> =>
  Object.fromEntries(
    (
      await database.query<{ id: string; score: number }>(
        'SELECT player_id AS id, score FROM entries WHERE board_uid = $1 AND NOT removed',
        [uid],
      )
    ).map(({ id, score }) => [id, score]),
  );

/** How many commits of runs the ledger had since: each has its rows in one transaction. */
const commitsOf = async ({ database }: LedgerNode, { uid }: Board): Promise<number> => {
  const [row] = await database.query<{ commits: number }>(
    'SELECT count(DISTINCT xmin::text)::int AS commits FROM submissions WHERE board_uid = $1',
    [uid],
  );
  return row!.commits;
};

const players = Array.from({ length: 40 }, (_, at) => `p${at}`);
const override = (board: Board, playerId: string, score: number): OverrideWrite => ({
  kind: 'override',
  board,
  playerId,
  entry: { score, columns: [] },
  audit: { actor: 'tester', action: 'entry.set', subject: playerId, details: {} },
});

/** The writes that a process makes by itself from here on. */
const madeBy = ({ lanes, writers }: LedgerNode): (() => number) => {
  const spies = lanes.all.map((lane) => writers.of(lane)).map((writer) => vi.spyOn(writer, 'write'));
  return () => spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
};

describe('lanes', () => {
  it('are spread over the processes that take writes, and move when one comes or goes', async () => {
    const first = await start();
    await untilOwned([first]);
    const second = await start();
    await start(false);
    const owned = (): number[] => [first, second].map(({ owners }) => owners.own.length);
    await expect.poll(owned, { interval: 50 }).toEqual([1, 1]);
    await untilOwned([first, second]);
    nodes.splice(nodes.indexOf(first), 1);
    await first.stop();
    await untilOwned([second]);
  });
});

describe("writes for a lane of another process's", () => {
  it('go into its commits together with its own, and are answered as there', async () => {
    const { owner, sender } = await ownerAndSender();
    const board = await boardOf(owner, { operator: 'sum' });
    // Its lanes connect with their first commits, for which the sender might not wait.
    const other = await boardOf(owner, { operator: 'sum' });
    await Promise.all(players.map((playerId) => owner.ledger.write(submissionOf(other, playerId, 1))));
    const bySender = madeBy(sender);
    const sent = players.flatMap((playerId, at) => {
      const id = { submissionId: `once-${at}` };
      return [
        sender.ledger.write(submissionOf(board, playerId, 1)),
        owner.ledger.write(submissionOf(board, playerId, 1)),
        sender.ledger.write(submissionOf(board, playerId, 1, id)),
      ];
    });
    const receipts = await Promise.all(sent);
    expect(receipts.every(({ replayed }) => !replayed)).toBe(true);
    expect(await scoresOn(owner, board)).toEqual(Object.fromEntries(players.map((id) => [id, 3])));
    // One by one they would be 120.
    expect(await commitsOf(owner, board)).toBeLessThan(12);
    const again = await sender.ledger.write(submissionOf(board, 'p0', 1, { submissionId: 'once-0' }));
    expect(again).toMatchObject({ replayed: true, answer: { score: expect.any(Number) } });
    const reused = sender.ledger.write(submissionOf(board, 'p0', 2, { submissionId: 'once-0' }));
    await expect(reused).rejects.toMatchObject({ code: 'SUBMISSION_ID_REUSED' });
    expect(bySender()).toBe(0);
  });

  it.each([true, false])('count once when the answer is lost, with an id of the client: %s', async (idFromClient) => {
    const { owner, sender, proxy } = await ownerAndSender();
    const board = await boardOf(owner, { operator: 'sum' });
    const submissionId = randomUUID();
    const lost = proxy.cutAfter(submissionId);
    const receipt = await sender.ledger.write(submissionOf(board, 'ada', 5, { submissionId, idFromClient }));
    await lost;
    expect(receipt).toMatchObject({ replayed: false, answer: { outcome: 'created', score: 5 } });
    expect(await scoresOn(owner, board)).toEqual({ ada: 5 });
    expect(await commitsOf(owner, board)).toBe(1);
  });

  it('are a replay when they come again and the owner does not answer', async () => {
    const { owner, sender, proxy } = await ownerAndSender();
    const board = await boardOf(owner, { operator: 'sum' });
    const write = submissionOf(board, 'ada', 5, { submissionId: 'again' });
    const handed = await sender.ledger.write(write);
    proxy.freeze();
    const again = await sender.ledger.write(write);
    expect([handed.replayed, again.replayed]).toEqual([false, true]);
    expect(again.answer).toEqual(handed.answer);
    expect(await scoresOn(owner, board)).toEqual({ ada: 5 });
  });

  it.each([true, false])('count once when owner and sender write it at a time: id of the client %s', async (given) => {
    const { owner, sender } = await ownerAndSender();
    const board = await boardOf(owner, { operator: 'sum' });
    const lane = owner.lanes.of('ada');
    const write = submissionOf(board, 'ada', 5, { idFromClient: given });
    let sent!: Promise<unknown>;
    await owner.database.transaction(async (transaction) => {
      await takeLane(transaction, sender.lanes.place(lane));
      sent = sender.ledger.write(write);
      // Both wait for the lane by now.
      await expect.poll(() => lanesWaitedFor(sender), { interval: 20 }).toBe(2);
    });
    expect(await sent).toMatchObject({ replayed: false, answer: { outcome: 'created', score: 5 } });
    await owner.ledger.write(submissionOf(board, 'ada', 1));
    expect(await scoresOn(owner, board)).toEqual({ ada: 6 });
  });

  it('are not taken by an owner that gets them late: what came meanwhile stands', async () => {
    const { owner, sender, proxy } = await ownerAndSender();
    const board = await boardOf(owner, { operator: 'latest' });
    await sender.ledger.write(submissionOf(board, 'bea', 1));
    proxy.freeze();
    const first = await sender.ledger.write(submissionOf(board, 'ada', 5, { idFromClient: false }));
    expect(first).toMatchObject({ replayed: false, answer: { outcome: 'created' } });
    await sender.ledger.write(override(board, 'ada', 100));
    const after = await sender.ledger.write(submissionOf(board, 'ada', 7));
    expect(after.answer).toMatchObject({ score: 7, previousScore: 100 });
    proxy.thaw();
    await sleep(300);
    await owner.ledger.write(submissionOf(board, 'bea', 2));
    expect(await scoresOn(owner, board)).toEqual({ ada: 7, bea: 2 });
    expect(await commitsOf(owner, board)).toBe(4);
  });

  it.each([true, false])(
    'find themselves behind what came later, in a lane that is remembered: %s',
    async (isKnown) => {
      const { owner, sender, proxy } = await ownerAndSender();
      const board = await boardOf(owner, { operator: 'sum' });
      await (isKnown ? owner : sender).writers.of(owner.lanes.of('ada')).write(submissionOf(board, 'ada', 1));
      const byOwner = vi.spyOn(owner.writers.of(owner.lanes.of('ada')), 'write');
      const { held, letGo } = holdCommit(owner, 'ada');
      const sent = sender.ledger.write(submissionOf(board, 'ada', 5, { idFromClient: false }));
      // Taken by the owner in time.
      await held;
      proxy.cut();
      const first = await sent;
      expect(first).toMatchObject({ replayed: false, answer: { score: 6, previousScore: 1 } });
      await sender.ledger.write(override(board, 'ada', 100));
      const after = await sender.ledger.write(submissionOf(board, 'ada', 7));
      expect(after).toMatchObject({ replayed: false, answer: { score: 107, previousScore: 100 } });
      letGo();
      expect(byOwner).toHaveBeenCalledOnce();
      expect(await byOwner.mock.results[0]!.value).toMatchObject({ replayed: false, answer: first.answer });
      expect(await scoresOn(owner, board)).toEqual({ ada: 107 });
      expect(await commitsOf(owner, board)).toBe(3);
    },
  );

  it.each([
    ['', 5],
    [', and an override between the two', 100],
  ])('find themselves where their sender was first, also without an id of the client%s', async (between, score) => {
    const { owner, sender } = await ownerAndSender();
    const board = await boardOf(owner, { operator: 'sum' });
    const writes = [submissionOf(board, 'ada', 5, { idFromClient: false, handOverId: 'a' })];
    const lane = owner.lanes.of('ada');
    await sender.writers.of(lane).write(writes[0]!);
    if (between) await sender.ledger.write(override(board, 'ada', score));
    const sentAtMs = owner.boards.clock.nowMs();
    const results = decodeResults(await owner.inbox.take(encodeMessage({ lane, sentAtMs, writes })), 1);
    expect(results).toMatchObject([{ receipt: { replayed: false, answer: { score: 5 } } }]);
    expect(await scoresOn(owner, board)).toEqual({ ada: score });
  });

  it('are not begun once their sender makes them itself, nor on a board that the owner does not know so', async () => {
    const { owner } = await ownerAndSender();
    const board = await boardOf(owner, { operator: 'sum' });
    const lane = owner.lanes.of('ada');
    const take = async (ageMs: number, of = board): Promise<unknown> => {
      const sentAtMs = owner.boards.clock.nowMs() - ageMs;
      const writes = [submissionOf(of, 'ada', 5)];
      return decodeResults(await owner.inbox.take(encodeMessage({ lane, sentAtMs, writes })), 1);
    };
    expect(await take(PATIENCE_MS + 1)).toEqual([{ again: 'not taken' }]);
    expect(await take(0, { ...board, revision: board.revision - 1 })).toMatchObject([
      { error: { boardUid: board.uid } },
    ]);
    expect(await scoresOn(owner, board)).toEqual({});
    expect(await take(0)).toMatchObject([{ receipt: { replayed: false } }]);
  });

  it('find a place in a full queue where the owner may have counted them', async () => {
    const { owner, sender, proxy } = await ownerAndSender();
    const board = await boardOf(owner, { operator: 'sum' });
    await sender.ledger.write(submissionOf(board, 'bea', 1));
    const writer = sender.writers.of(sender.lanes.of('ada'));
    Object.assign(Reflect.get(writer, 'options') as object, { queueMax: 0 });
    const submissionId = randomUUID();
    const lost = proxy.cutAfter(submissionId);
    const receipt = await sender.ledger.write(submissionOf(board, 'ada', 5, { submissionId, idFromClient: false }));
    await lost;
    expect(receipt).toMatchObject({ replayed: false, answer: { score: 5 } });
    expect(await scoresOn(owner, board)).toMatchObject({ ada: 5 });
  });

  it('of one player keep their order when the message with both is lost', async () => {
    const { owner, sender, proxy } = await ownerAndSender();
    const board = await boardOf(owner, { operator: 'latest' });
    await sender.ledger.write(submissionOf(board, 'bea', 1));
    proxy.cut();
    const receipts = await Promise.all(
      [1, 2, 3].map((score) => sender.ledger.write(submissionOf(board, 'ada', score))),
    );
    expect(receipts.map(({ answer }) => answer.previousScore)).toEqual([null, 1, 2]);
    expect(await scoresOn(owner, board)).toMatchObject({ ada: 3 });
  });

  it('of one player keep their order when the database goes away between two parts of a commit', async () => {
    const { owner } = await ownerAndSender();
    const board = await boardOf(owner, { operator: 'latest' });
    // A bad write splits the batch; PostgreSQL is away for the first part until the sender has lost its patience.
    await owner.database.query('CREATE SEQUENCE tries');
    await owner.database.query(`
      CREATE FUNCTION bad_day() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.player_id = 'bad' THEN RAISE EXCEPTION 'a bad write'; END IF;
        IF NEW.score = 1 AND nextval('tries') = 2 THEN
          PERFORM pg_sleep(${(PATIENCE_MS + 100) / 1000}), pg_terminate_backend(pg_backend_pid());
        END IF;
        RETURN NEW;
      END $$`);
    await owner.database.query(
      'CREATE TRIGGER bad_day BEFORE INSERT ON submissions FOR EACH ROW EXECUTE FUNCTION bad_day()',
    );
    const lane = owner.lanes.of('ada');
    const other = players.find((player) => owner.lanes.of(player) === lane)!;
    // Rows are inserted in the order of their ids: that of ada is counted before the bad one.
    const writes = ['ada', other, 'ada', 'bad'].map((player, at) =>
      submissionOf(board, player, at + 1, { submissionId: `id-${at}` }),
    );
    const sentAtMs = owner.boards.clock.nowMs();
    const results = decodeResults(await owner.inbox.take(encodeMessage({ lane, sentAtMs, writes })), writes.length);
    // The sender makes all of them anew, in order.
    const notKnown = { again: 'not known' };
    const notTaken = { again: 'not taken' };
    expect(results).toEqual([notKnown, notKnown, notTaken, notTaken]);
    expect(await scoresOn(owner, board)).toEqual({});
  });

  it('are refused by an owner without the seal of the installation', async () => {
    const { owner, sender } = await ownerAndSender();
    const board = await boardOf(owner, { operator: 'best' });
    await sender.database.query(`UPDATE installation SET value = 'another' WHERE name = 'lane-secret'`);
    const stranger = await start(false);
    await untilOwned([owner]);
    const byOwner = madeBy(owner);
    await stranger.ledger.write(submissionOf(board, 'ada', 5));
    expect(await scoresOn(owner, board)).toEqual({ ada: 5 });
    expect(byOwner()).toBe(0);
  });

  it.each<[string, (message: Sealed, text: string) => string | undefined]>([
    ['no seal', () => undefined],
    ['one by another secret', (_, text) => createHmac('sha256', 'another').update(text).digest('base64')],
    ['that of another text', ({ seal }) => seal],
  ])('are not believed to be what an answer says that has %s', async (_, sealOf) => {
    const { owner, sender } = await ownerAndSender();
    const board = await boardOf(owner, { operator: 'sum' });
    const forger = await openForger(async (message) => {
      const answered = await owner.inbox.take(message.text);
      const text = answered.replace('"score":5', '"score":6');
      expect(text).not.toBe(answered);
      return { text, seal: sealOf(message, text) };
    });
    await standBetween(forger, sender);
    const bySender = madeBy(sender);
    const receipt = await sender.ledger.write(submissionOf(board, 'ada', 5, { idFromClient: false }));
    expect(receipt).toMatchObject({ replayed: false, answer: { outcome: 'created', score: 5 } });
    expect(bySender()).toBe(1);
    expect(await scoresOn(owner, board)).toEqual({ ada: 5 });
    expect(await commitsOf(owner, board)).toBe(1);
  });
});
