import { tableOf } from '../figures/figures.js';
import type { Latency, RankStyle, ReadFound } from './reads.js';
import type { RankWrites } from './writes.js';

/** What was measured of one layout. */
export interface LayoutFound {
  bytesPerEntry: number;
  rebuiltPerSecond: number;
  reads?: Record<string, ReadFound>;
  writes?: RankWrites;
}

/** What was read in each style: only what a plain client reads is shown. */
export type StylesFound = Partial<Record<RankStyle, Pick<ReadFound, 'plain'>>>;

/** What `npm run bench -- ranks` found. */
export interface RanksFound {
  entries: number;
  layouts: Record<string, LayoutFound>;
  /** Of a board whose scores are distinct, and of one that has ten. */
  styles: { distinct?: StylesFound; ties?: StylesFound };
  /** A command there and back. */
  ping: Latency;
}

/** Where it was measured. */
export interface RanksMeasured {
  machine: string;
  node: string;
  services: string;
  commit: string;
  command: string;
}

/** The tables of docs/benchmarks.md. */
export function rankTables(found: RanksFound & RanksMeasured): string {
  const { entries, layouts, styles, ping, machine, services, commit, command, node } = found;
  const parts = [
    `\`${command}\`: ${entries.toLocaleString('en')} entries; ${machine}, Node ${node}, ${services}; ${commit}`,
  ];
  parts.push(
    tableOf(
      ['layout', 'bytes an entry', 'brought back, entries/s'],
      Object.entries(layouts).map(([name, { bytesPerEntry, rebuiltPerSecond }]) => [
        name,
        bytesPerEntry.toFixed(1),
        Math.round(rebuiltPerSecond).toLocaleString('en'),
      ]),
    ),
  );
  const rows = Object.entries(layouts).flatMap(([name, { reads = {} }]) =>
    Object.entries(reads).map(([question, { service, plain }]) => [name, question, ...cells(service), ...cells(plain)]),
  );
  if (rows.length > 0) {
    const plain = ['without HTTP p50', 'p99'];
    parts.push(tableOf(['layout', 'read', 'p50', 'p99', ...plain], rows));
    parts.push(`One PING there and back: p50 ${ms(ping.p50)}, p99 ${ms(ping.p99)}.`);
  }
  const written = Object.entries(layouts).flatMap(([name, { writes }]) =>
    writes === undefined ? [] : [{ name, writes }],
  );
  const [first] = written;
  if (first !== undefined) {
    const processes = Object.keys(first.writes.cpu);
    const heads = ['layout', 'a submission, p50', 'p99', ...processes.map((name) => `${name}, µs of CPU`), 'a tick'];
    const rowOf = ({ name, writes }: (typeof written)[number]): string[] => [
      name,
      ...cells(writes),
      ...processes.map((process) => (writes.cpu[process] ?? NaN).toFixed(0)),
      ms(writes.tickMs),
    ];
    parts.push(tableOf(heads, written.map(rowOf)));
  }
  const { distinct, ties } = styles;
  if (distinct && ties) {
    const styled = (Object.keys(ties) as RankStyle[]).map((style) => {
      const [one, other] = [ties[style]?.plain, distinct[style]?.plain];
      const ratio = one && other ? (one.p50 / other.p50).toFixed(2) : '–';
      return [style, ...cells(other), ...cells(one), ratio];
    });
    parts.push(tableOf(['rank, without HTTP', 'distinct p50', 'p99', '10 scores p50', 'p99', 'times'], styled));
  }
  return parts.join('\n\n');
}

const ms = (value: number): string => `${value.toFixed(2)} ms`;
const cells = (one: Latency | null | undefined): string[] => (one ? [ms(one.p50), ms(one.p99)] : ['–', '–']);
