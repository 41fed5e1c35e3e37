// Real: nothing outside the process. The list underneath changes between two readings, as a projection does.
import {
  RankReadings,
  type PageReading,
  type PlayerReading,
  type ProjectedEntry,
  type RankList,
  type Reading,
} from '@laddercast/projections';
import { describe, expect, it } from 'vitest';
import { RanksOfPlayer } from './ranks-of-player.js';

const LIST = {
  ordering: { order: 'desc', operator: 'best', tiebreak: 'earliest', columns: [] },
} as unknown as RankList;
const OWN = { playerId: 'ada', score: 5, columns: [], achievedAtMs: 1, version: 7 };

/** A list with or without ada, which is another at each reading that the test names. */
class ChangingRanks extends RankReadings {
  readings = 0;

  /** @param hasAda whether the list has ada at each of the readings in turn; the last holds from there on */
  constructor(private readonly hasAda: readonly boolean[]) {
    super();
  }

  override async page(_list: RankList, offset: number, limit: number): Promise<PageReading> {
    const { rows, reading } = this.next();
    return { ...reading, entries: rows.slice(offset, offset + limit) };
  }

  override async lookup(_list: RankList, ids: readonly string[]) {
    const { rows, reading } = this.next();
    return { ...reading, entries: ids.map((id) => rows.find(({ playerId }) => playerId === id) ?? null) };
  }

  override async total(): Promise<Reading> {
    return this.next().reading;
  }

  override player(): Promise<PlayerReading> {
    return Promise.reject(new Error('not asked for here'));
  }

  override rankOfKey(): Promise<Reading & { rank: number }> {
    return Promise.reject(new Error('not asked for here'));
  }

  private next(): { rows: ProjectedEntry[]; reading: Reading } {
    const at = Math.min(this.readings, this.hasAda.length - 1);
    this.readings += 1;
    const scores = { bob: 9, ...(this.hasAda[at] && { ada: 5 }), cy: 3 };
    const rows = Object.entries(scores).map(([playerId, score], index) => ({
      ...{ rank: index + 1, playerId, score, columns: [], achievedAtMs: 1 },
    }));
    return { rows, reading: { total: rows.length, listVersion: at } };
  }
}

describe('the list of a player that others may not see in it', () => {
  it.each([
    ['has it', [true]],
    ['does not have it', [false]],
    ['loses it between the look and the reading', [true, false]],
    ['gets it between the look and the reading', [false, true]],
  ])('shows the player once where the list underneath %s', async (_, hasAda) => {
    const page = await new RanksOfPlayer(new ChangingRanks(hasAda), [OWN]).page(LIST, 0, 10, 'ordinal');
    expect(page.entries.map(({ rank, playerId }) => `${rank} ${playerId}`)).toEqual(['1 bob', '2 ada', '3 cy']);
    expect(page.total).toBe(3);
  });
});
