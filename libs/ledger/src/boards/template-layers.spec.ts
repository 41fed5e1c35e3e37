import { withBoardDefaults, type BoardDefinition, type GivenOptions } from '@laddercast/domain';
import { describe, expect, it } from 'vitest';
import { changedByHand, definitionOfLayers, differing, mergedOptions, withoutNamed } from './template-layers.js';

const LEAST = { order: 'asc', operator: 'best' };

describe('options laid over others', () => {
  it('are merged part by part, and replace everything that is no object', () => {
    const under = {
      push: { intervalMs: 100, top: 50 },
      windows: ['alltime', 'daily'],
      limits: { columns: { a: { min: 1 } } },
    };
    const over = { push: { top: 10 }, windows: ['weekly'], limits: { columns: { a: { max: 9 }, b: { min: 2 } } } };
    expect(mergedOptions(under, over)).toEqual({
      push: { intervalMs: 100, top: 10 },
      windows: ['weekly'],
      limits: { columns: { a: { min: 1, max: 9 }, b: { min: 2 } } },
    });
    expect(under.push).toEqual({ intervalMs: 100, top: 50 });
  });

  it('replace sharding as a whole: its parts mean nothing without each other', () => {
    const range = { sharding: { by: 'range', boundaries: [1] } };
    expect(mergedOptions({ sharding: { by: 'hash', count: 4 } }, range)).toEqual(range);
    // A column of that name is no sharding.
    const columns = (bounds: object): GivenOptions => ({ limits: { columns: { sharding: bounds } } });
    expect(mergedOptions(columns({ min: 1 }), columns({ max: 2 }))).toEqual(columns({ min: 1, max: 2 }));
  });

  it('mean the default of boards where they are null, and not what lies under them', () => {
    const under = { ...LEAST, push: { top: 10 }, limits: { entriesMax: 5, scoreMin: 1 }, history: { everyMinutes: 5 } };
    const made = definitionOfLayers(under, { push: null, limits: { entriesMax: null }, history: null });
    expect(made.push.top).toBe(100);
    expect(made.limits).toMatchObject({ entriesMax: null, scoreMin: 1 });
    expect(made.history).toBeNull();
    expect(definitionOfLayers({ ...LEAST, history: null }, { history: { everyMinutes: 5 } }).history).toEqual({
      everyMinutes: 5,
      keepDays: 90,
    });
  });

  it('are taken away by name, part by part, and leave no empty part', () => {
    const options = { push: { top: 1, intervalMs: 2 }, title: 'x', sharding: { by: 'hash', count: 2 }, history: null };
    expect(withoutNamed(options, { push: { top: 9 }, sharding: { count: 1 } })).toEqual({
      push: { intervalMs: 2 },
      title: 'x',
      history: null,
    });
    expect(withoutNamed(options, { push: { top: 9, intervalMs: 9 }, history: { keepDays: 1 } })).not.toHaveProperty(
      'push',
    );
    expect(withoutNamed(options, { push: null, title: null, history: { keepDays: 1 } })).toEqual({
      sharding: options.sharding,
    });
  });
});

describe('a board that is changed by hand', () => {
  const said: GivenOptions = { ...LEAST, title: 'T', push: { top: 50 }, history: { everyMinutes: 60, keepDays: 30 } };
  const base = definitionOfLayers(said);
  const changed = (
    from: BoardDefinition,
    change: Partial<BoardDefinition>,
    before: GivenOptions = {},
  ): GivenOptions => {
    const to = { ...from, ...change };
    const byHand = changedByHand(before, [from, to], base);
    // Whatever is remembered makes the board as it was put.
    expect(definitionOfLayers(said, byHand)).toEqual(to);
    return byHand;
  };

  it('remembers what differs from the template, and no more', () => {
    expect(changed(base, {})).toEqual({});
    expect(changed(base, { title: 'Own', push: { ...base.push, top: 60 } })).toEqual({
      title: 'Own',
      push: { top: 60 },
    });
    expect(changed(base, { title: null })).toEqual({ title: null });
    expect(changed(base, { history: null })).toEqual({ history: null });
    expect(changed(base, { sharding: { by: 'range', boundaries: [1, 2] } })).toEqual({
      sharding: { by: 'range', boundaries: [1, 2] },
    });
  });

  it('forgets what is put back as the template has it', () => {
    const before = changed(base, { title: 'Own', push: { intervalMs: 50, top: 60 } });
    const own = definitionOfLayers(said, before);
    expect(changed(own, { push: { ...own.push, top: 50 } }, before)).toEqual({
      title: 'Own',
      push: { intervalMs: 50 },
    });
    expect(changed(own, base, before)).toEqual({});
  });

  it('keeps a part whole that the template lacks', () => {
    const none = definitionOfLayers(LEAST);
    const first = { ...none, history: { everyMinutes: 60, keepDays: 45 } };
    const before = changedByHand({}, [none, first], none);
    expect(before).toEqual({ history: { everyMinutes: 60, keepDays: 45 } });
    const second = { ...none, history: { everyMinutes: 30, keepDays: 45 } };
    expect(changedByHand(before, [first, second], none)).toEqual({ history: { everyMinutes: 30, keepDays: 45 } });
    expect(changedByHand(before, [first, none], none)).toEqual({});
  });

  it.each(['a', 'constructor'])('takes over a column that is gone from the limits: %s', (name) => {
    const template = { ...LEAST, columns: [{ name, order: 'asc' }], limits: { columns: { [name]: { min: 1 } } } };
    const from = definitionOfLayers(template);
    const to = { ...from, limits: { ...from.limits, columns: {} } };
    const byHand = changedByHand({}, [from, to], from);
    expect(definitionOfLayers(template, byHand)).toEqual(to);
  });

  it('does not take what the template changed, and the board could not, for a change by hand', () => {
    // The template has another order by now, which the board with its entries did not take.
    const now = definitionOfLayers({ ...said, order: 'desc' });
    const to = { ...base, title: 'Own' };
    expect(changedByHand({}, [base, to], now)).toEqual({ title: 'Own' });
  });

  it('differs by name', () => {
    const other = withBoardDefaults({ order: 'desc', operator: 'best', push: { top: 7 } });
    expect(differing(withBoardDefaults({ order: 'asc', operator: 'best' }), other)).toEqual({
      order: 'desc',
      push: { top: 7 },
    });
  });
});
