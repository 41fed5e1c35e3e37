import type { Readable } from 'node:stream';
import { isPerRun, LadderError, type RankStyle } from '@laddercast/domain';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { lineFormatOf, type LineFormat, type RunField } from './export-lines.js';
import { ExportRows, type ExportRowsOptions } from './export-rows.js';
import { streamOf } from './export-stream.js';
import { verificationOf } from '../rows/entry-details.js';
import { ListResolver, type ResolvedList } from '../lists/list-resolver.js';
import { ListReader } from '../rows/list-reader.js';
import { ExportWindowQuery, type ExportFormat, type WindowExport } from '../queries.js';

/** The most exports that a process writes at a time: each sorts a list in PostgreSQL, on a connection of its own. */
const EXPORTS_MAX = 4;
/** Of those, the most for callers without identity: they read as slowly as they like, and nobody can tell them apart. */
const ANONYMOUS_EXPORTS_MAX = 1;
/** How long PostgreSQL may take to sort a list. */
const SORTED_WITHIN_MS = 60_000;
/** No client is written to for longer. */
const EXPORT_LASTS_MS = 15 * 60_000;
const FILE_NAME_PART_MAX = 80;

/** A place to write from: until when, and how it is given back. */
interface Slot {
  signal: AbortSignal;
  free: () => void;
}

/** Writes whole lists as files, with constant memory: rows are read as fast as the client takes them. */
@QueryHandler(ExportWindowQuery)
export class ExportWindowHandler implements IQueryHandler<ExportWindowQuery> {
  private running = 0;
  private runningAnonymous = 0;

  constructor(
    private readonly resolver: ListResolver,
    private readonly rows: ExportRows,
    private readonly reader: ListReader,
  ) {}

  async execute({ selection, format, isAnonymous, guard }: ExportWindowQuery): Promise<WindowExport> {
    const everybodys = await this.resolver.resolve(selection, { prefersStandings: true });
    const resolved = await this.reader.asSeenBy(selection.readerId, everybodys);
    const { board, list } = resolved;
    const ofRuns = [
      ...(isPerRun(board.definition) ? ['entryId'] : []),
      ...Object.keys(verificationOf(board, null)),
      ...(board.definition.decay ? ['rawScore', 'patch', 'patchesBehind'] : []),
    ] as RunField[];
    const lines = lineFormatOf(format, list.ordering.columns, guard, ofRuns);
    const style: RankStyle = selection.rankStyle ?? board.definition.rankStyle;
    const options = { style, showsUnlisted: selection.isAdmin ?? false, timeoutMs: SORTED_WITHIN_MS };
    return {
      fileName: fileNameOf(resolved, format),
      mediaType: lines.mediaType,
      isOwn: resolved.ownWorldOf !== undefined,
      open: async (signal) => this.open(resolved, lines, options, this.takeSlot(signal, isAnonymous)),
    };
  }

  private async open(
    resolved: ResolvedList,
    lines: LineFormat,
    options: Omit<ExportRowsOptions, 'signal'>,
    slot: Slot,
  ): Promise<Readable> {
    try {
      const chunks = this.rows.of(resolved, { ...options, signal: slot.signal });
      const content = streamOf(lines, await chunks.next(), chunks, slot.free);
      const end = (): void => void content.destroy(slot.signal.reason as Error);
      slot.signal.addEventListener('abort', end, { once: true });
      if (slot.signal.aborted) end();
      return content;
    } catch (error) {
      slot.free();
      throw error;
    }
  }

  /**
   * One of the exports that may be written at a time; its signal says when it ends, at the latest when its time is over.
   * @throws OVERLOADED
   */
  private takeSlot(signal: AbortSignal, isAnonymous: boolean): Slot {
    if (this.running >= EXPORTS_MAX) {
      const detail = `${EXPORTS_MAX} exports are being written already; try again when one of them is done.`;
      throw new LadderError('OVERLOADED', detail, { retryAfterSeconds: 5 });
    }
    if (isAnonymous && this.runningAnonymous >= ANONYMOUS_EXPORTS_MAX) {
      const detail = 'An export for somebody without identity is being written already; try again when it is done.';
      throw new LadderError('OVERLOADED', detail, { retryAfterSeconds: 5 });
    }
    const places = isAnonymous ? 1 : 0;
    this.running += 1;
    this.runningAnonymous += places;
    const ended = new AbortController();
    const tooLong = setTimeout(() => ended.abort(new Error('The export takes too long.')), EXPORT_LASTS_MS);
    let isFree = false;
    const free = (): void => {
      if (isFree) return;
      isFree = true;
      this.running -= 1;
      this.runningAnonymous -= places;
      clearTimeout(tooLong);
      ended.abort();
    };
    return { signal: AbortSignal.any([signal, ended.signal]), free };
  }
}

/** Of letters that every file system, and a header, takes. */
function fileNameOf({ board, window, scope }: ResolvedList, format: ExportFormat): string {
  const parts = [board.id, window.id, ...(scope === 'global' ? [] : [scope])];
  const safe = parts.map((part) => part.replace(/[^A-Za-z0-9.-]+/g, '-').slice(0, FILE_NAME_PART_MAX));
  return `${safe.join('_')}.${format}`;
}
