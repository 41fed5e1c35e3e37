import type { RankedEntry } from '@laddercast/domain';
import type { ResolvedList } from '@laddercast/queries';
import { describe, expect, it } from 'vitest';
import type { LiveSubscription } from '../connection/live-subscription.js';
import type { SharedFrame } from '../protocol/shared-frame.js';
import { WatchBudget } from './watch-budget.js';
import type { StyledWatch } from './watched-channel.js';
import { WatchedRows, type RowsReader, type WatchedList } from './watched-rows.js';

const WATCH: StyledWatch = { style: 'ordinal', withPlayers: false };

const row = (playerId: string, rank: number): RankedEntry => ({
  ...{ rank, playerId, displayName: null, score: 10 - rank, columns: {} },
  ...{ achievedAt: '2026-11-20T12:00:00.000Z', metadata: null },
});

/** Numbers that are answered when the test says so, some in one moment. */
class Numbers {
  private readonly asked: ((seq: number) => void)[] = [];
  private last = 0;

  take(): Promise<number> {
    return new Promise((resolve) => this.asked.push(resolve));
  }

  get waiting(): number {
    return this.asked.length;
  }

  answerAll(): void {
    for (const answer of this.asked.splice(0)) answer((this.last += 1));
  }
}

/** A subscriber that keeps a list by the contract's rule: a snapshot replaces, and what is old is dropped. */
class Reader {
  seq = -1;
  total = 0;
  readonly subscription: LiveSubscription;

  constructor(heardSeq: number) {
    const take = (frame: SharedFrame): void => this.take(frame);
    this.subscription = {
      ...{ heardSeq, ownPlayer: null, worldOf: null, channel: null, socket: { party: null } },
      ...{ sendSnapshot: take, sendDelta: take, style: 'ordinal' },
    } as unknown as LiveSubscription;
  }

  private take(frame: SharedFrame): void {
    const bytes = frame.forId('1');
    const text = bytes.toString('utf8', bytes.indexOf('{'));
    const { type, seq, total } = JSON.parse(text) as { type: string; seq: number; total: number };
    if (type === 'delta' && seq <= this.seq) return;
    [this.seq, this.total] = [seq, total];
  }
}

describe('watched rows', () => {
  it('lose no news for who joins while they get a number', async () => {
    const numbers = new Numbers();
    const list = {
      ...{ resolved: { edition: null, list: { ordering: { tiebreak: 'earliest' } } } as ResolvedList, isHeld: false },
      seq: 1,
      takeNumber: () => numbers.take(),
    } satisfies WatchedList;
    let entries = [row('ada', 1)];
    const reader: RowsReader<StyledWatch> = {
      atOnce: 10,
      keyOf: () => 'rows',
      read: () => Promise.resolve([{ total: entries.length, entries, hidden: new Set() }]),
    };
    const rows = new WatchedRows<StyledWatch>(list, reader, new WatchBudget(Infinity, 'channels'));
    const asked = (count: number): Promise<void> => expect.poll(() => numbers.waiting).toBe(count);

    const first = new Reader(0);
    const joined = rows.join(first.subscription, WATCH, () => true);
    await asked(1);
    numbers.answerAll();
    await joined;
    // The list gets a row, and while that has no number yet somebody joins who has heard greater ones.
    entries = [row('ada', 1), row('bob', 2)];
    list.seq = 2;
    void rows.refresh();
    await asked(1);
    const second = new Reader(1_000);
    const joinedToo = rows.join(second.subscription, WATCH, () => true);
    await asked(2);
    numbers.answerAll();
    await joinedToo;
    await expect.poll(() => (numbers.answerAll(), [first.total, second.total])).toEqual([2, 2]);
  });

  it('miss no tick that comes just as a reading ends', async () => {
    const missed: number[] = [];
    for (let turns = 0; turns < 40; turns += 1) {
      let total = 1;
      const list = {
        ...{ resolved: { edition: null, list: { ordering: { tiebreak: 'earliest' } } } as ResolvedList, isHeld: false },
        seq: 1,
        takeNumber: (above: number) => Promise.resolve(above + 1),
      };
      let held: Promise<void> | null = null;
      const reader: RowsReader<StyledWatch> = {
        atOnce: 10,
        keyOf: () => 'rows',
        read: async () => {
          await held;
          return [{ total, entries: [row('ada', 1)], hidden: new Set() }];
        },
      };
      const rows = new WatchedRows<StyledWatch>(list, reader, new WatchBudget(Infinity, 'channels'));
      const tick = (): void => {
        [total, list.seq] = [total + 1, list.seq + 1];
        void rows.refresh();
      };
      const watcher = new Reader(0);
      await rows.join(watcher.subscription, WATCH, () => true);
      let letGo = (): void => undefined;
      held = new Promise((resolve) => (letGo = resolve));
      tick();
      letGo();
      for (let turn = 0; turn < turns; turn += 1) await null;
      tick();
      await new Promise((resolve) => setImmediate(resolve));
      if (watcher.total !== 3) missed.push(turns);
    }
    expect(missed).toEqual([]);
  });
});
