import { count, someOf } from '../command-line/arguments.js';
import type { Options, ValuesOf } from '../command-line/options.js';
import { cellOf, numberOf, quantile, tableOf } from '../figures/figures.js';
import { foldFloor, rowsFloor } from '../games/game-floors.js';
import { checkRatings, GameLoad, type GamesFound } from '../games/game-load.js';
import { PushedGames, type PushesFound } from '../games/pushes.js';
import { shapes, type ShapeName } from '../games/shapes.js';
import { builtCode } from '../installation/built-code.js';
import type { BenchContext, Log } from '../installation/context.js';
import { generatorName } from '../load/generator.js';
import { writeOptions } from '../writes/writes.js';
import { cpuTable, floorTable, type LoadRound } from '../writes/tables.js';

/** Games of rating pools, from POST to the board that their pool feeds, and to the socket of who watches it. */
export const description = 'games a second from POST to the boards that their pools feed, and POST to push';

export const logs: readonly Log[] = ['postgres', 'kafka'];

const names = Object.keys(shapes) as ShapeName[];

export const options = {
  shapes: { type: 'string', help: `only some of ${names.join(',')}`, parse: someOf(names) },
  pools: { type: 'string', help: 'how many pools the games are of (1, and 8 for 1v1)', parse: count },
  players: writeOptions.players,
  seconds: writeOptions.seconds,
  warmup: writeOptions.warmup,
  connections: writeOptions.connections,
  pace: { type: 'string', help: 'games a second of the paced load (70 % of what is shown)', parse: count },
  'games-per-second': {
    type: 'string',
    help: 'how many games a second are pushed (200)',
    default: '200',
    parse: count,
  },
} satisfies Options;

/** What one round found: as many games as go, and then so many a second. */
interface GamesRound extends LoadRound {
  full: GamesFound;
  paced: GamesFound;
}

type Context = BenchContext<ValuesOf<typeof options>>;

const floorSeconds = 2;
const pacedPart = 0.7;
const floorNames = { fold: 'the arithmetic alone', rows: 'the rows alone, one connection' };

export async function run(context: Context): Promise<string> {
  const { options: given } = context;
  const wanted = given.shapes ?? names;
  const found: Record<string, GamesRound[]> = {};
  const pushes: PushesFound[] = [];
  let compared = 0;
  let isFirst = true;
  for (const shape of wanted) {
    for (const pools of given.pools ? [given.pools] : shape === '1v1' ? [1, 8] : [1]) {
      const clean = isFirst ? context : await context.renew();
      isFirst = false;
      const name = `${shape}, ${pools} pool${pools === 1 ? '' : 's'}`;
      clean.step(name);
      const load = await measureGames(clean, shape, pools, name);
      found[name] = load.rounds;
      if (shape === '1v1') compared += await checkRatings(clean, load.poolIds);
      if (shape === '1v1' && pushes.length === 0) pushes.push(...(await measurePushes(clean)));
    }
  }
  context.keep({ options: given, games: found, pushes });
  return tables(found, { pushes, compared, given });
}

async function measureGames(
  context: Context,
  shape: ShapeName,
  pools: number,
  name: string,
): Promise<{ rounds: GamesRound[]; poolIds: readonly string[] }> {
  const { options: given, rounds: roundCount, step, installation } = context;
  const { players, connections, seconds, warmup } = given;
  const load = await GameLoad.make(context, shapes[shape], { pools, players, connections });
  const code = await builtCode(installation.root);
  step(`Warming up for ${warmup} s`);
  await load.run({ seconds: warmup });
  const rounds: GamesRound[] = [];
  for (let round = 1; round <= roundCount; round += 1) {
    const full = await load.run({ seconds });
    const paced = await load.run({ seconds, rate: given.pace ?? pacedPart * full.shownPerSecond });
    const floor = { players, seconds: floorSeconds };
    const floors = {
      fold: foldFloor(code, shapes[shape], floor),
      rows: await rowsFloor(context, code, shapes[shape], floor),
    };
    rounds.push({ full, paced, floors });
    step(`${name}, round ${round}: ${describe(full)}`);
    step(`paced: ${describe(paced)}`);
  }
  return { rounds, poolIds: load.poolIds };
}

const describe = ({ perSecond, shownPerSecond, p99, pendingMost, caughtUpMs, others }: GamesFound): string =>
  `${numberOf(perSecond)} recorded/s, ${numberOf(shownPerSecond)} shown/s, p99 ${numberOf(p99, 1)} ms, at most ${numberOf(pendingMost)} pending, caught up in ${numberOf(caughtUpMs)} ms, others ${numberOf(100 * others)} % of the CPU`;

async function measurePushes(context: Context): Promise<PushesFound[]> {
  const { options: given, rounds, step } = context;
  const { seconds, 'games-per-second': perSecond } = given;
  const games = await PushedGames.open(context);
  try {
    await games.run({ perSecond, seconds: 3 });
    const found: PushesFound[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      found.push(await games.run({ perSecond, seconds }));
      step(`pushes, round ${round}: p50 ${numberOf(quantileOf(found.at(-1)!.pushes, 0.5), 1)} ms`);
    }
    return found;
  } finally {
    games.close();
  }
}

const quantileOf = (values: readonly number[], part: number): number =>
  quantile(
    [...values].sort((a, b) => a - b),
    part,
  );

interface Found {
  pushes: readonly PushesFound[];
  compared: number;
  given: ValuesOf<typeof options>;
}

function tables(loads: Record<string, GamesRound[]>, { pushes, compared, given }: Found): string {
  const all = Object.entries(loads);
  const { seconds, players, connections } = given;
  const first = `Minimum / median / maximum of ${all[0]![1].length} rounds of ${seconds} s; ${numberOf(players)} players a pool, ${connections} connections of ${generatorName}; requests of ${names.map((name) => `${shapes[name].batch} (${name}, ${shapes[name].pool.algorithm})`).join(', ')} games; each pool feeds one board of all time. ${numberOf(compared)} ratings of 1v1 were those of a plain replay, and their boards showed them.`;
  const rows = all.flatMap(([name, rounds]) =>
    (['full', 'paced'] as const).map((which) => {
      const of = (what: (found: GamesFound) => number, digits?: number): string =>
        cellOf(
          rounds.map((round) => what(round[which])),
          digits,
        );
      return [
        `${name}, ${which === 'full' ? 'as many as go' : 'paced'}`,
        of(({ perSecond }) => perSecond),
        of(({ shownPerSecond }) => shownPerSecond),
        of(({ p50 }) => p50, 1),
        of(({ p99 }) => p99, 1),
        of(({ pendingMost }) => pendingMost),
        of(({ caughtUpMs }) => caughtUpMs),
      ];
    }),
  );
  const rates = tableOf(
    ['games', 'recorded, /s', 'shown, /s', 'request p50, ms', 'p99, ms', 'pending, at most', 'caught up after, ms'],
    rows,
  );
  const pushed = tableOf(
    [`ms, at ${given['games-per-second']} games a second`, 'p50', 'p99', 'max'],
    (['pushes', 'answers'] as const).map((what) => [
      what === 'pushes' ? 'POST due to the push of its rating' : 'POST due to answer',
      ...[0.5, 0.99, 1].map((part) =>
        cellOf(
          pushes.map((one) => quantileOf(one[what], part)),
          1,
        ),
      ),
    ]),
  );
  const shown = Object.fromEntries(
    all.map(([name, rounds]) => [
      name,
      rounds.map(({ full, floors }) => ({ full: { ...full, perSecond: full.shownPerSecond }, floors })),
    ]),
  );
  return [first, rates, cpuTable(loads), floorTable(shown, floorNames), ...(pushes.length > 0 ? [pushed] : [])].join(
    '\n\n',
  );
}
