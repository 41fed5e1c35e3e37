// Real: PostgreSQL. What SQL makes of random members' scores against whole numbers and fractions. Prints its seed; SEED=…
// repeats the scores.
import type { BoardDefinition } from '@laddercast/domain';
import { guildScoreSql, PostgresDatabase } from '@laddercast/ledger';
import { createTestDatabase, Dice, guildScoreOf, seedOfRun, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const GUILDS = 5000;
const MEMBERS_MAX = 8;
const LEAST = 5e-324;
const { MAX_VALUE } = Number;

const seed = seedOfRun();
const { next: random, below, oneOf } = new Dice(seed);

/** Any double of all, as likely as any other. */
function anyDouble(): number {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(below(2 ** 32), 0);
  bytes.writeUInt32BE(below(2 ** 32), 4);
  const score = bytes.readDoubleBE();
  return Number.isFinite(score) ? score : anyDouble();
}

const EDGES = [
  ...[0, LEAST, 2 * LEAST, 3 * LEAST, 1e-310, 2 ** -1022, 2 ** -1022 - LEAST, 1e-300],
  ...[2 ** -1074 * 2 ** 52, 0.1, 1 / 3, 1, 1 + 2 ** -52, 2 ** 53, 2 ** 53 + 2, 2 ** 63, 2 ** 64, 1e22, 1e300],
  ...[MAX_VALUE / 2, MAX_VALUE, MAX_VALUE - 2 ** 970],
].flatMap((score) => [score, -score]);

/** Whose scores are alike: so that they cancel, tie and leave the doubles often enough. */
const KINDS: (() => number)[] = [
  anyDouble,
  () => oneOf(EDGES),
  () => (below(9) - 4) * LEAST,
  // Less than the normal doubles, with every digit.
  () => (random() - 0.5) * 2 ** -1020,
  () => (random() - 0.5) * 2 ** (below(130) - 65),
  () => below(2_000_000) - 1_000_000,
  () => oneOf([1, -1]) * 2 ** (below(120) - 60),
];

const randomGuild = (): number[] => {
  const kind = oneOf(KINDS);
  const scores = Array.from({ length: 1 + below(MEMBERS_MAX) }, kind);
  // All but a rest cancels.
  return random() < 0.2 ? [...scores, ...scores.slice(1).map((score) => -score)] : scores;
};

const RULES: Pick<BoardDefinition, 'guildAggregate' | 'order'>[] = [
  { order: 'desc', guildAggregate: { kind: 'sum', k: null, onLeave: 'keep' } },
  { order: 'desc', guildAggregate: { kind: 'average', k: null, onLeave: 'keep' } },
  { order: 'desc', guildAggregate: { kind: 'top', k: 3, onLeave: 'keep' } },
  { order: 'asc', guildAggregate: { kind: 'top', k: 2, onLeave: 'keep' } },
];

describe(`guilds' scores (SEED=${seed})`, () => {
  let testDatabase: TestDatabase;
  let database: PostgresDatabase;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = new PostgresDatabase({ url: testDatabase.url });
    await database.open({ migrate: true });
  });
  afterAll(async () => {
    await database?.close();
    await testDatabase?.drop();
  });

  it.each(RULES)('are the true value rounded once: $guildAggregate.kind, $order', async (rules) => {
    const guilds = Array.from({ length: GUILDS }, randomGuild);
    const rows = guilds.flatMap((scores, guild) => scores.map((score) => ({ guild, score })));
    const found = await database.query<{ guild: number; score: number }>(
      `SELECT guild, ${guildScoreSql(rules)} AS score
       FROM (SELECT guild, score, n::text AS player_id
         FROM unnest($1::int[], $2::float8[]) WITH ORDINALITY AS t (guild, score, n)) AS members
       GROUP BY guild ORDER BY guild`,
      [rows.map(({ guild }) => guild), rows.map(({ score }) => score)],
    );
    expect(found).toHaveLength(GUILDS);
    const wrong = found.filter(
      ({ guild, score }) => !Object.is(score, guildScoreOf(rules.guildAggregate, rules.order, guilds[guild]!)),
    );
    expect(wrong.slice(0, 3).map((one) => ({ ...one, scores: guilds[one.guild] }))).toEqual([]);
  });

  it('are rounded once below the normal doubles, too, where what reads a text may miss by one', async () => {
    const scores = [5e-324, 2.225073858507201e-308, 1e-310, 2.2250738585072014e-308];
    const [row] = await database.query<{ score: number }>(
      `SELECT ${guildScoreSql(RULES[1]!)} AS score FROM unnest($1::float8[]) AS score`,
      [scores],
    );
    expect(row).toEqual({ score: 1.115036929253601e-308 });
  });

  it('of members who have no entry are nothing', async () => {
    for (const rules of RULES) {
      const [row] = await database.query(
        `SELECT ${guildScoreSql(rules)} AS score FROM (SELECT 1::float8 AS score, '' AS player_id WHERE false) AS none`,
      );
      expect(row).toEqual({ score: null });
    }
  });
});
