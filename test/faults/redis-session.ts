import { Redis } from 'ioredis';

/** A connection of the test's own; the caller disconnects it. */
export const openRedis = (url: string): Redis => new Redis(url, { maxRetriesPerRequest: 1 });
