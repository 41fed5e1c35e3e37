import { LadderError, nameOfSpec, type BoardDefinition, type SeasonSpec, type WindowSpec } from '@laddercast/domain';
import { ledgerNowMs } from '../database/ledger-clock.js';
import type { SqlRunner } from '../database/postgres-database.js';

interface SeasonRow {
  window_uid: number;
  state: string;
  now_ms: number;
  starts_at_ms: number;
  ends_at_ms: number;
  freeze_at_ms: number | null;
}

/**
 * From when each new spec of a definition has windows; specs that stay keep their time. A season states its own
 * beginning.
 */
export async function sinceOfAddedWindows(
  transaction: SqlRunner,
  from: BoardDefinition,
  to: BoardDefinition,
  known: Record<string, number>,
): Promise<Record<string, number>> {
  const nowMs = await ledgerNowMs(transaction);
  const before = from.windows.map(nameOfSpec);
  const since = to.windows.flatMap((spec): [string, number][] => {
    const name = nameOfSpec(spec);
    if (isSeason(spec)) return [];
    if (!before.includes(name)) return [[name, nowMs]];
    return known[name] === undefined ? [] : [[name, known[name]]];
  });
  return Object.fromEntries(since);
}

interface SeasonMove {
  windowUid: number;
  season: SeasonSpec;
}

/**
 * Gives the stored windows of seasons the bounds of the new definition: a season that runs may end earlier or later, in
 * the future; one that is over, or frozen, stays as it is.
 * @throws WINDOW_CLOSED, BOARD_NOT_EMPTY, WINDOW_MISMATCH
 */
export async function moveSeasons(
  transaction: SqlRunner,
  boardUid: number,
  from: BoardDefinition,
  to: BoardDefinition,
): Promise<void> {
  for (const { windowUid, season } of await movesOfSeasons(transaction, boardUid, from, to)) {
    await transaction.query(
      `UPDATE windows SET starts_at = to_timestamp($2::float8 / 1000), ends_at = to_timestamp($3::float8 / 1000),
         freeze_at = to_timestamp($4::float8 / 1000) WHERE window_uid = $1`,
      [windowUid, ms(season.startsAt), ms(season.endsAt), freezeMs(season)],
    );
  }
}

/**
 * The stored windows of seasons that a definition moves.
 * @throws WINDOW_CLOSED, BOARD_NOT_EMPTY, WINDOW_MISMATCH
 */
export async function movesOfSeasons(
  runner: SqlRunner,
  boardUid: number,
  from: BoardDefinition,
  to: BoardDefinition,
): Promise<SeasonMove[]> {
  const moves: SeasonMove[] = [];
  const before = new Map(from.windows.filter(isSeason).map((season) => [season.season, season]));
  for (const season of to.windows.filter(isSeason)) {
    const old = before.get(season.season);
    if (old !== undefined && isSame(old, season)) continue;
    const [row] = await runner.query<SeasonRow>(SEASON_WINDOW, [boardUid, nameOfSpec(season)]);
    if (row === undefined || isStoredSo(row, season)) continue;
    assertMovable(row, season);
    moves.push({ windowUid: row.window_uid, season });
  }
  return moves;
}

const SEASON_WINDOW = `
  SELECT window_uid, state, (extract(epoch FROM ladder_now()) * 1000)::float8 AS now_ms,
    (extract(epoch FROM starts_at) * 1000)::float8 AS starts_at_ms,
    (extract(epoch FROM ends_at) * 1000)::float8 AS ends_at_ms,
    (extract(epoch FROM freeze_at) * 1000)::float8 AS freeze_at_ms
  FROM windows WHERE board_uid = $1 AND window_id = $2`;

function assertMovable(row: SeasonRow, season: SeasonSpec): void {
  const name = `The season "${season.season}"`;
  const now = row.now_ms;
  if (row.state !== 'open' || row.ends_at_ms <= now) {
    throw new LadderError('WINDOW_CLOSED', `${name} is over: its times stay as they were.`);
  }
  if (row.starts_at_ms <= now && row.starts_at_ms !== ms(season.startsAt)) {
    throw new LadderError('BOARD_NOT_EMPTY', `${name} runs already: its start stays; its end may move.`);
  }
  if (ms(season.endsAt) <= now) {
    throw new LadderError('WINDOW_MISMATCH', `${name} cannot have ended already; to end it now, use close-window.`);
  }
  const freezeAtMs = freezeMs(season);
  if (row.freeze_at_ms === freezeAtMs) return;
  // Nobody has seen the runs since a freeze: another freeze must not show them.
  if (row.freeze_at_ms !== null && row.freeze_at_ms <= now) {
    throw new LadderError('WINDOW_MISMATCH', `${name} is frozen: its freeze stays until it ends.`);
  }
  if (freezeAtMs !== null && freezeAtMs <= now) {
    throw new LadderError('WINDOW_MISMATCH', `${name} cannot have been frozen already; freezeAt must lie ahead.`);
  }
}

const isSeason = (spec: WindowSpec): spec is SeasonSpec => typeof spec === 'object' && 'season' in spec;

const ms = (time: string): number => Date.parse(time);

const freezeMs = ({ freezeAt }: SeasonSpec): number | null => (freezeAt ? ms(freezeAt) : null);

const isSame = (a: SeasonSpec, b: SeasonSpec): boolean =>
  ms(a.startsAt) === ms(b.startsAt) && ms(a.endsAt) === ms(b.endsAt) && freezeMs(a) === freezeMs(b);

const isStoredSo = (row: SeasonRow, season: SeasonSpec): boolean =>
  row.starts_at_ms === ms(season.startsAt) &&
  row.ends_at_ms === ms(season.endsAt) &&
  row.freeze_at_ms === freezeMs(season);
