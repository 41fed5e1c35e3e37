import { LadderError } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';

/**
 * Knows in which session with the store changes were applied, so that a lane's mark never vouches for changes that went
 * to a server which is no longer there. One in each process, shared by the handlers that apply and that mark.
 */
@Injectable()
export class AppliedSessions {
  private applied = 0;
  private session: number | null = null;
  /** How many of the changes applied belong to sessions before the present one. */
  private appliedBefore = 0;
  private readonly appliedAtMark = new Map<number, number>();

  /** Called before changes are applied. */
  note(session: number): void {
    this.enter(session);
    this.applied += 1;
  }

  /**
   * The session of all changes since the lane's last mark.
   * @throws PROJECTION_UNAVAILABLE once when they were spread over several: the batch must be applied again, whole
   */
  ofLane(lane: number, session: number): number {
    this.enter(session);
    const isSpread = (this.appliedAtMark.get(lane) ?? 0) < this.appliedBefore;
    this.appliedAtMark.set(lane, this.applied);
    if (isSpread) {
      throw new LadderError(
        'PROJECTION_UNAVAILABLE',
        `The connection to the ranks was replaced while changes of lane ${lane} were applied: apply them again.`,
      );
    }
    return session;
  }

  private enter(session: number): void {
    if (this.session !== null && session !== this.session) this.appliedBefore = this.applied;
    this.session = session;
  }
}
