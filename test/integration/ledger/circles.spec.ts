// Real: PostgreSQL, asked by many connections at once.
import { ASKED_BY_MAX, ASKED_MAX, CIRCLE_MEMBERS_MAX, FRIENDS_MAX, type LadderError } from '@laddercast/domain';
import { FriendGraph } from '@laddercast/extension';
import { Circles, Follows, Friendships, PostgresDatabase, PostgresFriendGraph } from '@laddercast/ledger';
import { CircleMembers } from '@laddercast/queries';
import { createTestDatabase, friendGraphConformance, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let test: TestDatabase;
let database: PostgresDatabase;
let friendships: Friendships;
let follows: Follows;
let circles: Circles;
let graph: PostgresFriendGraph;

beforeAll(async () => {
  test = await createTestDatabase();
  database = new PostgresDatabase({ url: test.url, poolMax: 16 });
  await database.open({ migrate: true });
  friendships = new Friendships(database);
  follows = new Follows(database);
  circles = new Circles(database);
  graph = new PostgresFriendGraph(database);
});
afterAll(async () => {
  await database?.close();
  await test?.drop();
});

let named = 0;
const newPlayers = (count: number): string[] => Array.from({ length: count }, () => `p${named++}`);
const pair = (): [string, string] => newPlayers(2) as [string, string];
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: LadderError) => `${error.code} ${String(error.extensions?.['player'])}`,
  );
const inBothDirections = (one: string, other: string) => [[one, other] as const, [other, one] as const];
/** Friends of a player, written as rows: the fastest way to fill a list. */
const fill = (playerId: string, others: readonly string[], state = 'friends'): Promise<unknown> =>
  database.query(`INSERT INTO friendships SELECT $1, o, $3, ladder_now() FROM unnest($2::text[]) AS o`, [
    playerId,
    [...others],
    state,
  ]);

friendGraphConformance({
  graph: () => graph,
  befriend: async (playerId, otherId) => void (await friendships.join(playerId, otherId)),
  follow: (followerId, followedId) => follows.follow(followerId, followedId),
});

describe('a request for friendship', () => {
  it('waits until the other player asks, too; asking again changes nothing', async () => {
    const [ada, bob] = pair();
    expect(await friendships.ask(ada, bob)).toBe('asked');
    expect(await friendships.ask(ada, bob)).toBe('asked');
    expect(await friendships.listsOf(ada)).toEqual({ friends: [], asked: [bob], askedBy: [] });
    expect(await friendships.listsOf(bob)).toEqual({ friends: [], asked: [], askedBy: [ada] });
    expect(await graph.friendsOf(ada)).toEqual([]);
    expect(await friendships.ask(bob, ada)).toBe('friends');
    expect(await friendships.ask(ada, bob)).toBe('friends');
    for (const [one, other] of inBothDirections(ada, bob)) {
      expect(await friendships.listsOf(one)).toEqual({ friends: [other], asked: [], askedBy: [] });
    }
  });

  it('is taken back by who asked, refused by who was asked, and answered by a key', async () => {
    const [ada, bob] = pair();
    const nothing = { friends: [], asked: [], askedBy: [] };
    for (const [one, other] of inBothDirections(ada, bob)) {
      await friendships.ask(ada, bob);
      await friendships.part(one, other);
      await friendships.part(one, other);
      expect([await friendships.listsOf(ada), await friendships.listsOf(bob)]).toEqual([nothing, nothing]);
    }
    await friendships.ask(bob, ada);
    expect(await friendships.join(ada, bob)).toBe('friends');
    expect(await friendships.listsOf(bob)).toEqual({ friends: [ada], asked: [], askedBy: [] });
    await friendships.part(bob, ada);
    expect(await database.query('SELECT 1 FROM friendships WHERE player_id = ANY($1)', [[ada, bob]])).toEqual([]);
  });

  it('of both at once makes them friends, every time', async () => {
    for (let round = 0; round < 40; round += 1) {
      const [ada, bob] = pair();
      const states = await Promise.all([friendships.ask(ada, bob), friendships.ask(bob, ada)]);
      expect(states.sort()).toEqual(['asked', 'friends']);
      expect(await graph.friendsOf(ada)).toEqual([bob]);
      expect(await graph.friendsOf(bob)).toEqual([ada]);
    }
  });
});

describe('full lists', () => {
  it(`hold ${FRIENDS_MAX} friends, and the refusal says whose is full`, async () => {
    const [ada, bob, ...others] = newPlayers(FRIENDS_MAX + 2) as [string, string, ...string[]];
    await fill(ada, others);
    expect(await codeOf(friendships.join(bob, ada))).toBe(`LIMIT_REACHED ${ada}`);
    expect(await codeOf(friendships.join(ada, bob))).toBe(`LIMIT_REACHED ${ada}`);
    expect(await codeOf(friendships.ask(ada, bob))).toBe(`LIMIT_REACHED ${ada}`);
    // Asking a player whose list is full can wait; becoming friends cannot happen before there is room.
    expect(await friendships.ask(bob, ada)).toBe('asked');
    expect(await codeOf(friendships.ask(ada, bob))).toBe(`LIMIT_REACHED ${ada}`);
    expect(await friendships.join(ada, others[0]!).catch(() => 'refused')).toBe('friends');
    await friendships.part(ada, others[0]!);
    expect(await friendships.ask(ada, bob)).toBe('friends');
  });

  it(`hold ${ASKED_MAX} requests that were sent, and ${ASKED_BY_MAX} that wait`, async () => {
    const [ada, star, cy, ...others] = newPlayers(ASKED_BY_MAX + 3) as [string, string, string, ...string[]];
    await fill(ada, others.slice(0, ASKED_MAX), 'asked');
    expect(await codeOf(friendships.ask(ada, star))).toBe(`LIMIT_REACHED ${ada}`);
    await database.query(`INSERT INTO friendships SELECT o, $1, 'asked', ladder_now() FROM unnest($2::text[]) AS o`, [
      star,
      others,
    ]);
    expect(await codeOf(friendships.ask(cy, star))).toBe(`LIMIT_REACHED ${star}`);
    await friendships.part(star, others[0]!);
    expect(await friendships.ask(cy, star)).toBe('asked');
  });

  it('hold no more when many join at once', async () => {
    const [star, ...others] = newPlayers(FRIENDS_MAX + 21) as [string, ...string[]];
    await fill(star, others.slice(0, FRIENDS_MAX - 10));
    const last = others.slice(FRIENDS_MAX - 10);
    const outcomes = await Promise.all(last.map((other) => codeOf(friendships.join(other, star))));
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(10);
    expect(new Set(outcomes)).toEqual(new Set(['done', `LIMIT_REACHED ${star}`]));
    expect(await graph.friendsOf(star)).toHaveLength(FRIENDS_MAX);

    const outgoing = await Promise.all(newPlayers(600).map((other) => codeOf(follows.follow(star, other))));
    expect(outgoing.filter((outcome) => outcome === 'done')).toHaveLength(500);
    const joins = await Promise.all(newPlayers(CIRCLE_MEMBERS_MAX + 20).map((id) => codeOf(circles.add('full', id))));
    expect(joins.filter((outcome) => outcome === 'done')).toHaveLength(CIRCLE_MEMBERS_MAX);
    expect(await circles.membersOf('full')).toHaveLength(CIRCLE_MEMBERS_MAX);
  });

  it('take again who is in them already', async () => {
    const [fan, ...others] = newPlayers(501) as [string, ...string[]];
    for (const other of others) await follows.follow(fan, other);
    expect(await codeOf(follows.follow(fan, others[7]!))).toBe('done');
    expect(await codeOf(follows.follow(fan, 'one more'))).toBe(`LIMIT_REACHED ${fan}`);
    await follows.unfollow(fan, others[7]!);
    expect(await codeOf(follows.follow(fan, 'one more'))).toBe('done');
  });
});

it('everybody with everybody at once, in every direction: no deadlock, and both sides always agree', async () => {
  const players = newPlayers(12);
  const acts = Array.from({ length: 800 }, (_, at) => {
    const one = players[(at * 7) % 12]!;
    const other = players[(at * 5 + 1 + Math.floor(at / 12)) % 12]!;
    if (one === other) return Promise.resolve('itself');
    if (at % 3 === 0) return codeOf(friendships.ask(one, other));
    return codeOf(at % 3 === 1 ? friendships.join(one, other) : friendships.part(one, other));
  });
  expect(new Set(await Promise.all(acts))).toEqual(new Set(['done', 'itself']));
  const [row] = await database.query<{ oneSided: number; crossed: number }>(
    `SELECT count(*) FILTER (WHERE f.state = 'friends' AND b.state IS DISTINCT FROM 'friends')::int AS "oneSided",
            count(*) FILTER (WHERE f.state = 'asked' AND b.state IS NOT NULL)::int AS crossed
     FROM friendships AS f LEFT JOIN friendships AS b ON b.player_id = f.friend_id AND b.friend_id = f.player_id
     WHERE f.player_id = ANY($1)`,
    [players],
  );
  expect(row).toEqual({ oneSided: 0, crossed: 0 });
});

describe('a named circle', () => {
  it('is there as long as it has members; who is in it twice counts once', async () => {
    expect(await circles.add('team', 'bob')).toBe(1);
    expect(await circles.add('team', 'ada')).toBe(2);
    expect(await circles.add('team', 'ada')).toBe(2);
    expect((await circles.membersOf('team')).map(({ id }) => id)).toEqual(['ada', 'bob']);
    await circles.remove('team', 'ada');
    await circles.remove('team', 'ada');
    await circles.remove('team', 'bob');
    expect(await circles.membersOf('team')).toEqual([]);
    const members = new CircleMembers({ graph }, circles);
    await expect(members.of({ kind: 'circle', circleId: 'team' })).rejects.toMatchObject({ code: 'CIRCLE_NOT_FOUND' });
  });

  it('says who of it may be shown to others', async () => {
    await database.query(`INSERT INTO players (player_id, listed, changed_at) VALUES ('hidden', false, ladder_now())`);
    for (const id of ['hidden', 'seen']) await circles.add('mixed', id);
    expect(await circles.membersOf('mixed')).toEqual([
      { id: 'hidden', listed: false },
      { id: 'seen', listed: true },
    ]);
  });
});

describe('who is in a circle, as boards read it', () => {
  /** A team's graph that counts how often it is asked. */
  class CountedGraph extends FriendGraph {
    asked = 0;
    answer: () => Promise<string[]> = () => Promise.resolve(['bob', 'ada', 'bob']);

    friendsOf(): Promise<string[]> {
      this.asked += 1;
      return this.answer();
    }

    followedBy = (): Promise<string[]> => this.friendsOf();
  }

  const friendsOf = (playerId: string) => ({ kind: 'friends', playerId }) as const;

  it('is asked for once, however many read it in the same second', async () => {
    const team = new CountedGraph();
    const members = new CircleMembers({ graph: team }, circles);
    const answers = await Promise.all(Array.from({ length: 50 }, () => members.of(friendsOf('ada'))));
    for (const ids of [...answers, await members.of(friendsOf('ada'))]) expect(ids).toEqual(['ada', 'bob']);
    expect(team.asked).toBe(1);
    await members.of({ kind: 'follows', playerId: 'ada' });
    expect(team.asked).toBe(2);
    await expect
      .poll(
        async () => {
          await members.of(friendsOf('ada'));
          return team.asked;
        },
        { interval: 100 },
      )
      .toBe(3);
  });

  it('is bounded, whatever a graph answers', async () => {
    const team = new CountedGraph();
    team.answer = () => Promise.resolve(Array.from({ length: 3000 }, (_, at) => `f${at}`));
    const ids = await new CircleMembers({ graph: team }, circles).of(friendsOf('ada'));
    expect(ids).toHaveLength(501);
    expect(ids[0]).toBe('ada');
  });

  it('is what was known last while the graph is away, and 503 where nothing was', async () => {
    const team = new CountedGraph();
    const members = new CircleMembers({ graph: team }, circles);
    expect(await members.of(friendsOf('ada'))).toEqual(['ada', 'bob']);
    team.answer = () => Promise.reject(new Error('away'));
    await new Promise((resolve) => setTimeout(resolve, 1050));
    expect(await members.of(friendsOf('ada'))).toEqual(['ada', 'bob']);
    await expect(members.of(friendsOf('bob'))).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
    team.answer = () => new Promise(() => undefined);
    expect(await members.of(friendsOf('ada'))).toEqual(['ada', 'bob']);
  });

  it('is read by key, not by scans: from tables of 200,000 rows', async () => {
    await database.query(
      `INSERT INTO friendships SELECT 'x' || i % 5000, 'y' || i, 'friends', ladder_now() FROM generate_series(1, 200000) AS i`,
    );
    await database.query(
      `INSERT INTO follows SELECT 'x' || i % 5000, 'y' || i, ladder_now() FROM generate_series(1, 200000) AS i`,
    );
    await database.query('ANALYZE friendships, follows');
    const scans = await database.transaction(async (transaction) => {
      const asked = transaction as PostgresDatabase;
      await new PostgresFriendGraph(asked).friendsOf('x7');
      await new PostgresFriendGraph(asked).followedBy('x7');
      await new Friendships(asked).listsOf('x7');
      return transaction.query<{ relname: string; seq_scan: number }>(
        `SELECT relname::text, seq_scan FROM pg_stat_xact_user_tables WHERE relname IN ('friendships', 'follows')`,
      );
    });
    expect(scans).toHaveLength(2);
    for (const { relname, seq_scan } of scans) expect(seq_scan, relname).toBe(0);
    expect(await graph.friendsOf('x7')).toHaveLength(40);
    expect(await graph.followedBy('x7')).toHaveLength(40);
  });
});
