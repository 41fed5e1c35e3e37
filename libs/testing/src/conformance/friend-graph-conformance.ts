import { FOLLOWED_MAX, FRIENDS_MAX } from '@laddercast/domain';
import type { FriendGraph } from '@laddercast/extension';
import { describe, expect, it } from 'vitest';

export interface FriendGraphConformanceOptions {
  /** The graph under test; asked for in each test. */
  graph: () => FriendGraph;
  /** Makes two players friends in whatever the graph reads. */
  befriend: (playerId: string, otherId: string) => Promise<void>;
  /** Lets the first player follow the second. */
  follow: (followerId: string, followedId: string) => Promise<void>;
}

/** Ids that graphs which fold case, trim or normalise would take for one another. */
const ALIKE = ['ada', 'Ada', 'ada ', 'São Tomé', 'Sa\u0303o Tome\u0301', '%25', "o'hara", '😀'];

/** Declares the tests that every {@link FriendGraph} must pass. Players of other tests must not be called `graph-…`. */
export function friendGraphConformance({ graph, befriend, follow }: FriendGraphConformanceOptions): void {
  let players = 0;
  const newPlayer = (): string => `graph-${players++}`;
  const sorted = (ids: readonly string[]): string[] => [...ids].sort();

  describe('friends', () => {
    it('are friends of each other, and of nobody else', async () => {
      const [ada, bob, cy] = [newPlayer(), newPlayer(), newPlayer()];
      await befriend(ada, bob);
      expect(await graph().friendsOf(ada)).toEqual([bob]);
      expect(await graph().friendsOf(bob)).toEqual([ada]);
      expect(await graph().friendsOf(cy)).toEqual([]);
      expect(await graph().followedBy(ada)).toEqual([]);
    });

    it('are told apart byte by byte', async () => {
      const ada = newPlayer();
      for (const id of ALIKE) await befriend(ada, `${ada} ${id}`);
      expect(sorted(await graph().friendsOf(ada))).toEqual(sorted(ALIKE.map((id) => `${ada} ${id}`)));
      for (const id of ALIKE) expect(await graph().friendsOf(`${ada} ${id}`)).toEqual([ada]);
    });

    it(`are ${FRIENDS_MAX} at most`, async () => {
      const [popular, ...others] = Array.from({ length: FRIENDS_MAX + 1 }, newPlayer) as [string, ...string[]];
      for (const other of others) await befriend(popular, other);
      const friends = await graph().friendsOf(popular);
      expect(sorted(friends)).toEqual(sorted(others));
      expect(friends).not.toContain(popular);
    });
  });

  describe('followed players', () => {
    it('are followed one way', async () => {
      const [fan, star] = [newPlayer(), newPlayer()];
      await follow(fan, star);
      expect(await graph().followedBy(fan)).toEqual([star]);
      expect(await graph().followedBy(star)).toEqual([]);
      expect(await graph().friendsOf(fan)).toEqual([]);
    });

    it(`have any number of followers, and are ${FOLLOWED_MAX} at most for each`, async () => {
      const [star, ...fans] = Array.from({ length: FOLLOWED_MAX + 101 }, newPlayer) as [string, ...string[]];
      for (const fan of fans) await follow(fan, star);
      expect(await graph().followedBy(fans.at(-1)!)).toEqual([star]);
      const keen = newPlayer();
      for (const other of fans.slice(0, FOLLOWED_MAX)) await follow(keen, other);
      expect(sorted(await graph().followedBy(keen))).toEqual(sorted(fans.slice(0, FOLLOWED_MAX)));
    });
  });
}
