const COLUMNS = [
  ['fault', (row) => row.fault],
  ['log', (row) => row.log],
  ['tried', (row) => counted(row.tried)],
  ['submissions answered', (row) => row.answered],
  ['lost', (row) => row.lost],
  ['doubled', (row) => row.doubled],
  ['lists compared', (row) => row.boards],
  ['spectators', (row) => row.spectators],
  ['reads answered', (row) => row.reads ?? ''],
  ['reads refused', (row) => row.refused ?? ''],
  ['whole after (s)', (row) => row.wholeAfterSeconds.toFixed(1)],
  ['commit', (row) => row.commit],
];
const TITLES = COLUMNS.map(([title]) => title);
/** 2 before 10. */
const IN_ORDER = new Intl.Collator('en', { numeric: true });

/** The rows that the scenarios wrote, one JSON object a line. */
export const parseRows = (text) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** The cells of the rows, by column. */
export const cellsOf = (rows) => rows.map((row) => COLUMNS.map(([, cell]) => escaped(cell(row))));

/** The cells of a table that {@link tableOf} wrote on a page; none where it has other columns. */
export function cellsOnPage(page) {
  const lines = page.split('\n').filter((line) => line.startsWith('| '));
  const [titles, , ...cells] = lines.map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return titles?.join() === TITLES.join() ? cells : [];
}

/** What was known, with what a run found in its place: a fault that failed, or was tried anew, has no rows of before. */
export function merged(before, rows) {
  const tried = new Set(rows.map(({ fault, log }) => nameOf(fault, log)));
  return [
    ...before.filter(([fault, log]) => !tried.has(nameOf(fault, log))),
    ...cellsOf(rows.filter(({ failed }) => !failed)),
  ];
}

/** Cells as a table of Markdown, in the order of the faults. */
export function tableOf(body) {
  const sorted = [...body].sort(([a, logOfA], [b, logOfB]) => IN_ORDER.compare(nameOf(a, logOfA), nameOf(b, logOfB)));
  const cells = [TITLES, ...sorted];
  const widths = COLUMNS.map((_, column) => Math.max(...cells.map((line) => line[column].length)));
  const line = (texts) => `| ${texts.map((text, column) => text.padEnd(widths[column])).join(' | ')} |\n`;
  return line(TITLES) + line(widths.map((width) => '-'.repeat(width))) + sorted.map(line).join('');
}

/** What was tried again is told once, with how often. */
function counted(tried) {
  const times = new Map();
  for (const one of tried.split(', ')) times.set(one, (times.get(one) ?? 0) + 1);
  return [...times].map(([one, count]) => (count === 1 ? one : `${count} × ${one}`)).join(', ');
}

const nameOf = (fault, log) => `${fault} ${log}`;

const escaped = (value) => String(value).replaceAll('|', '\\|').replaceAll('\n', ' ');
