import { MayBeAbsent } from '@laddercast/commands';
import { seesUnlisted, type Identity } from '@laddercast/identity';
import { IsInt, Max, Min } from 'class-validator';
import { ChannelMessage, IsPlayerId } from '../protocol/client-messages.js';
import type { ChannelKind } from './channel-kind.js';
import { EstimatedPlayerRows } from './estimated-player-rows.js';
import { PlayerRows, type PlayerWatch } from './player-rows.js';

const AROUND_MAX = 25;
const AROUND_DEFAULT = 5;

type Asked = Pick<PlayerWatch, 'playerId' | 'around'>;

class PlayerMessage extends ChannelMessage<Asked> {
  @IsPlayerId()
  playerId!: string;

  @MayBeAbsent()
  @IsInt()
  @Min(0)
  @Max(AROUND_MAX)
  around: number = AROUND_DEFAULT;

  override asked(): Asked {
    return { playerId: this.playerId, around: this.around };
  }

  /** It is the player itself, or a key that reads. */
  override seesUnlisted(identity: Identity): boolean {
    return seesUnlisted(identity, this.playerId);
  }
}

/** A player and the rows around; only the player, estimated, when no more can be exact. */
export const playerChannel: ChannelKind<Asked> = {
  message: PlayerMessage,
  description: 'A player and the rows around',
  rows: ({ details, estimates, channels, estimatedPlayers }) => [
    { reader: new PlayerRows(details), budget: channels },
    { reader: new EstimatedPlayerRows(estimates, details), budget: estimatedPlayers },
  ],
};
