import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTHeaderParameters } from 'jose';

/** A key pair of an issuer. */
export interface IssuerKey {
  kid: string;
  algorithm: string;
  privateKey: CryptoKey;
  /** As it stands in the key set. */
  jwk: JWK;
}

export async function newKey(algorithm: 'RS256' | 'ES256', kid: string): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: 'sig' };
  return { kid, algorithm, privateKey, jwk };
}

/** A token of the issuer for a player; `claims` replace what is usual, undefined takes it away. */
export function sign(key: IssuerKey, claims: object = {}, header: object = {}): Promise<string> {
  const usual = { sub: 'ada', exp: Math.floor(Date.now() / 1000) + 60 };
  const given = JSON.parse(JSON.stringify({ ...usual, ...claims })) as Record<string, unknown>;
  const named = { alg: key.algorithm, kid: key.kid, ...header };
  return new SignJWT(given)
    .setProtectedHeader(JSON.parse(JSON.stringify(named)) as JWTHeaderParameters)
    .sign(key.privateKey);
}

/** A real HTTP server on 127.0.0.1 with a key set, which can hang, fail and be away. */
export class KeySetServer {
  /** How often it was asked. */
  asked = 0;
  keys: unknown = [];
  /** Answers in another way than with the keys. */
  answer: ((request: IncomingMessage, response: ServerResponse) => void) | null = null;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private port = 0;

  private constructor() {
    this.server = createServer((request, response) => {
      this.asked += 1;
      if (this.answer) return this.answer(request, response);
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ keys: this.keys }));
    });
    this.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
  }

  static async start(...keys: IssuerKey[]): Promise<KeySetServer> {
    const server = new KeySetServer();
    server.keys = keys.map(({ jwk }) => jwk);
    await server.mend();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/jwks.json`;
  }

  /** Away, until {@link mend}: connections are refused. */
  async leave(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  async mend(): Promise<void> {
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }
}
