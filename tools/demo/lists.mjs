import { tableOf } from './matches.mjs';
import { guildIdOf, nations } from './nations.mjs';

/**
 * Every list that the board must show after these matches, with its table:
 * `[{ what, tables: [{ list: { window?, scope? }, table }] }]`.
 */
export function listsOf(matches, decades) {
  const table = tableOf(matches);
  const scoped = (kind, valueOf) => {
    const values = [
      ...new Set(
        table
          .map(({ playerId }) => nations.get(playerId))
          .filter(Boolean)
          .map(valueOf),
      ),
    ];
    return values.map((value) => ({
      list: { scope: `${kind}:${value}` },
      table: reranked(
        table.filter(({ playerId }) => nations.has(playerId) && valueOf(nations.get(playerId)) === value),
      ),
    }));
  };
  const ofDecade = ({ window, firstRow, lastRow }) => ({
    list: { window },
    table: tableOf(matches.filter(({ row }) => firstRow <= row && row <= lastRow)),
  });
  return [
    { what: 'nations', tables: [{ list: {}, table }] },
    { what: 'continents', tables: scoped('region', ({ continent }) => continent) },
    { what: 'parts of continents', tables: scoped('guild', ({ part }) => guildIdOf(part)) },
    { what: 'decades', tables: decades.map(ofDecade) },
  ];
}

const reranked = (rows) => rows.map((row, index) => ({ ...row, rank: index + 1 }));
