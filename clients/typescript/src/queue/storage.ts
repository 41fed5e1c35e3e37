import { world, type KeyValues, type Storage } from '../world.js';

/** For as long as the program runs. */
export function memoryStorage(): Storage {
  const texts = new Map<string, string>();
  return {
    get: async (key) => texts.get(key),
    set: async (key, text) => void texts.set(key, text),
    delete: async (key) => void texts.delete(key),
    keys: async (prefix) => [...texts.keys()].filter((key) => key.startsWith(prefix)),
  };
}

export function localStorageOf(store: KeyValues): Storage {
  return {
    get: async (key) => store.getItem(key),
    set: async (key, text) => store.setItem(key, text),
    delete: async (key) => store.removeItem(key),
    keys: async (prefix) =>
      Array.from({ length: store.length }, (_, at) => store.key(at) ?? '').filter((key) => key.startsWith(prefix)),
  };
}

interface Request<Result> {
  result: Result;
  error: unknown;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
}
interface ObjectStore {
  get(key: string): Request<string | undefined>;
  put(text: string, key: string): Request<unknown>;
  delete(key: string): Request<unknown>;
  getAllKeys(range: unknown): Request<string[]>;
}
interface Transaction {
  objectStore(name: string): ObjectStore;
  error: unknown;
  oncomplete: (() => void) | null;
  onabort: (() => void) | null;
}
interface Database {
  createObjectStore(name: string): unknown;
  transaction(name: string, mode: string, options: object): Transaction;
}
interface Factory {
  open(name: string, version: number): Request<Database> & { onupgradeneeded: (() => void) | null };
}

const STORE = 'texts';

const resultOf = <Result>(request: Request<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** A database of the browser, which tabs share. What was set is on the disk when it resolves. */
export function indexedDbStorage(name: string): Storage {
  let database: Promise<Database> | null = null;
  const open = (): Promise<Database> => {
    const request = (world.indexedDB as Factory).open(name, 1);
    request.onupgradeneeded = () => void request.result.createObjectStore(STORE);
    return resultOf(request);
  };
  /** Does the work with a store; opens the database again where the browser has closed it. */
  async function using<Result>(
    mode: string,
    options: object,
    work: (store: ObjectStore, transaction: Transaction) => Promise<Result>,
    isAgain = false,
  ): Promise<Result> {
    const mine = (database ??= open());
    let transaction: Transaction;
    try {
      transaction = (await mine).transaction(STORE, mode, options);
    } catch (error) {
      if (database === mine) database = null;
      if (isAgain) throw error;
      return using(mode, options, work, true);
    }
    return work(transaction.objectStore(STORE), transaction);
  }
  const write = (change: (store: ObjectStore) => void): Promise<void> =>
    using('readwrite', { durability: 'strict' }, (store, transaction) => {
      change(store);
      return new Promise((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(transaction.error);
      });
    });
  const read = <Result>(ask: (store: ObjectStore) => Request<Result>): Promise<Result> =>
    using('readonly', {}, (store) => resultOf(ask(store)));
  return {
    get: (key) => read((store) => store.get(key)),
    set: (key, text) => write((store) => void store.put(text, key)),
    delete: (key) => write((store) => void store.delete(key)),
    keys: (prefix) => {
      const range = world.IDBKeyRange as { bound(from: string, to: string): unknown };
      return read((store) => store.getAllKeys(range.bound(prefix, `${prefix}\uffff`)));
    },
  };
}

/** IndexedDB where it can be opened, else localStorage, else memory. */
export function defaultStorage(): Storage {
  let chosen: Promise<Storage> | null = null;
  const choose = async (): Promise<Storage> => {
    if (world.indexedDB) {
      const storage = indexedDbStorage('laddercast');
      const isThere = await storage.keys('').then(
        () => true,
        () => false,
      );
      if (isThere) return storage;
    }
    try {
      // To look at it throws where it is forbidden; Node warns where it has no file.
      if (world.document && world.localStorage) return localStorageOf(world.localStorage);
    } catch {
      // Then nothing outlives the page.
    }
    return memoryStorage();
  };
  const storage = (): Promise<Storage> => (chosen ??= choose());
  return {
    get: async (key) => (await storage()).get(key),
    set: async (key, text) => (await storage()).set(key, text),
    delete: async (key) => (await storage()).delete(key),
    keys: async (prefix) => (await storage()).keys(prefix),
  };
}
