import type { SortColumn } from '@laddercast/domain';
import type { ExportFormat, ExportGuard } from '../queries.js';

/** A row of an exported list. */
export interface ExportedRow {
  /** 1-based, in the style that was asked for. */
  rank: number;
  /** 1-based, without ties. */
  ordinal: number;
  playerId: string;
  /** The id of the submission, on boards where each run is an entry. */
  entryId?: string;
  displayName: string | null;
  score: number;
  /** In the order of the board's columns. */
  columns: number[];
  /** RFC 3339. */
  achievedAt: string;
  scopes: string[];
  /** JSON as it was submitted. */
  metadata: string | null;
  /** On boards that keep runs. */
  verified?: boolean;
  /** An https URL, on boards that show it to everyone. */
  proof?: string | null;
  /** On boards with decay. */
  rawScore?: number;
  patch?: string;
  patchesBehind?: number;
}

/** Which fields the rows of a board have beside those that all have. */
export type RunField = 'entryId' | 'verified' | 'proof' | 'rawScore' | 'patch' | 'patchesBehind';

/** How rows are written. */
export interface LineFormat {
  mediaType: string;
  /** What stands before all rows. */
  head: string;
  /** The row with its line end. */
  line(row: ExportedRow): string;
}

/** The format for boards with these columns, and these fields of runs. */
export function lineFormatOf(
  format: ExportFormat,
  columns: readonly SortColumn[],
  guard?: ExportGuard,
  ofRuns: readonly RunField[] = [],
): LineFormat {
  return format === 'csv' ? csv(columns, guard === 'formulas' ? guarded : asItIs, ofRuns) : ndjson(columns);
}

/**
 * RFC 4180, with a header. Numbers are the shortest text that reads back as the same double; a board's columns are named
 * `columns.moves`; scopes are a JSON array, metadata are JSON; what is null is empty.
 * @param text how text is written; numbers and times are none
 */
function csv(columns: readonly SortColumn[], text: (value: string) => string, ofRuns: readonly RunField[]): LineFormat {
  const named = columns.map(({ name }) => `columns.${name}`);
  const ofAll = ['rank', 'ordinal', 'playerId', 'displayName', 'score', ...named, 'achievedAt', 'scopes', 'metadata'];
  return {
    mediaType: 'text/csv; charset=utf-8; header=present',
    head: csvLine([...ofAll, ...ofRuns]),
    line: (row) =>
      csvLine([
        String(row.rank),
        String(row.ordinal),
        text(row.playerId),
        text(row.displayName ?? ''),
        String(row.score),
        ...row.columns.map(String),
        row.achievedAt,
        text(JSON.stringify(row.scopes)),
        text(row.metadata ?? ''),
        ...ofRuns.map((field) => text(String(row[field] ?? ''))),
      ]),
  };
}

/** What was submitted is what is written: only so is an import the inverse of an export. */
const asItIs = (text: string): string => text;

/** Text that a spreadsheet would take for a formula, with a `'` before it, which makes it text there. */
const guarded = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);

/** One JSON object a line. */
function ndjson(columns: readonly SortColumn[]): LineFormat {
  return {
    mediaType: 'application/x-ndjson',
    head: '',
    line: (row) => {
      const named = Object.fromEntries(columns.map(({ name }, index) => [name, row.columns[index]]));
      const metadata = row.metadata === null ? null : (JSON.parse(row.metadata) as unknown);
      return `${JSON.stringify({ ...row, columns: named, metadata })}\n`;
    },
  };
}

const csvLine = (fields: readonly string[]): string => `${fields.map(csvField).join(',')}\r\n`;

/** Some readers cut spaces off the ends of a field that is not quoted. */
const csvField = (text: string): string => (/[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
