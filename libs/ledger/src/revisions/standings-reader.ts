import { playerOfKey } from '@laddercast/domain';
import { Inject, Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { exportedStandings, lastExportedOrdinal, type ExportedStanding } from '../entries/exported-rows.js';
import type { KeyOfPlayer } from '../entries/run-entries.js';
import { standingsDetails, type RunDetailsRow } from '../entries/run-details.js';
import { shownProfiles } from '../people/shown-profiles.js';
import {
  lastStanding,
  standingsAfter,
  standingsAround,
  standingKeys,
  standingPlayers,
  standingsAt,
  standingsOfPlayers,
  type StandingRow,
} from '../standings/standings-rows.js';
import { EditionOverlays, type LaidList, type StandingsList } from './edition-overlays.js';
import type { PlacedRow } from './list-overlay.js';

/**
 * The rows of editions, whether an edition has rows of its own or is laid over another: who reads does not see which. While
 * the edition is there each answer has at least one row, of what every reading says of the list; its ordinal is null where
 * the list has no such row.
 */
@Injectable()
export class StandingsReader {
  private readonly overlays: EditionOverlays;

  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {
    this.overlays = new EditionOverlays(database);
  }

  /** The rows after an ordinal, up to another. */
  async after(list: StandingsList, after: number, to: number): Promise<StandingRow[]> {
    const laid = await this.overlays.of(list);
    if (laid === null) return standingsAfter(this.database, list, after, to);
    const total = await this.totalOf(laid);
    return total === null ? [] : this.laidAt(laid, ordinalsBetween(after, Math.min(to, total)));
  }

  /** The row of a player, with up to so many rows before it and after it. */
  async around(list: StandingsList, playerId: string, above: number, below: number): Promise<StandingRow[]> {
    const laid = await this.overlays.of(list);
    if (laid === null) return standingsAround(this.database, list, playerId, above, below);
    const [own] = await this.laidOf(laid, [playerId]);
    if (own === undefined || own.ordinal === null) return own === undefined ? [] : [own];
    const to = Math.min(own.ordinal + below, own.total);
    return this.laidAt(laid, ordinalsBetween(Math.max(0, own.ordinal - above - 1), to));
  }

  /** The rows of some players. */
  async ofPlayers(list: StandingsList, playerIds: readonly string[]): Promise<StandingRow[]> {
    const laid = await this.overlays.of(list);
    return laid === null ? standingsOfPlayers(this.database, list, playerIds) : this.laidOf(laid, playerIds);
  }

  /** The keys of players' rows where each run is an entry; some may not be shown any more. */
  async keysOf(list: StandingsList, playerIds: readonly string[]): Promise<KeyOfPlayer[]> {
    const laid = await this.overlays.of(list);
    if (laid === null) return standingKeys(this.database, list, playerIds);
    const ofBase = await standingKeys(this.database, laid.base, playerIds);
    const ofLaid = playerIds.flatMap((playerId) =>
      laid.overlay.keysLaidOf(playerId).map((key): KeyOfPlayer => ({ playerId, key })),
    );
    return [...new Map([...ofBase, ...ofLaid].map((one) => [one.key, one])).values()];
  }

  /** How many players the list has, where each run is an entry; 0 where the edition is gone. */
  async players(list: StandingsList): Promise<number> {
    const laid = await this.overlays.of(list);
    if (laid === null) return standingPlayers(this.database, list, { struck: [], laid: [] });
    return standingPlayers(this.database, { ...list, edition: laid.base.edition }, laid.overlay.changes);
  }

  /** The rows at some ordinals, none of them behind the last. */
  async at(list: StandingsList, ordinals: readonly number[]): Promise<StandingRow[]> {
    const laid = await this.overlays.of(list);
    return laid === null ? standingsAt(this.database, list, ordinals) : this.laidAt(laid, ordinals);
  }

  /** The last row that was kept. */
  async last(list: StandingsList): Promise<StandingRow[]> {
    const laid = await this.overlays.of(list);
    if (laid === null) return lastStanding(this.database, list);
    const total = await this.totalOf(laid);
    return total === null ? [] : this.laidAt(laid, total === 0 ? [] : [total]);
  }

  /** What an edition kept of some players, or guilds. */
  async details(list: StandingsList, ids: readonly string[]): Promise<RunDetailsRow[]> {
    const laid = await this.overlays.of(list);
    if (laid === null) return standingsDetails(this.database, list.edition, list.scope, ids);
    const rows = ids.flatMap((id) => laid.overlay.laidOf(id) ?? []);
    const others = ids.filter((id) => laid.overlay.laidOf(id) === undefined);
    return [...rows, ...(await standingsDetails(this.database, laid.base.edition, list.scope, others))];
  }

  /** How many rows the list has; null when the edition is gone. */
  async length(list: StandingsList): Promise<number | null> {
    const laid = await this.overlays.of(list);
    return laid === null ? lastExportedOrdinal(this.database, list.edition, list.scope) : this.totalOf(laid);
  }

  /** The rows after an ordinal, up to another, as an export shows them. */
  async exported(list: StandingsList, after: number, to: number): Promise<ExportedStanding[]> {
    const laid = await this.overlays.of(list);
    if (laid === null) return exportedStandings(this.database, list.edition, list.scope, after, to);
    const { rows, ordinals } = sourcesOf(laid, ordinalsBetween(after, to));
    const inserted = await this.withProfiles(rows);
    const [first, last] = [ordinals[0], ordinals.at(-1)];
    if (first === undefined || last === undefined) return inserted;
    const ofBase = await exportedStandings(this.database, laid.base.edition, list.scope, first - 1, last);
    const kept = ofBase.filter(({ ordinal }) => !laid.overlay.isStruck(ordinal));
    const placed = kept.map((row) => ({ ...row, ...laid.overlay.placeOf(row) }));
    return [...placed, ...inserted].sort((a, b) => a.ordinal - b.ordinal);
  }

  private async withProfiles(rows: readonly PlacedRow[]): Promise<ExportedStanding[]> {
    if (rows.length === 0) return [];
    const ids = [...new Set(rows.map(({ player_id }) => playerOfKey(player_id)))];
    const profiles = new Map((await shownProfiles(this.database, false, ids)).map((profile) => [profile.id, profile]));
    return rows.map((row) => {
      const profile = profiles.get(playerOfKey(row.player_id));
      const { displayName = null, listed = null, sanction = null } = profile ?? {};
      return { ...row, display_name: displayName, listed, sanction };
    });
  }

  /** null when the base is gone. */
  private async totalOf({ base, overlay }: LaidList): Promise<number | null> {
    const [head] = await standingsAt(this.database, base, []);
    return head ? head.total + overlay.longer : null;
  }

  private async laidAt(laid: LaidList, asked: readonly number[]): Promise<StandingRow[]> {
    const { rows, ordinals } = sourcesOf(laid, asked);
    const ofBase = await standingsAt(this.database, laid.base, ordinals);
    return ofBase.length === 0 ? [] : answered(laid, ofBase, rows);
  }

  private async laidOf(laid: LaidList, playerIds: readonly string[]): Promise<StandingRow[]> {
    const rows = playerIds.flatMap((id) => laid.overlay.laidOf(id) ?? []);
    const others = playerIds.filter((id) => laid.overlay.laidOf(id) === undefined);
    const ofBase = await standingsOfPlayers(this.database, laid.base, others);
    return ofBase.length === 0 ? [] : answered(laid, ofBase, rows);
  }
}

/** Where the rows at some ordinals are found. */
function sourcesOf({ overlay }: LaidList, asked: readonly number[]): { rows: PlacedRow[]; ordinals: number[] } {
  const sources = asked.map((ordinal) => overlay.at(ordinal));
  return {
    rows: sources.flatMap((source) => ('laid' in source ? [source.laid] : [])),
    ordinals: sources.flatMap((source) => ('base' in source ? [source.base] : [])),
  };
}

/** Rows as the revised list has them, in its order; one of the list alone, where there are none. */
function answered(
  { number, version, overlay }: LaidList,
  ofBase: readonly StandingRow[],
  laid: readonly PlacedRow[],
): StandingRow[] {
  const head = { version, number, as_of_ms: ofBase[0]!.as_of_ms, total: ofBase[0]!.total + overlay.longer };
  const kept = ofBase.flatMap((row): StandingRow[] => {
    const { ordinal } = row;
    return ordinal === null || overlay.isStruck(ordinal)
      ? []
      : [{ ...row, ...head, ...overlay.placeOf({ ...row, ordinal }) }];
  });
  const inserted = laid.map((row): StandingRow => ({ ...row, ...head }));
  const found = [...kept, ...inserted].sort((a, b) => a.ordinal! - b.ordinal!);
  return found.length > 0 ? found : [{ ...ofBase[0]!, ...head, ordinal: null }];
}

/** After one, up to another. */
const ordinalsBetween = (after: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - after) }, (_, index) => after + index + 1);
