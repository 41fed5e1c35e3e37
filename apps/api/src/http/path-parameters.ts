import { faultOfNamedId, faultOfOpaqueId, LadderError, validationFailed } from '@laddercast/domain';
import type { Identity } from '@laddercast/identity';
import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';

/** A parameter of a path that is the id of a board or pool. */
export class NamedIdPipe implements PipeTransform<string, string> {
  transform(id: string, { data }: ArgumentMetadata): string {
    const fault = faultOfNamedId(id);
    if (fault) throw validationFailed([{ pointer: `{${data}}`, message: fault }]);
    return id;
  }
}

/** A parameter of a path that is an id that clients make. */
export class OpaqueIdPipe implements PipeTransform<string, string> {
  transform(id: string, { data }: ArgumentMetadata): string {
    const fault = faultOfOpaqueId(id);
    if (fault) throw validationFailed([{ pointer: `{${data}}`, message: fault }]);
    return id;
  }
}

/** The `{player}` of a path (or the parameter `pointer`), where `me` stands for the token's player. */
export function playerOf(pathPlayer: string, identity: Identity, pointer = '{player}'): string {
  if (pathPlayer === 'me') {
    if (identity.kind === 'player') return identity.playerId;
    if (identity.kind === 'key') {
      throw new LadderError('NOT_A_PLAYER', 'An API key is no player: name one by its id in place of "me".');
    }
    throw new LadderError('UNAUTHENTICATED', '"me" needs a player token.');
  }
  const fault = faultOfOpaqueId(pathPlayer);
  if (fault) throw validationFailed([{ pointer, message: fault }]);
  return pathPlayer;
}
