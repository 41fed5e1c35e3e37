import { LadderError } from '@laddercast/domain';
import { Extensions, type FriendGraph } from '@laddercast/extension';
import { PostgresFriendGraph } from '@laddercast/ledger';
import { Inject, Injectable } from '@nestjs/common';

/** Where friends and follows are kept: here, or in a graph that a team has put in place of the service's own. */
@Injectable()
export class FriendGraphOwner {
  constructor(
    @Inject(PostgresFriendGraph) private readonly ours: FriendGraph,
    private readonly extensions: Extensions,
  ) {}

  /** The team's graph, null when there is none. */
  get theirs(): FriendGraph | null {
    return this.extensions.friendGraph;
  }

  /** The graph that everything is read from. */
  get graph(): FriendGraph {
    return this.theirs ?? this.ours;
  }

  /** @throws NOT_SUPPORTED when a team's graph is read instead of what would be written here */
  assertOurs(): void {
    const graph = this.theirs;
    if (graph === null) return;
    const detail = `Friends and follows come from ${graph.constructor.name} here; change them there.`;
    throw new LadderError('NOT_SUPPORTED', detail, { option: 'FriendGraph' });
  }
}
