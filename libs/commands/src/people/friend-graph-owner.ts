import { LadderError } from '@laddercast/domain';
import type { FriendGraph } from '@laddercast/extension';

/** Where friends and follows are kept: here, or in a graph that a team has put in place of the service's own. */
export class FriendGraphOwner {
  constructor(
    private readonly ours: FriendGraph,
    /** The team's graph, null when there is none. */
    readonly others: () => FriendGraph | null,
  ) {}

  /** The graph that everything is read from. */
  get graph(): FriendGraph {
    return this.others() ?? this.ours;
  }

  /** @throws NOT_SUPPORTED when what would be written here is read from elsewhere */
  assertOurs(): void {
    const graph = this.others();
    if (graph === null) return;
    const detail = `Friends and follows come from ${graph.constructor.name} here; change them there.`;
    throw new LadderError('NOT_SUPPORTED', detail, { option: 'FriendGraph' });
  }
}
