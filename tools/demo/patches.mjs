import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../problem.mjs';
import { readTable } from './board.mjs';
import { CatchUp } from './catch-up.mjs';
import { FAMILY, patchAfter, prepareBoards, prepareFamily, preparePlayers } from './patch-family.mjs';
import { publish, readPatches, readTax } from './patch-family.mjs';
import { achievements, earlierRuns, laterRuns, players } from './patch-runs.mjs';
import { SentRuns, tableFaults } from './taxed-table.mjs';

const RUNS_PER_CALL_MAX = 500;
const RUNS_PER_TICK = 8;
const TICK_MS = 1000;
const PUBLISH_AFTER_MAX_S = 15;
const LOOK_MS = 250;
const TELL_MS = 2000;
const TAXED_WITHIN_MS = 120_000;
const ATTEMPTS_MAX = 10;
const topShown = 10;

const number = new Intl.NumberFormat('en');
const percent = new Intl.NumberFormat('en', { style: 'percent' });
const sentence = (...parts) => console.log(parts.join(' '));

/**
 * Shows boards with decay: a family of patches, a board for each achievement, runs that a generator makes, and a patch that
 * is published while they go on.
 * @param options `{ url, seconds, seed }`: how long runs are submitted, and what makes them the same again
 * @returns whether every board ended as what was sent makes it
 * @throws Problem when the service refuses something, or a board is not taxed in time
 */
export async function playPatches(client, { url, seconds, seed }) {
  const known = await prepareFamily(client);
  const isWhole = await prepareBoards(client);
  await preparePlayers(client);
  const sent = new SentRuns();
  const before = earlierRuns(seed);
  for (let at = 0; at < before.length; at += RUNS_PER_CALL_MAX) {
    await submit(client, before.slice(at, at + RUNS_PER_CALL_MAX), sent);
  }
  tellWhatIsThere(known, before.length, { url, seed });

  const next = patchAfter(known);
  const publishAfterS = Math.min(PUBLISH_AFTER_MAX_S, Math.ceil(seconds / 3));
  sentence(`Runs come in for ${seconds} s. In ${publishAfterS} s patch ${next} is published: watch the board.\n`);
  const state = { patchIds: known.map(({ patch }) => patch), count: 0 };
  const stop = new AbortController();
  const endsAt = performance.now() + seconds * 1000;
  const publishing = publishLater(client, next, publishAfterS * 1000, state, stop.signal);
  const submitting = keepSubmitting(client, { seed, endsAt, sent, state, signal: stop.signal });
  try {
    await Promise.all([publishing, submitting]);
  } finally {
    stop.abort();
  }
  sentence(`${number.format(state.count)} runs came in while one watched.`);
  return compare(client, sent, { isWhole });
}

function tellWhatIsThere(known, runs, { url, seed }) {
  const named = known.map(({ patch, sameAs }) => (sameAs === null ? patch : `${patch} (counts as ${sameAs})`));
  sentence(`Family ${FAMILY}: ${named.join(', ')}. Each patch behind adds 10 % of a run's days.`);
  sentence(
    `${achievements.length} boards by the template ${FAMILY}, with ${number.format(runs)} runs of ${players.length} players.`,
    `A generator made them (--seed ${seed}): nobody played them.`,
  );
  const base = url.replace(/\/+$/, '');
  sentence('Watch them live:');
  for (const { board, title } of achievements) sentence(`  ${base}/?board=${board}  ${title}`);
  sentence(`A player on all of them: GET ${base}/v1/players/${players[0].playerId}/standings?template=${FAMILY}`);
}

async function keepSubmitting(client, { seed, endsAt, sent, state, signal }) {
  const make = laterRuns(seed, `demo-${Date.now().toString(36)}`);
  while (performance.now() < endsAt && !signal.aborted) {
    const calledAt = performance.now();
    const runs = Array.from({ length: RUNS_PER_TICK }, () => make(state.patchIds));
    await submit(client, runs, sent);
    state.count += runs.length;
    const untilNext = Math.min(calledAt + TICK_MS, endsAt) - performance.now();
    if (untilNext > 0) await sleep(untilNext);
  }
}

async function publishLater(client, patch, afterMs, state, signal) {
  await sleep(afterMs, undefined, { signal });
  const startedAt = performance.now();
  await publish(client, patch);
  state.patchIds.push(patch);
  sentence(`Patch ${patch} is out. The boards are taxed anew; runs and reads go on.`);
  await untilTaxed(client, patch, startedAt, signal);
  const took = ((performance.now() - startedAt) / 1000).toFixed(1);
  sentence(`All ${achievements.length} boards show the tax of ${patch}, ${took} s after it was published.`);
}

/** Waits until every board shows the tax of a patch, and says now and then how far they are. */
async function untilTaxed(client, patch, startedAt, signal) {
  let toldAt = startedAt;
  for (;;) {
    signal.throwIfAborted();
    const taxes = await Promise.all(achievements.map(({ board }) => readTax(client, board)));
    const open = taxes.flatMap((tax, at) => (tax.latest === patch ? [] : [{ ...achievements[at], tax }]));
    if (open.length === 0) return;
    const now = performance.now();
    const words = open.map(({ board, tax }) => `${board} ${percent.format(tax.retaxing?.done ?? 0)}`).join(', ');
    if (now - startedAt > TAXED_WITHIN_MS) {
      throw new Problem(`${patch} was published two minutes ago, and these boards are not taxed by it yet: ${words}.`);
    }
    if (now - toldAt >= TELL_MS) {
      toldAt = now;
      sentence(`  ${words}`);
    }
    await sleep(LOOK_MS);
  }
}

/** Submits runs; those that were refused for now are sent again under their ids. */
async function submit(client, runs, sent) {
  let open = runs;
  for (let attempt = 1; open.length > 0; attempt += 1) {
    const { body } = await client.call('POST', '/v1/scores', { submissions: open });
    const refused = open.flatMap((run, at) => (body.results[at].problem ? [[run, body.results[at].problem]] : []));
    const final = refused.find(([, { status }]) => status !== 429 && status !== 503);
    if (final || attempt === ATTEMPTS_MAX) {
      const [run, problem] = final ?? refused[0] ?? [];
      if (run) throw new Problem(`A run on ${run.board} was refused: ${problem.detail ?? problem.title}`);
    }
    open = refused.map(([run]) => run);
    if (open.length > 0) await sleep(1000);
  }
  for (const run of runs) sent.add(run);
}

async function compare(client, sent, { isWhole }) {
  const behind = new Map((await readPatches(client)).map((one) => [one.patch, one.behind]));
  const catchUp = new CatchUp();
  let rows = 0;
  let isRight = true;
  for (const [at, { board, title }] of achievements.entries()) {
    const standings = sent.standings(board, (patch) => behind.get(patch));
    const { shown, faults } = await catchUp.look(
      () => readTable(client, board),
      (table) => tableFaults(table, standings, { isWhole }),
    );
    rows += shown.length;
    isRight &&= faults.length === 0;
    if (at === 0) printTop(title, shown);
    for (const fault of faults) sentence(`${board}: ${fault}`);
  }
  const what = isWhole ? 'what the runs that were sent give' : 'no worse than what the runs that were sent give';
  if (isRight) sentence(`Every row is right: ${number.format(rows)} rows, each ${what}, taxed and in order.`);
  else sentence('The boards do not show what the runs that were sent give. Other runs on them do that too.');
  return isRight;
}

function printTop(title, table) {
  sentence(`\n${title}:`);
  for (const { rank, displayName, playerId, score, rawScore, patch, patchesBehind } of table.slice(0, topShown)) {
    const run = `${number.format(rawScore)} on ${patch}, ${patchesBehind} behind`;
    const name = (displayName ?? playerId).padEnd(12);
    sentence(`${String(rank).padStart(4)}  ${name} ${number.format(score).padStart(10)}  ${run}`);
  }
  sentence('');
}
