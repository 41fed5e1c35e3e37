import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pageModule } from './page-module.js';

interface Present {
  name: string;
  seconds: number;
  asOf: string | null;
  isOld: boolean;
}
interface Freshness {
  present: Present;
  connection(name: string): void;
  heard(text: string): void;
  listed(asOf: string): void;
  forget(): void;
}
interface FreshnessModule {
  Freshness: new (options: {
    clock: { now(): number };
    now?: () => number;
    onChange(present: Present): void;
  }) => Freshness;
}

const { Freshness } = await pageModule<FreshnessModule>('state/freshness.js');

const START = Date.parse('2026-11-20T12:00:00.000Z');
const iso = (seconds: number) => new Date(START + seconds * 1000).toISOString();
const ping = (seconds: number) => JSON.stringify({ type: 'ping', asOf: iso(seconds) });

let told: Present[];
let freshness: Freshness;

beforeEach(() => {
  vi.useFakeTimers({ now: START });
  told = [];
  freshness = new Freshness({ clock: { now: Date.now }, now: Date.now, onChange: (present) => told.push(present) });
  freshness.connection('live');
});
afterEach(() => {
  freshness.connection('stopped');
  vi.useRealTimers();
});

describe('whether the live page is of now', () => {
  it('is live while pings come, however quiet the board', async () => {
    freshness.listed(iso(-3600));
    for (let second = 0; second < 60; second += 5) {
      freshness.heard(ping(second));
      await vi.advanceTimersByTimeAsync(5000);
    }
    expect(new Set(told.map(({ name }) => name))).toEqual(new Set(['live']));
    expect(told.at(-1)!.isOld).toBe(false);
    expect(freshness.present.asOf).toBe(iso(55));
  });

  it('says that nothing was heard, counts the seconds, and takes it back with the next frame', async () => {
    freshness.heard(ping(0));
    await vi.advanceTimersByTimeAsync(11_000);
    expect(told.at(-1)).toMatchObject({ name: 'live', isOld: false });
    await vi.advanceTimersByTimeAsync(3000);
    expect(told.at(-1)).toMatchObject({ name: 'quiet', seconds: 14, isOld: true, asOf: iso(0) });
    freshness.heard('{"type":"delta","id":"1"}');
    expect(freshness.present).toMatchObject({ name: 'live', isOld: false });
  });

  it('says so also of a connection that has not answered at all', async () => {
    await vi.advanceTimersByTimeAsync(13_000);
    expect(told.at(-1)).toMatchObject({ name: 'quiet', seconds: 13 });
  });

  it('takes a service that sends no pings as quiet, not as gone', async () => {
    freshness.heard('{"type":"snapshot","id":"1"}');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(told.at(-1)).toMatchObject({ name: 'live', isOld: false });
  });

  it('says that the service is behind when what it knows is of long ago', async () => {
    for (let second = 0; second <= 40; second += 5) {
      freshness.heard(ping(Math.min(second, 10)));
      await vi.advanceTimersByTimeAsync(5000);
    }
    expect(freshness.present).toMatchObject({ name: 'behind', isOld: true, asOf: iso(10) });
    expect(freshness.present.seconds).toBeGreaterThanOrEqual(25);
    freshness.heard(ping(45));
    expect(freshness.present).toMatchObject({ name: 'live', isOld: false });
  });

  it('dims the rows some seconds after a connection was lost', async () => {
    freshness.heard(ping(0));
    freshness.connection('reconnecting');
    await vi.advanceTimersByTimeAsync(3000);
    expect(told.at(-1)).toMatchObject({ name: 'reconnecting', isOld: false });
    await vi.advanceTimersByTimeAsync(6000);
    expect(told.at(-1)).toMatchObject({ name: 'reconnecting', isOld: true });
  });

  it('never goes back in time, and forgets a list that is left', () => {
    freshness.listed(iso(20));
    freshness.listed(iso(10));
    expect(freshness.present.asOf).toBe(iso(20));
    freshness.forget();
    expect(freshness.present.asOf).toBeNull();
  });
});
