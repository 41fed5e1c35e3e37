import { SignJWT } from 'jose';

const LIFE_SECONDS = 3600;

/** A token that the service takes for this player's. */
export function playerToken(jwtSecret: string, playerId: string): Promise<string> {
  return new SignJWT({})
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(playerId)
    .setExpirationTime(`${LIFE_SECONDS}s`)
    .sign(new TextEncoder().encode(jwtSecret));
}
