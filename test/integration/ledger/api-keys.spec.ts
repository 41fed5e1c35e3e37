// Real: PostgreSQL.
import { ApiKeyStore, AuditLog, PostgresDatabase, type KeyLook } from '@laddercast/ledger';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

let server: TestDatabase;
let database: PostgresDatabase;
let keys: ApiKeyStore;
let audit: AuditLog;

beforeAll(async () => {
  server = await createTestDatabase();
  database = new PostgresDatabase({ url: server.url });
  await database.open({ migrate: true });
  keys = new ApiKeyStore(database);
  audit = new AuditLog(database);
});
afterAll(async () => {
  await database.close();
  await server.drop();
});

const make = (expiresAtMs: number | null = null) => keys.create({ name: 'k', scopes: ['read'], expiresAtMs }, 'ops');
const stateOf = async (...secrets: string[]): Promise<KeyLook['state'][]> =>
  (await keys.look(secrets)).map(({ state }) => state);
const listed = async (keyId: string) => (await keys.list(500, '')).find((key) => key.keyId === keyId)!;

describe('an API key', () => {
  it('is found by its secret among many, in the order asked, and no hash of it by itself', async () => {
    const made = await Promise.all(Array.from({ length: 30 }, () => make()));
    const asked = made.flatMap(({ secret }, index) => [secret, `lk_unknown-${index}-unknown`]);
    const looks = await keys.look([...asked, ...asked]);
    expect(looks).toHaveLength(120);
    for (const [index, look] of looks.entries()) {
      const { keyId } = made[Math.floor((index % 60) / 2)]!;
      expect(look).toMatchObject(
        index % 2 === 0 ? { state: 'valid', key: { keyId, scopes: ['read'] }, validForMs: null } : { state: 'unknown' },
      );
    }
    expect(await keys.look([])).toEqual([]);
    const [{ hash }] = (await database.query<{ hash: string }>(
      `SELECT encode(secret_sha256, 'hex') AS hash FROM api_keys WHERE key_id = $1`,
      [made[0]!.keyId],
    )) as [{ hash: string }];
    expect(await stateOf(hash)).toEqual(['unknown']);
  });

  it('expires, by the clock of the database', async () => {
    const { secret, keyId, expiresAt } = await make(Date.now() + 4000);
    const [look] = await keys.look([secret]);
    const { validForMs } = look as { validForMs: number };
    expect(validForMs).toBeGreaterThan(0);
    expect(validForMs).toBeLessThanOrEqual(4000);
    await expect.poll(() => stateOf(secret)).toEqual(['expired']);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt!));
    expect(await listed(keyId)).toMatchObject({ expiresAt, revokedAt: null });
    await expect(keys.rotate(keyId, { overlapSeconds: 0 }, 'ops')).rejects.toMatchObject({ code: 'API_KEY_NOT_FOUND' });
  });

  it('cannot be made to have ended already, and nothing is written of the try', async () => {
    const before = await keys.list(500, '');
    await expect(make(Date.now() - 1000)).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
    expect(await keys.list(500, '')).toEqual(before);
  });

  it('is an admin key for the start only while it lasts', async () => {
    expect(await keys.hasAdminKey()).toBe(false);
    await keys.create({ name: 'brief', scopes: ['admin'], expiresAtMs: Date.now() + 3000 }, 'ops');
    expect(await keys.hasAdminKey()).toBe(true);
    await expect.poll(() => keys.hasAdminKey()).toBe(false);
  });
});

describe('a rotation', () => {
  it('gives another secret, and lets the one before go on for the overlap and no longer', async () => {
    const first = await make();
    const second = await keys.rotate(first.keyId, { overlapSeconds: 4 }, 'ops');
    expect(second).toMatchObject({ keyId: first.keyId, name: 'k', scopes: ['read'], expiresAt: null });
    expect(second.secret).not.toBe(first.secret);
    expect(await listed(first.keyId)).toMatchObject({
      overlapUntil: second.overlapUntil,
      rotatedAt: expect.any(String) as string,
    });
    const [old, now] = await keys.look([first.secret, second.secret]);
    expect(old).toMatchObject({ state: 'valid', key: { keyId: first.keyId } });
    expect((old as { validForMs: number }).validForMs).toBeLessThanOrEqual(4000);
    expect(now).toMatchObject({ state: 'valid', validForMs: null });
    await expect.poll(() => stateOf(first.secret, second.secret)).toEqual(['replaced', 'valid']);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(second.overlapUntil!));
    expect(await listed(first.keyId)).toMatchObject({ overlapUntil: null });
  });

  it('leaves the overlaps of those before alone, and ends them all with none of its own', async () => {
    const { keyId, secret } = await make();
    const secrets = [secret];
    for (const overlapSeconds of [600, 60]) secrets.push((await keys.rotate(keyId, { overlapSeconds }, 'ops')).secret);
    expect(await stateOf(...secrets)).toEqual(['valid', 'valid', 'valid']);
    const last = await keys.rotate(keyId, { overlapSeconds: 0 }, 'ops');
    expect(last.overlapUntil).toBeNull();
    expect(await stateOf(...secrets, last.secret)).toEqual(['replaced', 'replaced', 'replaced', 'valid']);
  });

  it('may give the key another end, which holds for earlier secrets, too', async () => {
    const { keyId, secret } = await make(Date.now() + 60_000);
    const kept = await keys.rotate(keyId, { overlapSeconds: 3600 }, 'ops');
    expect(Date.parse(kept.overlapUntil!)).toBeLessThanOrEqual(Date.parse(kept.expiresAt!));
    const endless = await keys.rotate(keyId, { overlapSeconds: 600, expiresAtMs: null }, 'ops');
    expect(endless.expiresAt).toBeNull();
    const brief = await keys.rotate(keyId, { overlapSeconds: 600, expiresAtMs: Date.now() + 2000 }, 'ops');
    const all = [secret, kept.secret, endless.secret, brief.secret];
    await expect.poll(() => stateOf(...all)).toEqual(['expired', 'expired', 'expired', 'expired']);
  });

  it('keeps so many earlier secrets going, and remembers so many that have ended', async () => {
    const { keyId } = await make();
    for (let times = 0; times < 8; times += 1) await keys.rotate(keyId, { overlapSeconds: 60 }, 'ops');
    const present = await listed(keyId);
    await expect(keys.rotate(keyId, { overlapSeconds: 60 }, 'ops')).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    expect(await listed(keyId)).toEqual(present);
    for (let times = 0; times < 30; times += 1) await keys.rotate(keyId, { overlapSeconds: 0 }, 'ops');
    const rows = await database.query('SELECT 1 FROM former_api_key_secrets WHERE key_id = $1', [keyId]);
    expect(rows.length).toBeLessThanOrEqual(21);
  });

  it('side by side with others gives each its secret, of which all work', async () => {
    const { keyId, secret } = await make();
    const made = await Promise.all(Array.from({ length: 5 }, () => keys.rotate(keyId, { overlapSeconds: 60 }, 'ops')));
    const states = await stateOf(secret, ...made.map((one) => one.secret));
    expect(states).toEqual(Array(6).fill('valid'));
  });

  it('is not for keys that are revoked, unknown, or come from a setting', async () => {
    const { keyId, secret } = await make();
    const { secret: newer } = await keys.rotate(keyId, { overlapSeconds: 60 }, 'ops');
    await keys.revoke(keyId, 'ops');
    expect(await stateOf(secret, newer)).toEqual(['revoked', 'revoked']);
    for (const [id, code] of [
      [keyId, 'API_KEY_NOT_FOUND'],
      ['no-such-key', 'API_KEY_NOT_FOUND'],
      ['bootstrap', 'API_KEY_FIXED'],
    ] as const) {
      await expect(keys.rotate(id, { overlapSeconds: 60 }, 'ops')).rejects.toMatchObject({ code });
    }
  });
});

describe('the bootstrap key', () => {
  const acts = () => audit.list({ action: 'api-key.bootstrap' }, 10, null);

  it('is set anew, and told of, only when it is another one', async () => {
    await keys.setBootstrapKey('the-first-bootstrap-key');
    await keys.setBootstrapKey('the-first-bootstrap-key');
    expect(await acts()).toHaveLength(1);
    await keys.setBootstrapKey('the-second-bootstrap-key');
    expect(await acts()).toHaveLength(2);
    expect(await stateOf('the-first-bootstrap-key', 'the-second-bootstrap-key')).toEqual(['unknown', 'valid']);
    const other = await keys.create({ name: 'other', scopes: ['admin'], expiresAtMs: null }, 'ops');
    await keys.revoke('bootstrap', 'ops');
    expect(await stateOf('the-second-bootstrap-key')).toEqual(['revoked']);
    // At the next start: it stays revoked until the setting is another one.
    await keys.setBootstrapKey('the-second-bootstrap-key');
    expect(await stateOf('the-second-bootstrap-key')).toEqual(['revoked']);
    expect(await acts()).toHaveLength(2);
    await keys.setBootstrapKey('the-third-bootstrap-key');
    expect(await stateOf('the-second-bootstrap-key', 'the-third-bootstrap-key')).toEqual(['replaced', 'valid']);
    expect(await acts()).toHaveLength(3);
    await keys.revoke(other.keyId, 'ops');
  });

  it('is none that was ever revoked: a process that was not told of the new one cannot bring it back', async () => {
    const other = await keys.create({ name: 'other', scopes: ['admin'], expiresAtMs: null }, 'ops');
    expect(await keys.setBootstrapKey('a-bootstrap-key-that-leaked')).toBe(true);
    await keys.revoke('bootstrap', 'ops');
    expect(await keys.setBootstrapKey('the-bootstrap-key-after-it')).toBe(true);
    const told = (await acts()).length;
    expect(await keys.setBootstrapKey('a-bootstrap-key-that-leaked')).toBe(false);
    expect(await stateOf('a-bootstrap-key-that-leaked', 'the-bootstrap-key-after-it')).toEqual(['replaced', 'valid']);
    expect(await acts()).toHaveLength(told);
    await keys.revoke(other.keyId, 'ops');
  });

  it('may be one that was replaced, and never revoked: the setting says which it is', async () => {
    for (const secret of ['a-bootstrap-key-to-go-back-to', 'another-bootstrap-key-of-a-try']) {
      expect(await keys.setBootstrapKey(secret)).toBe(true);
    }
    expect(await keys.setBootstrapKey('a-bootstrap-key-to-go-back-to')).toBe(true);
    expect(await stateOf('a-bootstrap-key-to-go-back-to')).toEqual(['valid']);
  });

  it('cannot be the secret of another key, nor one that it had', async () => {
    const { keyId, secret } = await make();
    await expect(keys.setBootstrapKey(secret)).rejects.toThrow(/choose another/);
    await keys.rotate(keyId, { overlapSeconds: 0 }, 'ops');
    await expect(keys.setBootstrapKey(secret)).rejects.toThrow(/choose another/);
  });
});

describe('the last admin key', () => {
  const makeAdmin = (expiresAtMs: number | null = null) =>
    keys.create({ name: 'a', scopes: ['read', 'admin'], expiresAtMs }, 'ops');
  const inMinutes = (minutes: number): number => Date.now() + minutes * 60_000;
  const isRefused = (work: Promise<unknown>) => expect(work).rejects.toMatchObject({ code: 'LAST_ADMIN_KEY' });

  beforeEach(async () => {
    await database.query('UPDATE api_keys SET revoked_at = ladder_now() WHERE revoked_at IS NULL');
  });

  it('cannot be revoked, and nothing is written of the try', async () => {
    const { keyId, secret } = await makeAdmin();
    await make();
    const acts = await audit.list({ subject: keyId }, 10, null);
    await isRefused(keys.revoke(keyId, 'ops'));
    expect(await stateOf(secret)).toEqual(['valid']);
    expect(await audit.list({ subject: keyId }, 10, null)).toEqual(acts);
    const { keyId: next } = await makeAdmin();
    await keys.revoke(keyId, 'ops');
    await isRefused(keys.revoke(next, 'ops'));
  });

  it('may be the bootstrap key, and one that stays beside it is enough for the others', async () => {
    await keys.setBootstrapKey('a-bootstrap-key-of-this-test');
    await isRefused(keys.revoke('bootstrap', 'ops'));
    const { keyId } = await makeAdmin();
    await keys.revoke(keyId, 'ops');
    await isRefused(keys.revoke('bootstrap', 'ops'));
  });

  it('is the one that lasts longest: others that end before it do not stand in for it', async () => {
    const endless = await makeAdmin();
    const hour = await makeAdmin(inMinutes(60));
    const minute = await makeAdmin(inMinutes(1));
    await isRefused(keys.revoke(endless.keyId, 'ops'));
    await keys.revoke(minute.keyId, 'ops');
    await keys.revoke(hour.keyId, 'ops');
    await isRefused(keys.revoke(endless.keyId, 'ops'));
  });

  it('is not one that has ended, which anybody may revoke', async () => {
    const ended = await makeAdmin(Date.now() + 2000);
    await expect.poll(() => stateOf(ended.secret)).toEqual(['expired']);
    await keys.revoke(ended.keyId, 'ops');
    expect(await listed(ended.keyId)).toMatchObject({ revokedAt: expect.any(String) as string });
  });

  it('is rotated as any other, but not to an end before its own', async () => {
    const { keyId } = await makeAdmin(inMinutes(60));
    await keys.rotate(keyId, { overlapSeconds: 0 }, 'ops');
    await isRefused(keys.rotate(keyId, { overlapSeconds: 60, expiresAtMs: inMinutes(1) }, 'ops'));
    await keys.rotate(keyId, { overlapSeconds: 60, expiresAtMs: null }, 'ops');
    await isRefused(keys.rotate(keyId, { overlapSeconds: 60, expiresAtMs: inMinutes(90) }, 'ops'));
    // A secret from before is no other key.
    await isRefused(keys.revoke(keyId, 'ops'));
    await makeAdmin();
    await keys.rotate(keyId, { overlapSeconds: 60, expiresAtMs: inMinutes(1) }, 'ops');
  });

  it('stays when all are revoked at once, again and again', async () => {
    const standing = async () =>
      (await keys.list(500, '')).filter(({ scopes, revokedAt }) => scopes.includes('admin') && revokedAt === null);
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(Array.from({ length: 4 }, () => makeAdmin()));
      const admins = await standing();
      const tries = await Promise.allSettled(
        admins.flatMap(({ keyId }) => [
          keys.revoke(keyId, 'ops'),
          keys.rotate(keyId, { overlapSeconds: 0, expiresAtMs: inMinutes(1) }, 'ops'),
        ]),
      );
      for (const one of tries) {
        if (one.status === 'rejected') {
          expect(['LAST_ADMIN_KEY', 'API_KEY_NOT_FOUND']).toContain((one.reason as { code: string }).code);
        }
      }
      expect((await standing()).filter(({ expiresAt }) => expiresAt === null)).toHaveLength(1);
    }
  });

  it('is not about keys without the scope: each of them may go', async () => {
    const { keyId } = await make();
    await keys.revoke(keyId, 'ops');
    expect(await listed(keyId)).toMatchObject({ revokedAt: expect.any(String) as string });
  });
});

describe('the audit log', () => {
  it('is read newest first, page by page, filtered, and without secrets', async () => {
    const { keyId, secret } = await make();
    const rotated = await keys.rotate(keyId, { overlapSeconds: 60 }, 'alice');
    await keys.revoke(keyId, 'bob');
    const acts = await audit.list({ subject: keyId }, 10, null);
    expect(acts.map(({ actor, action, subject }) => [actor, action, subject])).toEqual([
      ['bob', 'api-key.revoke', keyId],
      ['alice', 'api-key.rotate', keyId],
      ['ops', 'api-key.create', keyId],
    ]);
    expect(acts[1]!.details).toEqual({ overlapUntil: rotated.overlapUntil, expiresAt: null });
    for (const one of [secret, rotated.secret]) expect(JSON.stringify(acts)).not.toContain(one);

    const all = await audit.list({}, 500, null);
    expect(all.map(({ auditId }) => auditId)).toEqual(all.map(({ auditId }) => auditId).sort((a, b) => b - a));
    const pages: typeof all = [];
    for (let before: number | null = null; ;) {
      // What is done meanwhile moves nothing: it is newer than every page to come.
      await make();
      const page = await audit.list({}, 7, before);
      if (before === null) page.shift();
      if (page.length === 0) break;
      pages.push(...page);
      before = page.at(-1)!.auditId;
    }
    expect(pages).toEqual(all);
    expect(await audit.list({ subject: keyId, actor: 'alice' }, 10, null)).toHaveLength(1);
    expect(await audit.list({ subject: keyId, actor: 'alice', action: 'api-key.revoke' }, 10, null)).toEqual([]);
  });
});
