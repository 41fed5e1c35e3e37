import type { IncomingMessage } from 'node:http';
import { malformedCredentials } from '@laddercast/identity';

const TOKEN_SUBPROTOCOL = 'bearer.';

/** The token that a client connects with: from the header, the subprotocol or the query; null: none. @throws UNAUTHENTICATED */
export function tokenOf({ headers, url }: IncomingMessage): string | null {
  if (headers.authorization !== undefined) {
    const [, token] = /^Bearer +(\S+) *$/i.exec(headers.authorization) ?? [];
    if (!token) throw malformedCredentials('The Authorization header must be "Bearer <token>".');
    return token;
  }
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((protocol) => protocol.trim());
  const pair = offered.find((protocol) => protocol.startsWith(TOKEN_SUBPROTOCOL));
  return pair?.slice(TOKEN_SUBPROTOCOL.length) ?? new URL(url ?? '', 'ws://live').searchParams.get('token');
}
