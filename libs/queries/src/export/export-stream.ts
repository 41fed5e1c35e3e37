import { Readable } from 'node:stream';
import type { ExportedRow, LineFormat } from './export-lines.js';

/** A reader that takes nothing for so long has gone, or would keep the rows waiting for ever. */
const STALLED_AFTER_MS = 30_000;

/**
 * Writes rows as fast as they are taken, and breaks off when they are not taken at all.
 * @param first what `rest` has answered already: a generator that never began has nothing to end
 * @param stop called when the stream ends or is destroyed, before `rest` is ended
 */
export function streamOf(
  lines: LineFormat,
  first: IteratorResult<ExportedRow[], void>,
  rest: AsyncGenerator<ExportedRow[], void>,
  stop: () => void,
): Readable {
  let stalled: NodeJS.Timeout | undefined;
  let text = lines.head + textOf(lines, first);
  let isLast = first.done ?? false;
  /** The next text, never an empty one: that would end the reading without ending the stream. */
  const next = async (): Promise<string | null> => {
    while (text === '' && !isLast) {
      const chunk = await rest.next();
      isLast = chunk.done ?? false;
      text = textOf(lines, chunk);
    }
    const taken = text;
    text = '';
    return taken === '' ? null : taken;
  };
  return new Readable({
    read() {
      clearTimeout(stalled);
      next().then(
        (taken) => {
          if (this.destroyed) return;
          stalled = setTimeout(() => this.destroy(new Error('The reader takes nothing.')), STALLED_AFTER_MS);
          this.push(taken);
        },
        (error: unknown) => this.destroy(error as Error),
      );
    },
    destroy(error, done) {
      clearTimeout(stalled);
      stop();
      const end = (): void => done(error);
      rest.return().then(end, end);
    },
  });
}

const textOf = (lines: LineFormat, chunk: IteratorResult<ExportedRow[], void>): string =>
  chunk.done ? '' : chunk.value.map((row) => lines.line(row)).join('');
