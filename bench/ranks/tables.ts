/** The tables of docs/benchmarks.md. */
export function rankTables({ entries, layouts, styles, ping, machine, services, commit, command, node }) {
  const parts = [
    `\`${command}\`: ${entries.toLocaleString('en')} entries; ${machine}, Node ${node}, ${services}; ${commit}`,
  ];
  parts.push(
    table(
      ['layout', 'bytes an entry', 'brought back, entries/s'],
      Object.entries(layouts).map(([name, { bytesPerEntry, rebuiltPerSecond }]) => [
        name,
        bytesPerEntry.toFixed(1),
        Math.round(rebuiltPerSecond).toLocaleString('en'),
      ]),
    ),
  );
  const read = Object.entries(layouts).filter(([, { reads }]) => reads !== undefined);
  const rows = read.flatMap(([name, { reads }]) =>
    Object.entries(reads).map(([question, { service, plain }]) => [name, question, ...cells(service), ...cells(plain)]),
  );
  if (rows.length > 0) {
    const plain = ['without HTTP p50', 'p99'];
    parts.push(table(['layout', 'read', 'p50', 'p99', ...plain], rows));
    parts.push(`One PING there and back: p50 ${ms(ping.p50)}, p99 ${ms(ping.p99)}.`);
  }
  const written = Object.entries(layouts).filter(([, { writes }]) => writes !== undefined);
  if (written.length > 0) {
    const processes = Object.keys(written[0][1].writes.cpu);
    const heads = ['layout', 'a submission, p50', 'p99', ...processes.map((name) => `${name}, µs of CPU`), 'a tick'];
    const rowOf = ([name, { writes }]) => [
      name,
      ...cells(writes),
      ...processes.map((process) => writes.cpu[process].toFixed(0)),
      ms(writes.tickMs),
    ];
    parts.push(table(heads, written.map(rowOf)));
  }
  const { distinct, ties } = styles;
  if (distinct && ties) {
    const ratio = (style) => {
      const [one, other] = [ties[style].plain, distinct[style].plain];
      return one && other ? (one.p50 / other.p50).toFixed(2) : '–';
    };
    const styled = Object.keys(ties).map((style) => [
      style,
      ...cells(distinct[style].plain),
      ...cells(ties[style].plain),
      ratio(style),
    ]);
    parts.push(table(['rank, without HTTP', 'distinct p50', 'p99', '10 scores p50', 'p99', 'times'], styled));
  }
  return parts.join('\n\n');
}

const ms = (value) => `${value.toFixed(2)} ms`;
const cells = (one) => (one ? [ms(one.p50), ms(one.p99)] : ['–', '–']);

function table(heads, rows) {
  const widths = heads.map((head, at) => Math.max(head.length, ...rows.map((row) => row[at].length)));
  const line = (row) => `| ${row.map((cell, at) => cell.padEnd(widths[at])).join(' | ')} |`;
  return [line(heads), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n');
}
