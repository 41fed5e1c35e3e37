import type { Identity } from '@laddercast/identity';
import { validationFailed, type Fault } from '@laddercast/domain';
import {
  GetEntriesAroundQuery,
  GetEntriesQuery,
  OpenEntriesQuery,
  ReadCursorQuery,
  type EntriesAround,
  type EntriesPage,
  type ListSelection,
} from '@laddercast/queries';
import type { Query } from '@nestjs/cqrs';
import { unlistedShownTo } from './list-selection.js';
import { type EntriesParameters } from './parameters.js';
import { playerOf } from './path-parameters.js';

const ENTRIES_DEFAULT = 50;
/** The cursor that begins to read. */
const START = 'start';
const PLACES = ['offset', 'aroundRank', 'aroundScore', 'aroundPlayer'] as const;

/**
 * The page of a list that a request asks for.
 * @throws VALIDATION_FAILED for places that cannot be asked for together
 */
export function entriesQueryOf(
  selection: ListSelection,
  parameters: Partial<EntriesParameters>,
  identity: Identity,
): Query<EntriesPage> {
  const { offset = 0, limit = ENTRIES_DEFAULT, cursor, from } = parameters;
  const places = PLACES.filter((name) => parameters[name] !== undefined);
  if (from !== undefined) assertByOffset(parameters);
  if (cursor !== undefined && cursor !== START) {
    assertNone(places, 'is not taken with a cursor, which says where the page is');
    return new ReadCursorQuery(selection, cursor, limit);
  }
  assertNone(places.slice(1), `is not taken with ${places[0]}`);
  const around = aroundOf(parameters, identity);
  if (cursor === undefined) {
    if (around) return new GetEntriesAroundQuery(selection, around, limit);
    return new GetEntriesQuery(from ? { ...selection, fromReplica: true } : selection, offset, limit);
  }
  assertNone(
    places.filter((name) => name === 'offset'),
    'is not taken with a cursor; aroundRank is',
  );
  return new OpenEntriesQuery(selection, around, limit);
}

function aroundOf(
  { aroundRank, aroundScore, aroundPlayer }: Partial<EntriesParameters>,
  identity: Identity,
): EntriesAround | null {
  if (aroundRank !== undefined) return { rank: aroundRank };
  if (aroundScore !== undefined) return { score: aroundScore };
  if (aroundPlayer === undefined) return null;
  const playerId = playerOf(aroundPlayer, identity, '?aroundPlayer');
  return { playerId, unlistedShown: unlistedShownTo(identity) };
}

/** A page around a place, or one of a cursor, is of the list as it is, or was held still. @throws VALIDATION_FAILED */
function assertByOffset(parameters: Partial<EntriesParameters>): void {
  const others = (['cursor', 'aroundRank', 'aroundScore', 'aroundPlayer'] as const).filter(
    (name) => parameters[name] !== undefined,
  );
  if (others.length > 0) assertNone(['from'], `is for pages by offset: it is not taken with ${others.join(', ')}`);
}

function assertNone(names: readonly string[], message: string): void {
  const faults = names.map((name): Fault => ({ pointer: `?${name}`, message }));
  if (faults.length > 0) throw validationFailed(faults);
}
