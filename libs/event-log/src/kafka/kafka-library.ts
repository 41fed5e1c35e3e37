import { createRequire } from 'node:module';
import type kafkajs from 'kafkajs';

const load = createRequire(import.meta.url);

/** kafkajs, loaded when it is first needed: a process whose log is in PostgreSQL does without its 140 files. */
export const kafkaLibrary = (): typeof kafkajs => load('kafkajs') as typeof kafkajs;
