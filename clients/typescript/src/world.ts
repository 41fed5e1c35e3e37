/**
 * What the client needs of the world around it. The types are its own, so that a program needs neither the types of a
 * browser nor those of Node to use it.
 */

/** The time, and timers. Times are Unix ms. */
export interface Clock {
  now(): number;
  setTimeout(work: () => void, ms: number): unknown;
  clearTimeout(id: unknown): void;
}

/** Where the queue keeps what waits: text by key. A `set` that resolves has to outlive the process. */
export interface Storage {
  get(key: string): Promise<string | null | undefined>;
  set(key: string, text: string): Promise<void>;
  delete(key: string): Promise<void>;
  /** All keys that begin so. */
  keys(prefix: string): Promise<string[]>;
}

/** What the client reads of an answer over HTTP. */
export interface HttpAnswer {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

/** What the client uses of a WebSocket. */
export interface LiveSocket {
  readonly readyState: number;
  send(text: string): void;
  close(code?: number): void;
  addEventListener(
    type: 'open' | 'message' | 'close' | 'error',
    listener: (event: { data?: unknown; code?: number }) => void,
  ): void;
}

interface EventSource {
  addEventListener?(type: string, listener: () => void): void;
  removeEventListener?(type: string, listener: () => void): void;
}

interface World extends EventSource {
  fetch?: (url: string, init: object) => Promise<HttpAnswer>;
  WebSocket?: new (url: string, protocols: string[]) => object;
  AbortController: new () => { signal: object; abort(): void };
  TextEncoder: new () => { encode(text: string): { length: number } };
  URLSearchParams: new (pairs: string[][]) => { toString(): string };
  atob(text: string): string;
  crypto: { randomUUID?(): string; getRandomValues(bytes: Uint8Array): Uint8Array };
  setTimeout(work: () => void, ms: number): unknown;
  clearTimeout(id: unknown): void;
  location?: { origin: string };
  document?: EventSource & { visibilityState: string };
  navigator?: { locks?: { request<T>(name: string, work: () => Promise<T>): Promise<T> } };
  localStorage?: KeyValues;
  indexedDB?: unknown;
  IDBKeyRange?: unknown;
}

/** What the client uses of `localStorage`. */
export interface KeyValues {
  readonly length: number;
  key(index: number): string | null;
  getItem(key: string): string | null;
  setItem(key: string, text: string): void;
  removeItem(key: string): void;
}

export const world = globalThis as unknown as World;

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (work, ms) => world.setTimeout(work, ms),
  clearTimeout: (id) => world.clearTimeout(id),
};

/** A new version 4 UUID. Pages without TLS have no `crypto.randomUUID`. */
export function newId(): string {
  if (world.crypto.randomUUID) return world.crypto.randomUUID();
  const bytes = world.crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 15) | 64;
  bytes[8] = (bytes[8]! & 63) | 128;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Calls `wake` when the network is back, and when the page is shown again. @returns what ends that */
export function onWake(wake: () => void): () => void {
  const shown = (): void => {
    if (world.document?.visibilityState === 'visible') wake();
  };
  world.addEventListener?.('online', wake);
  world.document?.addEventListener?.('visibilitychange', shown);
  return () => {
    world.removeEventListener?.('online', wake);
    world.document?.removeEventListener?.('visibilitychange', shown);
  };
}

/** A full jitter: anything from 0 to the cap that doubles with each try, and stops growing at `maxMs`. */
export const jitter = (random: () => number, firstMs: number, tries: number, maxMs: number): number =>
  random() * Math.min(maxMs, firstMs * 2 ** tries);
