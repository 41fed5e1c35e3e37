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
];

/** The rows that the scenarios wrote, one JSON object a line. */
export const parseRows = (text) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** The rows as a table of Markdown, in the order of the faults. */
export function tableOf(rows) {
  const sorted = [...rows].sort((a, b) => order(a).localeCompare(order(b)));
  const cells = [
    COLUMNS.map(([title]) => title),
    ...sorted.map((row) => COLUMNS.map(([, cell]) => escaped(cell(row)))),
  ];
  const widths = COLUMNS.map((_, column) => Math.max(...cells.map((line) => line[column].length)));
  const line = (texts) => `| ${texts.map((text, column) => text.padEnd(widths[column])).join(' | ')} |\n`;
  const [head, ...body] = cells;
  return line(head) + line(widths.map((width) => '-'.repeat(width))) + body.map(line).join('');
}

/** What was tried again is told once, with how often. */
function counted(tried) {
  const times = new Map();
  for (const one of tried.split(', ')) times.set(one, (times.get(one) ?? 0) + 1);
  return [...times].map(([one, count]) => (count === 1 ? one : `${count} × ${one}`)).join(', ');
}

const order = ({ fault, log }) => `${fault} ${log}`;

const escaped = (value) => String(value).replaceAll('|', '\\|').replaceAll('\n', ' ');
