import { FriendGraphOwner } from '@laddercast/commands';
import { CIRCLE_ENTRIES_MAX, LadderError } from '@laddercast/domain';
import { Circles } from '@laddercast/ledger';
import { inTime, monotonicMs, sleep } from '@laddercast/platform';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { CircleName } from '../queries.js';

/** A change of a circle shows within this time. */
const REMEMBERED_MS = 1000;
/** The most ids remembered, over all circles: some 30 MB with long ones. The circle asked for longest ago goes first. */
const REMEMBERED_IDS_MAX = 200_000;
/** Where a circle is remembered, a graph that takes longer is not waited for. */
const WAITED_FOR_MS = 500;
/** A graph that says nothing for so long is away. */
const ANSWER_WITHIN_MS = 5000;

interface Remembered {
  ids: readonly string[];
  untilMs: number;
}

/**
 * Who is in a circle, by one keyed query, remembered for a second. While the graph is away, what is remembered is used,
 * however old.
 */
@Injectable()
export class CircleMembers {
  private readonly remembered = new LRUCache<string, Remembered>({
    maxSize: REMEMBERED_IDS_MAX,
    sizeCalculation: ({ ids }) => ids.length + 1,
  });
  private readonly looking = new Map<string, Promise<readonly string[]>>();
  private readonly log = new Logger(CircleMembers.name);
  private said = '';

  constructor(
    @Inject(FriendGraphOwner) private readonly owner: Pick<FriendGraphOwner, 'graph'>,
    @Inject(Circles) private readonly circles: Pick<Circles, 'membersOf'>,
  ) {}

  /**
   * The circle's players, each once, at most 501: of friends and follows the player is the first.
   * @throws CIRCLE_NOT_FOUND, LEDGER_UNAVAILABLE
   */
  async of(circle: CircleName): Promise<readonly string[]> {
    const ids = await this.idsOf(circle);
    if (circle.kind === 'circle' && ids.length === 0) throw circleNotFound(circle.circleId);
    return ids;
  }

  private async idsOf(circle: CircleName): Promise<readonly string[]> {
    const key = keyOf(circle);
    const known = this.remembered.get(key);
    if (known && known.untilMs > monotonicMs()) return known.ids;
    // All who ask for one circle at the same time share one look.
    const looking = this.looking.get(key) ?? this.look(circle, key).finally(() => this.looking.delete(key));
    this.looking.set(key, looking);
    if (!known) return looking;
    const answered = await Promise.race([looking.catch(() => null), sleep(WAITED_FOR_MS).then(() => null)]);
    return answered ?? known.ids;
  }

  private async look(circle: CircleName, key: string): Promise<readonly string[]> {
    try {
      const found = await answerInTime(this.ask(circle));
      this.remembered.set(key, { ids: found, untilMs: monotonicMs() + REMEMBERED_MS });
      this.said = '';
      return found;
    } catch (error) {
      this.say((error as LadderError).cause);
      throw error;
    }
  }

  /** Each new kind of failure once: reads go on, and may be many. */
  private say(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (message !== this.said) this.log.warn(`Circles cannot be read: ${message}`);
    this.said = message;
  }

  private async ask(circle: CircleName): Promise<string[]> {
    if (circle.kind === 'circle') return (await this.circles.membersOf(circle.circleId)).map(({ id }) => id);
    const { kind, playerId } = circle;
    const others = await (kind === 'friends'
      ? this.owner.graph.friendsOf(playerId)
      : this.owner.graph.followedBy(playerId));
    return [...new Set([playerId, ...others])].slice(0, CIRCLE_ENTRIES_MAX);
  }
}

const keyOf = (circle: CircleName): string =>
  `${circle.kind} ${circle.kind === 'circle' ? circle.circleId : circle.playerId}`;

export const circleNotFound = (circleId: string): LadderError =>
  new LadderError('CIRCLE_NOT_FOUND', `There is no circle "${circleId}"; one is there as long as it has members.`);

/**
 * What a graph answers, which may be a team's and fail in any way.
 * @throws LEDGER_UNAVAILABLE, with the failure as its cause
 */
export async function answerInTime<T>(asked: Promise<T>): Promise<T> {
  try {
    return await inTime(asked, ANSWER_WITHIN_MS, `no answer within ${ANSWER_WITHIN_MS} ms`);
  } catch (error) {
    const detail = 'Who is in the circle cannot be read now; try again shortly.';
    throw new LadderError('LEDGER_UNAVAILABLE', detail, { retryAfterSeconds: 2 }, { cause: error });
  }
}
