import { count, someOf } from '../command-line/arguments.js';
import type { Options, ValuesOf } from '../command-line/options.js';
import { cellOf, numberOf, spread, tableOf } from '../figures/figures.js';
import type { BenchContext, Log } from '../installation/context.js';
import { measureMessages, messagesTable } from '../writes/lane-messages.js';
import { cpuTable, floorTable } from '../writes/tables.js';
import { measureWrites, writeOptions, type WriteRound, type WritesFound } from '../writes/writes.js';

/** Whether more processes and more lanes take more submissions: each of them on a clean state of its own. */
export const description = 'submissions with 1, 2 and 4 api processes and 2 and 8 lanes: what a commit holds and costs';

export const logs: readonly Log[] = ['postgres', 'kafka'];

const processes = ['1', '2', '4'] as const;
const lanes = ['2', '8'] as const;

export const options = {
  ...writeOptions,
  entries: { type: 'string', help: 'how many entries the board has (300000)', default: '300000', parse: count },
  apis: { type: 'string', help: `only some of ${processes.join(',')} api processes`, parse: someOf(processes) },
  lanes: { type: 'string', help: `only some of ${lanes.join(',')} lanes`, parse: someOf(lanes) },
} satisfies Options;

export async function run(context: BenchContext<ValuesOf<typeof options>>): Promise<string> {
  const { options: given, step, keep } = context;
  const found: Record<string, WriteRound[]> = {};
  for (const laneCount of given.lanes ?? lanes) {
    for (const apiCount of given.apis ?? processes) {
      const clean = await context.renew({ LEDGER_LANES: laneCount }, Number(apiCount));
      const name = nameOf(laneCount, apiCount);
      step(name);
      found[name] = await measureWrites(clean, { definition: {}, batch: 0 });
    }
  }
  step('Messages between two processes');
  const messages = await measureMessages(context.installation.root);
  keep({ options: given, found, messages });
  return [
    scaleTable(found),
    handingOverTable(found),
    messagesTable(messages),
    cpuTable(found),
    floorTable(found, { commit: 'group commit, one connection' }),
  ].join('\n\n');
}

/** What each reached, and what of the first row that is. */
function scaleTable(found: Record<string, WriteRound[]>): string {
  const median = (rounds: readonly WriteRound[], of: (round: WriteRound) => number): number =>
    spread(rounds.map(of)).median;
  const rate = (rounds: readonly WriteRound[]): number => median(rounds, ({ full }) => full.perSecond);
  const first = rate(Object.values(found)[0]!);
  return tableOf(
    ['', 'submissions, /s', 'of the first', 'p50, ms', 'p99, ms', 'submissions a commit'],
    Object.entries(found).map(([name, rounds]) => [
      name,
      cellOf(rounds.map(({ full }) => full.perSecond)),
      (rate(rounds) / first).toFixed(2),
      numberOf(
        median(rounds, ({ full }) => full.p50),
        1,
      ),
      numberOf(
        median(rounds, ({ full }) => full.p99),
        1,
      ),
      numberOf(
        median(rounds, ({ full }) => full.commit ?? NaN),
        1,
      ),
    ]),
  );
}

type Loads = Record<string, readonly { full: Pick<WritesFound, 'cpu' | 'handedOver'> }[]>;

/**
 * How many submissions an api handed to the owner of their lane, and what that costs: what all api processes take for a
 * submission beyond what one takes, which hands none over, for each that is handed over. It is both sides of the way, and whatever
 * else it costs that there is more than one process.
 */
export function handingOverTable(found: Loads): string {
  const median = (rounds: Loads[string], of: (full: Loads[string][number]['full']) => number): number =>
    spread(rounds.map(({ full }) => of(full))).median;
  const apiOf = (rounds: Loads[string]): number => median(rounds, ({ cpu }) => cpu['api'] ?? NaN);
  return tableOf(
    ['', 'handed over, %', 'CPU of the api beyond that of one, µs each', 'the same, µs for each handed over'],
    Object.entries(found).map(([name, rounds]) => {
      const share = median(rounds, ({ handedOver }) => handedOver);
      const alone = found[aloneOf(name)];
      const more = alone === undefined || alone === rounds ? NaN : apiOf(rounds) - apiOf(alone);
      return [name, numberOf(share, 1), cellOrDash(more), cellOrDash((100 * more) / share)];
    }),
  );
}

const cellOrDash = (value: number): string => (Number.isFinite(value) ? numberOf(value) : '–');

const nameOf = (laneCount: string, apiCount: string): string => `${laneCount} lanes, ${apiCount} api`;

/** The same with one api process. */
const aloneOf = (name: string): string => nameOf(name.split(' ')[0]!, '1');
