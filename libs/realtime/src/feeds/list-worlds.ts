import type { LadderError } from '@laddercast/domain';
import type { OwnedEntry } from '@laddercast/ledger';
import { askedFor, lackedBy, worldOf, type OwnWorlds, type ResolvedList, type WorldAsked } from '@laddercast/queries';
import type { ChannelSources, Viewed } from '../channels/channel-kind.js';
import { CHANNELS } from '../channels/channel-table.js';
import { RangeRows } from '../channels/range-channel.js';
import { WatchBudget } from '../channels/watch-budget.js';
import type { RowsReading } from '../channels/watched-channel.js';
import { WatchedRows, type RowsReader, type WatchedList } from '../channels/watched-rows.js';
import type { LiveSubscription } from '../connection/live-subscription.js';

/** The name of the channel of the first places, which are rows of their own in a world. */
export const TOP = 'top';

/** What a shadowed player watches in its world. */
export type WorldWatch = Viewed & { worldOf: string };

/** The own entries of a player, as the ledger had them at the last look. */
interface KnownEntries {
  entries: readonly OwnedEntry[];
  /** What the list was read from then; undefined: the projection. */
  edition: number | undefined;
}

/** What worlds are read from. */
export interface WorldSources extends ChannelSources {
  worlds: OwnWorlds;
}

/**
 * The worlds of shadowed players in one list: each player's channels show the list with its own entries in it, read once on
 * every tick as all watched rows are, the first places too. The log does not tell of entries that are ranked for nobody, so
 * they are looked up again and again.
 */
export class ListWorlds {
  /** By channel. */
  private readonly rowsOf = new Map<string, WatchedRows<WorldWatch>>();
  private readonly known = new Map<string, KnownEntries>();
  /** The tick after which an own entry changed last: rows of it are old. */
  private changedAtSeq = -1;
  /** Subscriptions whose player is not shadowed any more, until everybody's list has its entry. */
  readonly leaving = new Set<LiveSubscription>();

  constructor(
    private readonly list: WatchedList,
    private readonly sources: WorldSources,
  ) {
    // Sockets in worlds are counted, and so are the subscriptions of each.
    const budget = new WatchBudget(Infinity, 'channels');
    for (const [channel, kind] of Object.entries(CHANNELS)) {
      const reader = channel === TOP ? new RangeRows(sources.details) : kind.rows?.(sources)[0]!.reader;
      if (!reader) continue;
      const ofWorlds = new ReaderOfWorlds(reader as RowsReader<Viewed>, (resolved, player) =>
        this.worldOf(resolved, player),
      );
      this.rowsOf.set(channel, new WatchedRows(list, ofWorlds, budget));
    }
  }

  /** The rows of all worlds, by channel. */
  get rows(): WatchedRows<WorldWatch>[] {
    return [...this.rowsOf.values()];
  }

  /** Whether a channel is another in a world: guilds are the same for everybody. */
  has(channel: string): boolean {
    return this.rowsOf.has(channel);
  }

  /** Serves a subscription in the world of its player. @throws as {@link WatchedRows.join} */
  join(subscription: LiveSubscription, watch: WorldWatch, isWanted: () => boolean): Promise<void> {
    return this.rowsOf.get(subscription.request.channel)!.join(subscription, watch, isWanted);
  }

  /** What is asked of the ledger for the worlds that somebody watches. */
  asked(): WorldAsked[] {
    const players = new Set(this.rows.flatMap((rows) => rows.watches()).map((watch) => watch.worldOf));
    for (const player of this.known.keys()) if (!players.has(player)) this.known.delete(player);
    return [...players].map((player) => askedFor(this.list.resolved, player));
  }

  /** Takes what the ledger answered. @returns whether rows have to be read anew */
  take(asked: readonly WorldAsked[], entries: readonly (readonly OwnedEntry[])[]): boolean {
    for (const [at, { playerId }] of asked.entries()) {
      const known = this.known.get(playerId);
      if (!known || stateOf(known.entries) === stateOf(entries[at]!)) continue;
      this.known.set(playerId, { ...known, entries: entries[at]! });
      this.changedAtSeq = this.list.seq;
    }
    return this.rows.some((rows) => rows.hasRowsOf(this.changedAtSeq));
  }

  /** Whether everybody's list has all entries of the player. */
  async isInList(playerId: string): Promise<boolean> {
    const { resolved } = this.list;
    const { worlds } = this.sources;
    const [entries] = await worlds.entries([askedFor(resolved, playerId)]);
    return (await lackedBy(resolved, entries!)).length === 0;
  }

  private async worldOf(resolved: ResolvedList, playerId: string): Promise<ResolvedList> {
    const edition = resolved.edition?.uid;
    const known = this.known.get(playerId);
    if (known && known.edition === edition) return worldOf(resolved, playerId, known.entries);
    const [entries] = await this.sources.worlds.entries([askedFor(resolved, playerId)]);
    this.known.set(playerId, { entries: entries!, edition });
    return worldOf(resolved, playerId, entries!);
  }
}

/** Two states of entries have two texts. */
const stateOf = (entries: readonly OwnedEntry[]): string => JSON.stringify(entries);

/** Reads rows as players see them whose entries nobody else sees. */
class ReaderOfWorlds implements RowsReader<WorldWatch> {
  constructor(
    private readonly reader: RowsReader<Viewed>,
    private readonly worldOf: (resolved: ResolvedList, playerId: string) => Promise<ResolvedList>,
  ) {}

  get atOnce(): number {
    return this.reader.atOnce;
  }

  keyOf(watch: WorldWatch): string {
    return `${watch.worldOf}/${this.reader.keyOf(watch)}`;
  }

  async read(resolved: ResolvedList, watches: readonly WorldWatch[]): Promise<(RowsReading | LadderError)[]> {
    const readings = new Map<WorldWatch, RowsReading | LadderError>();
    const players = new Set(watches.map((watch) => watch.worldOf));
    await Promise.all(
      [...players].map(async (player) => {
        const own = watches.filter((watch) => watch.worldOf === player);
        const read = await this.reader.read(await this.worldOf(resolved, player), own);
        for (const [at, watch] of own.entries()) readings.set(watch, read[at]!);
      }),
    );
    return watches.map((watch) => readings.get(watch)!);
  }

  async open(watch: WorldWatch, party: string | null): Promise<void> {
    await this.reader.open?.(watch, party);
  }

  close(watch: WorldWatch): void {
    this.reader.close?.(watch);
  }

  async lookAgain(): Promise<boolean> {
    return (await this.reader.lookAgain?.()) ?? false;
  }
}
