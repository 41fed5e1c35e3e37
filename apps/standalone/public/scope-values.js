import { readScope } from './scope-chooser.js';

/** A larger board is not sorted for a list of suggestions. */
const ENTRIES_MAX = 5000;
const ROWS_MAX = 1000;
const VALUES_MAX = 200;

/**
 * The regions and attribute values of those who lead a window, from the first rows of its export: `kind → values`, in
 * the order of the alphabet. What nobody there has can still be typed.
 */
export class ScopeValues {
  #service;
  #known = new Map();

  constructor({ service }) {
    this.#service = service;
  }

  /** Never fails: where nothing can be read, nothing is offered. */
  async of(kind, { board, window }) {
    const key = JSON.stringify([board, window]);
    if (!this.#known.has(key)) this.#known.set(key, this.#read(board, window));
    const scopes = await this.#known.get(key);
    if (scopes.length === 0) this.#known.delete(key);
    const values = scopes.map(readScope).filter((scope) => scope.kind === kind);
    return [...new Set(values.map(({ value }) => value))].sort((a, b) => a.localeCompare(b)).slice(0, VALUES_MAX);
  }

  async #read(board, window) {
    try {
      const { total } = await this.#service.entries(board, { window, limit: 1 });
      if (total > ENTRIES_MAX) return [];
      const path = this.#service.exportPath(board, { window, format: 'ndjson' });
      return await scopesOf(await this.#service.download(path));
    } catch {
      return [];
    }
  }
}

/** The distinct scopes of the first rows; the rest of the export is not waited for. */
async function scopesOf(response) {
  const scopes = new Set();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let rows = 0;
  try {
    while (rows < ROWS_MAX) {
      const { done, value } = await reader.read();
      const lines = `${rest}${value ?? ''}`.split('\n');
      rest = done ? '' : lines.pop();
      for (const line of lines.slice(0, ROWS_MAX - rows)) {
        rows += 1;
        if (line) for (const scope of JSON.parse(line).scopes ?? []) scopes.add(scope);
      }
      if (done) break;
    }
  } finally {
    await reader.cancel();
  }
  return [...scopes];
}
