import {
  faultOfOpaqueId,
  LadderError,
  type BoardChanged,
  type EntryChanged,
  type FlagRaised,
  type GameRecorded,
  type PlayerChanged,
  type RatingChanged,
  type StandingsRevised,
  type RunRecorded,
  type WindowClosed,
} from '@laddercast/domain';
import { DeadLetterStore, type StoredDeadLetter } from '@laddercast/event-log';
import { RatingRepublisher, StateRepublisher, type EntriesWanted } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { ReplayDeadLetterCommand, type ReplayedLetter } from '../commands.js';
import { actorOf, assertAdmin } from '@laddercast/identity';
import { IntakeReplay } from '../intake/intake-replay.js';

/**
 * A letter holds an old state, and something newer may be committed by now. So the present state is sent, not the
 * letter, and replaying twice, or late, changes nothing.
 */
@CommandHandler(ReplayDeadLetterCommand)
export class ReplayDeadLetterHandler implements ICommandHandler<ReplayDeadLetterCommand> {
  constructor(
    private readonly letters: DeadLetterStore,
    private readonly present: StateRepublisher,
    private readonly ratings: RatingRepublisher,
    private readonly intake: IntakeReplay,
  ) {}

  async execute({ identity, letterId }: ReplayDeadLetterCommand): Promise<ReplayedLetter> {
    assertAdmin(identity);
    const letter = await this.letters.find(letterId);
    if (!letter) throw new LadderError('DEAD_LETTER_NOT_FOUND', `There is no dead letter "${letterId}".`);
    const { outcome, problem } = await this.replay(letter);
    const details = { outcome, ...(problem && { code: problem.code }) };
    await this.letters.noteReplay(letter, { actor: actorOf(identity), isSettled: outcome !== 'refused', details });
    return { id: String(letterId), outcome, ...(problem && { problem: problem.toProblem() }) };
  }

  private async replay(
    letter: StoredDeadLetter,
  ): Promise<{ outcome: ReplayedLetter['outcome']; problem?: LadderError }> {
    if (this.intake.isOfIntake(letter)) {
      // It was counted already. The id of a submission may be forgotten sooner than the letter: it is not taken again.
      if (letter.replayedAtMs !== null) return { outcome: 'replayed' };
      const problem = await this.intake.submit(letter);
      return problem ? { outcome: 'refused', problem } : { outcome: 'replayed' };
    }
    return { outcome: (await this.emit(letter)) ? 'replayed' : 'obsolete' };
  }

  /** Whether there was anything to send. */
  private async emit({ topic, key, lane, payload }: StoredDeadLetter): Promise<boolean> {
    const event = eventIn(payload);
    switch (topic) {
      case 'entry-changed': {
        const { isGuild, filledGeneration } = event as Partial<EntryChanged>;
        // A barrier only matters by its position, which has passed.
        if (key === '' || filledGeneration !== undefined) return false;
        const wanted = wantedOf(event);
        return (await (isGuild ? this.present.emitGuild(key, wanted) : this.present.emitPlayer(key, wanted))) > 0;
      }
      case 'player-changed':
        await this.present.emitName(key, (event as Partial<PlayerChanged>).isGuild === true);
        return true;
      case 'sanction-changed':
        await this.present.emitSanction(key);
        return true;
      case 'board-changed': {
        const boardUid = numberIn((event as Partial<BoardChanged>).boardUid) ?? numberIn(Number(key));
        return boardUid !== null && this.present.emitBoard(boardUid, lane);
      }
      case 'window-closed': {
        const windowUid = numberIn((event as Partial<WindowClosed>).windowUid);
        return windowUid !== null && this.present.emitWindow(windowUid, lane);
      }
      case 'standings-revised': {
        const windowUid = numberIn((event as Partial<StandingsRevised>).windowUid);
        return windowUid !== null && this.present.emitRevision(windowUid, lane);
      }
      case 'game-recorded': {
        const poolUid = numberIn((event as Partial<GameRecorded>).poolUid);
        return poolUid !== null && this.present.emitPool(poolUid, lane);
      }
      case 'rating-changed': {
        const { poolUid, playedAtMs } = event as Partial<RatingChanged>;
        const uid = numberIn(poolUid);
        return uid !== null && this.ratings.emit(uid, key, timesIn(playedAtMs));
      }
      case 'run-recorded': {
        const { boardUid, playerId, position } = event as Partial<RunRecorded>;
        const isRun = numberIn(boardUid) !== null && typeof playerId === 'string' && Number.isSafeInteger(position);
        return isRun && this.present.emitRun({ boardUid: boardUid!, playerId, position: position! });
      }
      case 'flag-raised': {
        const { flagId } = event as Partial<FlagRaised>;
        return typeof flagId === 'string' && this.present.emitFlag(flagId, lane);
      }
      default:
        return false;
    }
  }
}

/** A parsed payload that may be anything: its fields are checked one by one. */
function eventIn(payload: string): object {
  try {
    const event: unknown = JSON.parse(payload);
    return typeof event === 'object' && event !== null ? event : {};
  } catch {
    return {};
  }
}

/** If the event does not say which, every entry of the player is meant. */
function wantedOf(event: Partial<EntryChanged>): EntriesWanted {
  const changes: unknown = event.changes;
  const windowUids = Array.isArray(changes)
    ? changes.map((change: { windowUid?: unknown } | null) => numberIn(change?.windowUid))
    : [];
  const areKnown = windowUids.length > 0 && windowUids.every((uid) => uid !== null);
  const entryIds = Array.isArray(changes)
    ? changes.map((change: { entryId?: unknown } | null) => change?.entryId).filter(isOpaqueId)
    : [];
  return { boardUid: numberIn(event.boardUid), windowUids: areKnown ? (windowUids as number[]) : null, entryIds };
}

const isOpaqueId = (id: unknown): id is string => typeof id === 'string' && faultOfOpaqueId(id) === null;

const timesIn = (value: unknown): number[] =>
  Array.isArray(value) ? value.filter((ms): ms is number => Number.isSafeInteger(ms)) : [];

/** Numbers of boards, windows and pools. */
const numberIn = (value: unknown): number | null =>
  Number.isInteger(value) && Math.abs(value as number) < 2 ** 31 ? (value as number) : null;
