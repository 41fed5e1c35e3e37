// Real: keys, signatures, and an HTTP server with a key set.
import { createHmac, createSign, KeyObject } from 'node:crypto';
import { exportSPKI, importJWK, SignJWT, type CryptoKey } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KeySetServer, newKey, sign, type IssuerKey } from '../test/key-set-server.js';
import { PlayerTokens, type PlayerTokensOptions } from './player-tokens.js';
import { SigningKeys } from './signing-keys.js';

const SECRET = 'a secret of the tests, 32 characters';
const ISSUER = 'https://id.example.com/';
const AUDIENCE = 'leaderboards';
const CLAIMS = { iss: ISSUER, aud: AUDIENCE };
const nowSeconds = (): number => Math.floor(Date.now() / 1000);
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

let server: KeySetServer;
let rsa: IssuerKey;
let curve: IssuerKey;
let stranger: IssuerKey;

beforeAll(async () => {
  [rsa, curve, stranger] = await Promise.all([
    newKey('RS256', 'rsa-1'),
    newKey('ES256', 'ec-1'),
    newKey('RS256', 'rsa-1'),
  ]);
  server = await KeySetServer.start(rsa, curve);
});
afterAll(() => server.leave());

function tokensWith(options: Partial<PlayerTokensOptions> = {}): PlayerTokens {
  const signingKeys = new SigningKeys({ url: server.url, onFailure: () => undefined });
  return new PlayerTokens({ secret: SECRET, signingKeys, issuer: ISSUER, audience: AUDIENCE, ...options });
}

const hs256 = (secret: Uint8Array, header: object = {}, claims: object = {}): Promise<string> =>
  new SignJWT({ sub: 'ada', exp: nowSeconds() + 60, ...CLAIMS, ...claims })
    .setProtectedHeader({ alg: 'HS256', ...header })
    .sign(secret);

describe('a token', () => {
  it('is taken when it is signed by the secret, or by a key of the set, side by side', async () => {
    const tokens = tokensWith();
    const good = [
      await hs256(Buffer.from(SECRET)),
      await sign(rsa, CLAIMS),
      await sign(curve, CLAIMS),
      await sign(rsa, CLAIMS, { kid: undefined }),
      await sign(rsa, { ...CLAIMS, aud: ['others', AUDIENCE] }),
    ];
    for (const token of good) expect(await tokens.verify(token)).toMatchObject({ kind: 'player', playerId: 'ada' });
  });

  it('says which key of the set it rests on, and is trusted while that is there', async () => {
    const tokens = tokensWith();
    const identity = await tokens.verify(await sign(rsa, CLAIMS));
    expect(tokens.trusts(identity)).toBe(true);
    expect(tokens.trusts({ ...identity, signedBy: 'another' })).toBe(false);
    expect(tokens.trusts(await tokens.verify(await hs256(Buffer.from(SECRET))))).toBe(true);
  });

  it('ends when it says, and so much later as clocks may differ', async () => {
    const exp = nowSeconds() + 30;
    const token = await sign(rsa, { ...CLAIMS, exp });
    expect(await tokensWith().verify(token)).toMatchObject({ expiresAtMs: exp * 1000 });
    expect(await tokensWith({ clockToleranceSeconds: 9 }).verify(token)).toMatchObject({
      expiresAtMs: exp * 1000 + 9000,
    });
    const late = await sign(rsa, { ...CLAIMS, exp: nowSeconds() - 5 });
    await expect(tokensWith().verify(late)).rejects.toMatchObject({ fault: 'token_expired' });
    expect(await tokensWith({ clockToleranceSeconds: 20 }).verify(late)).toMatchObject({ playerId: 'ada' });
  });

  it('needs no issuer or audience where none is set', async () => {
    const tokens = tokensWith({ issuer: undefined, audience: undefined });
    expect(await tokens.verify(await sign(rsa))).toMatchObject({ playerId: 'ada' });
  });

  it('is refused with another issuer, audience or time', async () => {
    const cases: [string, object][] = [
      ['token_issuer', { iss: 'https://other.example.com/' }],
      ['token_issuer', { iss: undefined }],
      ['token_issuer', { iss: [ISSUER] }],
      ['token_audience', { aud: 'others' }],
      ['token_audience', { aud: undefined }],
      ['token_audience', { aud: [] }],
      ['token_expired', { exp: nowSeconds() - 1 }],
      ['token_claims', { exp: undefined }],
      ['token_claims', { exp: 'never' }],
      ['token_not_yet', { nbf: nowSeconds() + 30 }],
      ['token_claims', { sub: undefined }],
      ['token_claims', { sub: 7 }],
      ['token_claims', { sub: '' }],
      ['token_claims', { sub: 'me' }],
      ['token_claims', { sub: 'a\u0000b' }],
      ['token_claims', { sub: 'x'.repeat(129) }],
      ['token_claims', { sub: { toString: 'ada' } }],
    ];
    for (const [fault, claims] of cases) {
      const token = await sign(rsa, { ...CLAIMS, ...claims });
      await expect(tokensWith().verify(token), JSON.stringify(claims)).rejects.toMatchObject({
        code: 'UNAUTHENTICATED',
        fault,
      });
    }
  });

  it('is refused when its sub is not UTF-8: two players would become one', async () => {
    const head = base64({ alg: 'HS256' });
    for (const byte of [0xff, 0xfe]) {
      const claims = [Buffer.from('{"sub":"'), Buffer.from([byte]), Buffer.from(`","exp":${nowSeconds() + 60}}`)];
      const signed = `${head}.${Buffer.concat(claims).toString('base64url')}`;
      const token = `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`;
      await expect(tokensWith({ issuer: undefined, audience: undefined }).verify(token)).rejects.toMatchObject({
        code: 'UNAUTHENTICATED',
        fault: 'malformed',
      });
    }
  });

  describe('that attacks', () => {
    const refused = async (token: string, options: Partial<PlayerTokensOptions> = {}): Promise<string> => {
      const error: unknown = await tokensWith(options)
        .verify(token)
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'UNAUTHENTICATED' });
      return (error as { fault: string }).fault;
    };

    it('is refused when it is not signed', async () => {
      const payload = base64({ sub: 'ada', exp: nowSeconds() + 60, ...CLAIMS });
      for (const alg of ['none', 'None', 'NONE', '', undefined, null, ['HS256'], 'hs256']) {
        expect(await refused(`${base64({ alg })}.${payload}.`)).toBe('token_algorithm');
        const [, , signature] = (await sign(rsa, CLAIMS)).split('.');
        expect(await refused(`${base64({ alg })}.${payload}.${signature}`)).toBe('token_algorithm');
      }
    });

    it('is refused when the public key of the set is taken for a secret of HS256', async () => {
      const publicKey = (await importJWK({ ...rsa.jwk, ext: true }, 'RS256')) as CryptoKey;
      const shapes = [
        await exportSPKI(publicKey),
        JSON.stringify(rsa.jwk),
        rsa.jwk.n!,
        Buffer.from(rsa.jwk.n!, 'base64url').toString('latin1'),
      ];
      for (const shape of shapes) {
        const token = await hs256(Buffer.from(shape, 'latin1'), { kid: 'rsa-1' });
        expect(await refused(token)).toBe('token_signature');
        expect(await refused(token, { secret: undefined })).toBe('token_algorithm');
      }
    });

    it('is refused when it names another algorithm than its key has', async () => {
      const [, payload, signature] = (await sign(rsa, CLAIMS)).split('.') as [string, string, string];
      const faults = new Map([
        ['HS256', 'token_signature'],
        ['ES256', 'token_signing_key'],
        ...['HS512', 'RS512', 'PS256', 'ES384', 'EdDSA'].map((alg) => [alg, 'token_algorithm'] as const),
      ]);
      for (const [alg, fault] of faults) {
        expect(await refused(`${base64({ alg, kid: 'rsa-1' })}.${payload}.${signature}`), alg).toBe(fault);
      }
    });

    it('is refused when its key is a stranger’s, whatever it brings along or points at', async () => {
      expect(await refused(await sign(stranger, CLAIMS))).toBe('token_signature');
      expect(await refused(await sign(stranger, CLAIMS, { kid: 'ec-1' }))).toBe('token_signing_key');
      expect(await refused(await sign(stranger, CLAIMS, { kid: '../../etc/passwd' }))).toBe('token_signing_key');
      expect(await refused(await sign(stranger, CLAIMS, { kid: '__proto__' }))).toBe('token_signing_key');
      const evil = await KeySetServer.start(stranger);
      const brought = { jwk: stranger.jwk, jku: evil.url, x5u: evil.url, x5c: ['AAAA'] };
      for (const header of [brought, { ...brought, kid: undefined }, { ...brought, kid: evil.url }]) {
        expect(['token_signature', 'token_signing_key']).toContain(await refused(await sign(stranger, CLAIMS, header)));
      }
      expect(evil.asked).toBe(0);
      await evil.leave();
      // A good token is no worse for what it brings along.
      const token = await sign(rsa, CLAIMS, { jwk: stranger.jwk, jku: 'https://example.com/' });
      expect(await tokensWith().verify(token)).toMatchObject({ playerId: 'ada' });
    });

    it('is refused when it demands what is not understood', async () => {
      const payload = base64({ sub: 'ada', exp: nowSeconds() + 60, ...CLAIMS });
      // Signed as it should be: nothing but the demand is wrong.
      const demanding = (demand: object): string => {
        const signed = `${base64({ alg: 'RS256', kid: 'rsa-1', x: 1, exp: 1, ...demand })}.${payload}`;
        return `${signed}.${createSign('sha256').update(signed).sign(KeyObject.from(rsa.privateKey), 'base64url')}`;
      };
      expect(await tokensWith().verify(demanding({}))).toMatchObject({ playerId: 'ada' });
      for (const crit of [['b64'], ['exp'], ['x'], ['x', 'b64'], [], 'x', null, [7]]) {
        const fault = await refused(demanding({ crit, b64: false }));
        expect(fault, JSON.stringify(crit)).toMatch(/^(malformed|token_signature)$/);
      }
      const token = await sign(rsa, CLAIMS, { kid: 7 });
      expect(await refused(token)).toBe('malformed');
    });

    it('is refused when a part of it was changed', async () => {
      const [header, payload, signature] = (await sign(rsa, CLAIMS)).split('.') as [string, string, string];
      const bob = base64({ sub: 'bob', exp: nowSeconds() + 60, ...CLAIMS });
      expect(await refused(`${header}.${bob}.${signature}`)).toBe('token_signature');
      expect(await refused(`${header}.${payload}.`)).toBe('token_signature');
      expect(await refused(`${base64({ alg: 'RS256', kid: 'rsa-1', typ: 'x' })}.${payload}.${signature}`)).toBe(
        'token_signature',
      );
      for (const garbage of ['a.b.c', '..', `${base64(7)}.${payload}.${signature}`, `${base64(null)}.b.c`]) {
        expect(['malformed', 'token_algorithm'], garbage).toContain(await refused(garbage));
      }
    });

    it('is not taken in the place of a method that is not set', async () => {
      const byKey = await sign(rsa, CLAIMS);
      expect(await refused(byKey, { signingKeys: null })).toBe('token_algorithm');
      expect(await refused(byKey, { signingKeys: null, secret: undefined })).toBe('token_not_accepted');
      expect(await refused(await hs256(Buffer.from(SECRET)), { secret: undefined })).toBe('token_algorithm');
    });
  });
});
