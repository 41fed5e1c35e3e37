import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { indexedDbStorage } from './storage.js';

/** A database as browsers have it, as far as the storage uses one; `close` is what they do to a page in the background. */
class FakeIndexedDb {
  readonly texts = new Map<string, string>();
  opened = 0;
  isClosed = false;
  isForbidden = false;

  open(): object {
    this.opened += 1;
    const mine = this.opened;
    if (this.isForbidden) return this.request(() => undefined, new Error('SecurityError'));
    this.isClosed = false;
    return this.request(() => ({
      transaction: () => {
        if (this.isClosed || mine !== this.opened) throw new Error('InvalidStateError');
        const { texts } = this;
        const transaction = {
          oncomplete: () => undefined,
          objectStore: () => ({
            get: (key: string) => this.request(() => texts.get(key)),
            put: (text: string, key: string) => texts.set(key, text),
            delete: (key: string) => texts.delete(key),
            getAllKeys: () => this.request(() => [...texts.keys()]),
          }),
        };
        setImmediate(() => transaction.oncomplete());
        return transaction;
      },
    }));
  }

  private request(result: () => unknown, error?: Error): object {
    const request = { result: undefined as unknown, error, onsuccess: () => undefined, onerror: () => undefined };
    setImmediate(() => {
      if (error) return request.onerror();
      request.result = result();
      return request.onsuccess();
    });
    return request;
  }
}

let fake: FakeIndexedDb;

beforeEach(() => {
  fake = new FakeIndexedDb();
  vi.stubGlobal('indexedDB', fake);
  vi.stubGlobal('IDBKeyRange', { bound: () => null });
});
afterEach(() => vi.unstubAllGlobals());

it('a database that the browser closed is opened again, once for all that ask', async () => {
  const storage = indexedDbStorage('test');
  await storage.set('a', 'first');
  fake.isClosed = true;
  await storage.set('b', 'second');
  fake.isClosed = true;
  expect(await Promise.all([storage.get('a'), storage.get('b'), storage.keys('')])).toEqual([
    'first',
    'second',
    ['a', 'b'],
  ]);
  await storage.delete('a');
  expect([...fake.texts]).toEqual([['b', 'second']]);
  expect(fake.opened).toBe(3);
});

it('a database that cannot be opened is told, and is asked for again by the next call', async () => {
  const storage = indexedDbStorage('test');
  fake.isForbidden = true;
  await expect(storage.get('a')).rejects.toThrow('SecurityError');
  fake.isForbidden = false;
  expect(await storage.get('a')).toBeUndefined();
});
