import { expect } from 'vitest';
import type { RestClient } from './rest-client.js';

/** A row as exports have it in NDJSON, and lists in JSON. */
export interface ExportedRow {
  rank: number;
  playerId: string;
  displayName: string | null;
  score: number;
}

/** Submits runs to a board, and waits until its ranks have them. */
export async function submitAll(admin: RestClient, board: string, runs: object[]): Promise<void> {
  const submissions = runs.map((run) => ({ board, ...run }));
  const response = await admin.post('/v1/scores', { submissions }, { Prefer: 'wait=10' });
  expect(response.status).toBe(200);
  for (const result of response.body.results as object[]) expect(result).not.toHaveProperty('problem');
}

/** Reads exports of one service. */
export class ExportReader {
  constructor(private readonly url: string) {}

  /** A whole export as text, by anyone or with a token. */
  async text(board: string, query: string, token?: string): Promise<{ text: string; response: Response }> {
    const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    const response = await fetch(`${this.url}/v1/boards/${board}/export${query}`, { headers });
    return { text: await response.text(), response };
  }

  /** The rows of an export in NDJSON. */
  async rows(board: string, query: string, token?: string): Promise<ExportedRow[]> {
    const { text, response } = await this.text(board, `${query}&format=ndjson`, token);
    expect(response.status, text).toBe(200);
    return linesOf(text);
  }
}

export const linesOf = (ndjson: string): ExportedRow[] =>
  ndjson
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as ExportedRow);

/** Records of CSV as RFC 4180, section 2 has them. */
export function parseCsv(text: string): string[][] {
  const records: string[][] = [[]];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  for (let match = field.exec(text); match; match = field.exec(text)) {
    records.at(-1)!.push(match[1]?.replaceAll('""', '"') ?? match[2]!);
    if (match[3] === '\r\n') records.push([]);
    if (field.lastIndex === text.length) break;
  }
  expect(records.pop()).toEqual([]);
  return records;
}
