import { parseBoardDefinition, parseTimestamp } from '@laddercast/commands';
import type { BoardDefinition } from '@laddercast/domain';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { BOARD_DEFINITION_SCHEMA, BOARD_SCHEMA } from './board-schemas.js';

describe('the JSON Schema of a validated class', () => {
  const formats = { timestamp: (text: string) => parseTimestamp(text) !== null };
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, formats });
  const validate = ajv.compile(BOARD_DEFINITION_SCHEMA);
  const validateAnswer = ajv.compile(BOARD_SCHEMA);
  const board = { order: 'desc', operator: 'best' };
  const accepted: Record<string, object> = {
    'the least': board,
    'all there is': {
      ...board,
      id: 'blitz',
      template: 'eu4',
      title: 'Ranked blitz',
      tiebreak: 'latest',
      columns: [{ name: 'moves', order: 'asc' }],
      rankStyle: 'dense',
      dense: false,
      windows: [
        'alltime',
        'daily',
        { season: 's1', startsAt: '2026-01-01T00:00:00Z', endsAt: '2026-12-01T00:00:00+01:00', freezeAt: null },
        { rolling: '24h' },
        { cron: '0 18 * * 5' },
      ],
      timeZone: 'Europe/Berlin',
      scopes: ['global', 'region', 'guild', { attribute: 'country' }],
      snapshot: { top: 10, keepEveryMinutes: 5, keepDays: null },
      retention: { standingsDays: 30 },
      guildAggregate: { kind: 'top', k: 3, onLeave: 'keep' },
      sharding: { by: 'hash', count: 1 },
      limits: { scoreMin: 0, scoreMax: null },
      graceSeconds: 0,
      keepEndedSeconds: 1,
      push: { intervalMs: 100, top: 10 },
      history: { everyMinutes: 5, keepDays: 1 },
      change: true,
      format: { kind: 'time', decimals: 3, unit: 's' },
      submitters: 'players',
      submissionOperators: null,
      clientTime: true,
      integrity: {
        jump: { factor: 2.5, runsMin: 3 },
        rate: { runs: 2, seconds: 1 },
        cluster: { players: 3, minutes: 1440 },
        rules: ['replay-hash'],
        holdAbove: -1.5,
      },
      visibility: 'private',
      runs: { keepDays: 31 },
      entriesPer: 'player',
      entriesPerPlayerMax: null,
      proof: 'everyone',
      counts: 'verified',
      decay: null,
    } satisfies Record<keyof BoardDefinition | 'id' | 'template', unknown>,
    ranges: { ...board, sharding: { by: 'range', boundaries: [-1.5, 0, 1000] } },
    nulls: { ...board, title: null, tiebreak: null, columns: null, sharding: null, push: { top: null } },
  };
  const refused: Record<string, object> = {
    'no order': { operator: 'best' },
    'an unknown order': { ...board, order: 'up' },
    'an unknown field': { ...board, colour: 'red' },
    'a field of every object': { ...board, constructor: 1 },
    'an unknown field inside': { ...board, push: { every: 1 } },
    'a title that is a number': { ...board, title: 5 },
    'a title that is too long': { ...board, title: 'x'.repeat(201) },
    'five columns': { ...board, columns: ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, order: 'asc' })) },
    'a column without order': { ...board, columns: [{ name: 'a' }] },
    'a column that is null': { ...board, columns: [null] },
    'a column that is an array': { ...board, columns: [[]] },
    'an array of columns as a column': { ...board, columns: [[{ name: 'a', order: 'asc' }]] },
    'an id that is none': { ...board, id: 'Blitz!' },
    'a template that is none': { ...board, template: 'EU4' },
    'a column name with a space': { ...board, columns: [{ name: 'a b', order: 'asc' }] },
    'no windows': { ...board, windows: [] },
    'a window twice': { ...board, windows: ['daily', 'daily'] },
    'a window of no kind': { ...board, windows: ['hourly'] },
    'half a season': { ...board, windows: [{ season: 's1', startsAt: '2026-01-01T00:00:00Z' }] },
    'a season in words': { ...board, windows: [{ season: 's1', startsAt: 'now', endsAt: 'later' }] },
    'rolling days': { ...board, windows: [{ rolling: '7d' }] },
    'a scope of no kind': { ...board, scopes: ['global', 'country'] },
    'an attribute that is none': { ...board, scopes: ['global', { attribute: 'Country' }] },
    'a freeze that is of no season': { ...board, windows: [{ rolling: '24h', freezeAt: '2026-01-01T00:00:00Z' }] },
    'windows that are no array': { ...board, windows: 'daily' },
    'no shards': { ...board, sharding: { by: 'hash', count: 0 } },
    'shards without a count': { ...board, sharding: { by: 'hash' } },
    'ranges without boundaries': { ...board, sharding: { by: 'range' } },
    'ranges of no boundary': { ...board, sharding: { by: 'range', boundaries: [] } },
    'ranges that are counted': { ...board, sharding: { by: 'range', boundaries: [1], count: 2 } },
    'half a shard': { ...board, sharding: { by: 'hash', count: 1.5 } },
    'a limit that is text': { ...board, limits: { scoreMin: '1' } },
    'a grace before the end': { ...board, graceSeconds: -1 },
    'a push that is too fast': { ...board, push: { intervalMs: 1 } },
    'a push that is an array': { ...board, push: [] },
    'a style that is none': { ...board, rankStyle: 'olympic' },
    'a yes that is text': { ...board, clientTime: 'true' },
  };

  it.each(Object.entries(accepted))('lets a board with %s through, as the check does', (_name, body) => {
    const definition = parseBoardDefinition(body, 'blitz', 'eu4');
    expect(validate(body), JSON.stringify(validate.errors)).toBe(true);
    expect(validateAnswer({ id: 'blitz', template: 'eu4', ...definition }), JSON.stringify(validateAnswer.errors)).toBe(
      true,
    );
  });

  it.each(Object.entries(refused))('refuses a board with %s, as the check does', (_name, body) => {
    expect(() => parseBoardDefinition(body, 'blitz')).toThrow('VALIDATION_FAILED');
    expect(validate(body)).toBe(false);
  });
});
