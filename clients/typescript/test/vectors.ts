import { readFileSync } from 'node:fs';

/** A file of clients/vectors. */
export function vectors<File>(name: string): File {
  return JSON.parse(readFileSync(new URL(`../../vectors/${name}.json`, import.meta.url), 'utf8')) as File;
}
