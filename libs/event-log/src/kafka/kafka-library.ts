import { createRequire } from 'node:module';
import type kafkajs from 'kafkajs';

const load = createRequire(import.meta.url);

/** kafkajs, loaded when it is first asked for: its 140 files are nothing for a process whose log is in PostgreSQL. */
export const kafkaLibrary = (): typeof kafkajs => load('kafkajs') as typeof kafkajs;
