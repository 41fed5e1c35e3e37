/** A client of a test that looks into Redis by itself, or damages it. */
export { Redis } from 'ioredis';
