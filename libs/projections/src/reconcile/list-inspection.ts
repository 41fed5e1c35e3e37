import { fillingOf, type Layout } from '@laddercast/domain';
import { metrics } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { EntryComparison, type Compared, type ComparedWindow } from './entry-comparison.js';
import { RankInspection, type IndexPlace, type ShardInspection } from '../ranks/rank-inspection.js';
import type { RankList } from '../ranks/rank-projection.js';

/** What is told of each step: entries that were compared, or what else of a list was put right. */
export interface InspectionNews {
  compared?: Compared;
  strays?: number;
  values?: number;
  counters?: number;
}

const FIRST_PLACE: IndexPlace = { shard: 0, bucket: 0, scan: '0' };

/** Looks through one list: whom the index knows, what stands in the order, distinct values, counters. */
@Injectable()
export class ListInspection {
  constructor(
    @Inject(EntryComparison) private readonly comparison: Pick<EntryComparison, 'comparePlayers'>,
    private readonly inspection: RankInspection,
  ) {}

  /** The whole list, a bounded part at a time. */
  async *whole(window: ComparedWindow, list: RankList, madeAtMs: number): AsyncGenerator<InspectionNews> {
    for (let place: IndexPlace | null = FIRST_PLACE; place !== null;) {
      const { news, next } = await this.index(window, list, place);
      yield news;
      place = next;
    }
    for (let shard = 0; shard < list.shards; shard += 1) {
      for (const step of ['strays', 'values'] as const) {
        for (let from: number | null = 0; from !== null;) {
          const looked: ShardInspection = await this.shard(window, list, shard, step, from);
          yield { [step]: looked.repaired };
          from = looked.next;
        }
      }
      yield { counters: await this.counter(window, list, shard, madeAtMs) };
    }
  }

  /** A part of the list, chosen at random. */
  async *some(window: ComparedWindow, list: RankList, madeAtMs: number): AsyncGenerator<InspectionNews> {
    const place = this.inspection.somePlace(list);
    yield (await this.index(window, list, place)).news;
    const from = Math.floor(Math.random() * (await this.inspection.size(list, place.shard)));
    for (const step of ['strays', 'values'] as const) {
      yield { [step]: (await this.shard(window, list, place.shard, step, from)).repaired };
    }
    yield { counters: await this.counter(window, list, place.shard, madeAtMs) };
  }

  private async index(
    window: ComparedWindow,
    list: RankList,
    place: IndexPlace,
  ): Promise<{ news: InspectionNews; next: IndexPlace | null }> {
    const { playerIds, next } = await this.inspection.players(list, place);
    const isEmpty = playerIds.length === 0;
    return { news: isEmpty ? {} : { compared: await this.comparison.comparePlayers(window, list, playerIds) }, next };
  }

  private async shard(
    { keepUntilMs }: ComparedWindow,
    list: RankList,
    shard: number,
    step: 'strays' | 'values',
    from: number,
  ): Promise<ShardInspection> {
    const { inspection } = this;
    const looked =
      step === 'strays'
        ? await inspection.removeStrays(list, shard, from, keepUntilMs)
        : await inspection.restoreValues(list, shard, from);
    if (looked.repaired > 0) metrics.drift.inc({ kind: step === 'strays' ? 'stray' : 'value' }, looked.repaired);
    return looked;
  }

  private async counter(
    { keepUntilMs }: ComparedWindow,
    list: RankList,
    shard: number,
    madeAtMs: number,
  ): Promise<number> {
    if (!(await this.inspection.restoreCounter(list, shard, madeAtMs, keepUntilMs))) return 0;
    metrics.drift.inc({ kind: 'counter' });
    return 1;
  }
}

/** Before when a list of a generation has no counters, Unix ms. */
export const madeAtMsOf = (layout: Layout, scope: number, boardMadeAtMs: number): number =>
  fillingOf(layout, scope).openedAtMs ?? boardMadeAtMs;
