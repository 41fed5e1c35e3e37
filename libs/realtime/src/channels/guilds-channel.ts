import { InSchema, MayBeAbsent } from '@laddercast/commands';
import { ArrayMaxSize, IsIn } from 'class-validator';
import type { ChannelKind } from './channel-kind.js';
import { TopMessage } from './top-channel.js';

class GuildsMessage extends TopMessage {
  @MayBeAbsent()
  @IsIn(['global'], { message: 'scope must be global: guilds are ranked over all players' })
  @InSchema({ description: 'Guilds are ranked over all players' })
  override scope?: string;

  @MayBeAbsent()
  @ArrayMaxSize(0, { message: 'must name nothing: guilds have no faces' })
  @InSchema({ description: 'Guilds have no faces', maxItems: 0 })
  override fields?: [];

  override isOfGuilds(): boolean {
    return true;
  }
}

export const guildsChannel: ChannelKind = { message: GuildsMessage, description: 'The first guilds' };
