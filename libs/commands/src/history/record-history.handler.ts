import { EntryHistory, Lanes, type HistoryPoint } from '@laddercast/ledger';
import { monotonicMs } from '@laddercast/platform';
import { RankProjection } from '@laddercast/projections';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { RecordHistoryCommand, type StateToRecord } from '../commands.js';
import { HistoryRanks } from './history-ranks.js';

const MINUTE_MS = 60_000;
/** A state that was achieved just before it was written is new: it is of a submission. */
const SUBMITTED_WITHIN_MS = 1000;
const DAY_MS = 86_400_000;

@CommandHandler(RecordHistoryCommand)
export class RecordHistoryHandler implements ICommandHandler<RecordHistoryCommand> {
  private readonly ranks: HistoryRanks;

  constructor(
    private readonly history: EntryHistory,
    projection: RankProjection,
    lanes: Lanes,
  ) {
    this.ranks = new HistoryRanks(projection, lanes);
  }

  async execute({ lane, states }: RecordHistoryCommand): Promise<void> {
    const nowMs = await this.history.nowMs();
    const readAtMs = monotonicMs();
    const inTime = states.filter(({ board, atMs }) => atMs >= nowMs - board.definition.history!.keepDays * DAY_MS);
    const kept = await this.untold(await this.withShadowed(inTime));
    const asked = kept.filter((state) => isRankable(state, nowMs));
    const ranked = await this.ranks.of(lane, asked);
    const rankedAtMs = Math.floor(nowMs + monotonicMs() - readAtMs);
    await this.history.record(
      kept.map((state): HistoryPoint => {
        const { board: _board, own: _own, achievedAtMs: _achievedAtMs, ...recorded } = state;
        const found = ranked.get(state);
        return { ...recorded, ranked: found ? { ...found, rankedAtMs } : null };
      }),
    );
  }

  /** Shadowed players have states, of which the log says nothing: they read them, and everybody does after a lift. */
  private async withShadowed(states: readonly StateToRecord[]): Promise<StateToRecord[]> {
    const without = states.filter(({ score }) => score === null);
    const found = new Map((await this.history.ofShadowed(without)).map((entry, at) => [without[at], entry]));
    return states.flatMap((state) => {
      const entry = found.get(state);
      if (entry === 'changed since') return [];
      if (!entry) return [state];
      const { score, columns, achievedAtMs } = entry;
      return [{ ...state, score, columns, achievedAtMs, own: entry }];
    });
  }

  /** Without those that came again unchanged: a point would tell a player when it was shadowed, or a shadow was lifted. */
  private async untold(states: readonly StateToRecord[]): Promise<StateToRecord[]> {
    const again = states.filter(
      ({ achievedAtMs, atMs }) => achievedAtMs !== null && achievedAtMs < atMs - SUBMITTED_WITHIN_MS,
    );
    const told = await this.history.told(again);
    return states.filter((state) => !told.has(state));
  }
}

/** A removal has no rank, and for a state of an earlier stretch the rank of that time cannot be read any more. */
const isRankable = ({ score, atMs, board }: StateToRecord, nowMs: number): boolean =>
  score !== null && nowMs - atMs <= board.definition.history!.everyMinutes * MINUTE_MS;
