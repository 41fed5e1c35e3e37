import { NO_FACE, type BoardOrdering, type PlayerFace, type RankedEntry, type RankStyle } from '@laddercast/domain';
import type { RankProjection } from '@laddercast/projections';
import type { ResolvedList } from '@laddercast/queries';
import { SortedArrayOracle } from '@laddercast/testing';
import { ListWriter, type TestFriends, type TestProfiles } from './boards.js';
import { listText } from './follower.js';

const START_MS = 1_700_000_000_000;
export const PLAYERS = 120;
export const REGIONS = ['EU', 'US', 'ASIA'];

/** What a subscription of this test asks for. */
export type Asked = { scope?: string; rankStyle: RankStyle; fields?: ['player'] } & (
  | { channel: 'top' | 'guilds'; limit: number }
  | { channel: 'player'; playerId: string; around: number }
  | { channel: 'range'; offset: number; limit: number }
  | { channel: 'friends'; playerId: string }
);

interface TrueEntry {
  playerId: string;
  score: number;
  atMs: number;
  region: string | null;
}

/** The whole truth of the test's board, and the writers that bring it to Redis as the sagas do. */
export class World {
  readonly entries = new Map<string, TrueEntry>();
  readonly guilds = new Map<string, TrueEntry>();
  readonly names = new Map<string, string>();
  readonly faces = new Map<string, PlayerFace>();
  readonly unlisted = new Set<string>();
  readonly circles = new Map<string, string[]>();
  private version = 0;

  constructor(
    private readonly projection: RankProjection,
    private readonly lists: ReadonlyMap<string, ResolvedList>,
    private readonly profiles: TestProfiles,
    private readonly friends: TestFriends,
  ) {}

  async act(random: () => number): Promise<void> {
    const playerId = `p${Math.floor(random() * PLAYERS)}`;
    const chance = random();
    if (chance < 0.62) await this.submit(playerId, Math.floor(random() * 60));
    else if (chance < 0.74) await this.move(playerId, REGIONS[Math.floor(random() * REGIONS.length)]!);
    else if (chance < 0.8) await this.remove(playerId);
    else if (chance < 0.9) await this.total(`g${Math.floor(random() * 15)}`, Math.floor(random() * 500));
    else if (chance < 0.92) await this.rename(playerId, `Name ${Math.floor(random() * 1000)}`);
    else if (chance < 0.94) await this.face(playerId, Math.floor(random() * 1000));
    else if (chance < 0.97) await this.list(playerId, random() < 0.5);
    else this.befriend(playerId, random);
  }

  async submit(playerId: string, score: number): Promise<void> {
    const known = this.entries.get(playerId);
    const region = known?.region ?? REGIONS[playerId.length % REGIONS.length]!;
    await this.store({ playerId, score, atMs: 0, region }, null);
  }

  /** Put first, tombstone after. */
  async move(playerId: string, region: string): Promise<void> {
    const known = this.entries.get(playerId);
    if (known && known.region !== region) await this.store({ ...known, region }, known.region);
  }

  async remove(playerId: string): Promise<void> {
    const known = this.entries.get(playerId);
    if (!known) return;
    this.entries.delete(playerId);
    const version = (this.version += 1);
    for (const scope of ['global', `region:${known.region}`]) await this.write(scope, playerId, null, version);
  }

  async total(guildId: string, score: number): Promise<void> {
    const version = (this.version += 1);
    const total = { playerId: guildId, score, atMs: version, region: null };
    this.guilds.set(guildId, total);
    await this.write('guilds', guildId, total, version);
  }

  async rename(playerId: string, name: string): Promise<void> {
    this.names.set(playerId, name);
    await this.profiles.set(playerId, { displayName: name });
  }

  async face(playerId: string, number: number): Promise<void> {
    const avatarUrl = number % 5 === 0 ? null : `https://cdn.example/${number}.png`;
    const attributes: Record<string, string> = number % 3 === 0 ? {} : { team: `team ${number % 7}` };
    const face = { avatarUrl, region: REGIONS[number % REGIONS.length]!, attributes };
    this.faces.set(playerId, face);
    await this.profiles.set(playerId, face);
  }

  async list(playerId: string, listed: boolean): Promise<void> {
    if (listed) this.unlisted.delete(playerId);
    else this.unlisted.add(playerId);
    await this.profiles.set(playerId, { listed });
  }

  befriend(playerId: string, random: () => number): void {
    const count = Math.floor(random() * 30);
    const friends = new Set(Array.from({ length: count }, () => `p${Math.floor(random() * PLAYERS)}`));
    friends.delete(playerId);
    this.circles.set(playerId, [...friends]);
    this.friends.set(playerId, [...friends]);
  }

  /** What a subscription shows at rest, as text. */
  shown(asked: Asked): string {
    const all = this.ranked(asked);
    const visible = (rows: RankedEntry[], ownId = ''): RankedEntry[] =>
      rows.filter(({ playerId }) => playerId === ownId || !this.unlisted.has(playerId));
    if (asked.channel === 'friends') {
      const ids = new Set([asked.playerId, ...(this.circles.get(asked.playerId) ?? [])]);
      const found = all.filter(({ playerId }) => ids.has(playerId));
      // They stand in the order of the list already.
      const circle = oracleOf(found.map(({ playerId, score }, atMs) => ({ playerId, score, atMs })));
      const among = found.map((row, index) => ({
        ...row,
        rank: circle.rankAt(index, asked.rankStyle),
        globalRank: row.rank,
      }));
      return listText(visible(among, asked.playerId), among.length);
    }
    if (asked.channel === 'player') {
      const at = all.findIndex(({ playerId }) => playerId === asked.playerId);
      const rows = at < 0 ? [] : all.slice(Math.max(0, at - asked.around), at + asked.around + 1);
      return listText(visible(rows, asked.playerId), all.length);
    }
    const from = asked.channel === 'range' ? asked.offset : 0;
    return listText(visible(all.slice(from, from + asked.limit)), all.length);
  }

  private ranked({ channel, scope, rankStyle, fields }: Asked): RankedEntry[] {
    const list = channel === 'guilds' ? this.guilds : this.entries;
    const region = scope?.replace('region:', '');
    const oracle = oracleOf([...list.values()].filter((entry) => region === undefined || entry.region === region));
    return oracle.entries.map(({ playerId, score, achievedAtMs }, index) => ({
      rank: oracle.rankAt(index, rankStyle),
      playerId,
      displayName: this.names.get(playerId) ?? null,
      score,
      columns: {},
      achievedAt: new Date(achievedAtMs + START_MS).toISOString(),
      metadata: null,
      ...(fields && { player: this.faces.get(playerId) ?? NO_FACE }),
    }));
  }

  private async store(entry: TrueEntry, leftRegion: string | null): Promise<void> {
    const version = (this.version += 1);
    const stored = { ...entry, atMs: version };
    this.entries.set(entry.playerId, stored);
    for (const scope of ['global', `region:${entry.region}`]) await this.write(scope, entry.playerId, stored, version);
    if (leftRegion !== null) await this.write(`region:${leftRegion}`, entry.playerId, null, version);
  }

  private async write(scope: string, playerId: string, entry: TrueEntry | null, version: number): Promise<void> {
    const { list } = this.lists.get(scope)!;
    const values = entry && { score: entry.score, achievedAtMs: entry.atMs + START_MS };
    await ListWriter.put(this.projection, list, playerId, values, version);
  }
}

const ORDERING: BoardOrdering = { order: 'desc', operator: 'best', tiebreak: 'earliest', columns: [] };

const oracleOf = (entries: readonly Pick<TrueEntry, 'playerId' | 'score' | 'atMs'>[]): SortedArrayOracle =>
  SortedArrayOracle.of(
    ORDERING,
    entries.map(({ playerId, score, atMs }) => ({ playerId, score, columns: [], achievedAtMs: atMs })),
  );
