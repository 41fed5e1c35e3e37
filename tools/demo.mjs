import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { differences, prepareBoard, readLeader, readTable } from './demo/board.mjs';
import { CatchUp } from './demo/catch-up.mjs';
import { prepareCircles } from './demo/circles.mjs';
import { Client } from './demo/client.mjs';
import { closeDecade, decadesOf } from './demo/decades.mjs';
import { listsOf } from './demo/lists.mjs';
import { readMatches } from './demo/matches.mjs';
import { readOptions, usage } from './demo/options.mjs';
import { ProgressBar } from './demo/progress-bar.mjs';
import { compareRatings, prepareRatings, ratingsOf } from './demo/ratings.mjs';
import { playPatches } from './demo/patches.mjs';
import { playMatches } from './demo/replay.mjs';
import { describeFailure, Problem } from './problem.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const results = new URL('../data/football-results-1872-1999.csv', import.meta.url);
const leaderEveryMs = 1_000;
const failuresShownMax = 10;
const topShown = 10;
const faultsShownMax = 5;
const number = new Intl.NumberFormat('en');
/** What an interrupted demo says. */
let hint = 'Go on with --replay and the id above.';

/** Plays the matches behind a progress bar that also says who leads. */
async function play(client, matches, decades, options, bar) {
  const state = { played: 0, date: matches[0].date, leader: null };
  let leaderReadAt = -Infinity;
  let failuresShown = 0;
  const onProgress = ({ played, date }) => {
    bar.show(Object.assign(state, { played, date }));
    if (performance.now() - leaderReadAt < leaderEveryMs) return;
    leaderReadAt = performance.now();
    void readLeader(client, options.board).then((leader) => (state.leader = leader ?? state.leader));
  };
  const onFailure = ({ submissionId, playerId }, problem) => {
    failuresShown += 1;
    if (failuresShown > failuresShownMax) return;
    bar.note(`Refused: ${submissionId} (${playerId}): ${problem.code} ${problem.detail ?? problem.title}`);
  };
  // As soon as a decade's last match is played, its standings become final.
  const open = [...decades];
  const onPlayed = async (row) => {
    while (open.length > 0 && open[0].lastRow <= row) await closeDecade(client, options.board, open.shift());
  };
  const pool = ratingsOf(options.board);
  const tally = await playMatches(client, matches, { ...options, pool, onProgress, onPlayed, onFailure });
  state.leader = (await readLeader(client, options.board)) ?? state.leader;
  bar.show(state, { last: true });
  return tally;
}

function printTop(table) {
  console.log('');
  for (const { rank, playerId, score } of table.slice(0, topShown)) {
    console.log(`${String(rank).padStart(4)}  ${playerId.padEnd(24)} ${number.format(Math.round(score)).padStart(6)}`);
  }
  console.log('');
}

function printVerdict({ lists, shown, faults }, { replay, keep }) {
  const teams = `${number.format(shown.length)} nations`;
  if (keep && replay.isNew) {
    console.log(`${teams}; not compared with the file, because the replay was added to what was there (--keep).`);
    return true;
  }
  if (faults.length === 0) {
    console.log(`The board equals the table computed from the file: ${teams}, points and order.`);
    const counts = lists.slice(1).map(({ what, count }) => `${count} ${what}`);
    console.log(`So do its other lists: ${counts.join(', ')}.`);
    return true;
  }
  console.log('The board does not equal the table computed from the file:');
  for (const line of faults) console.log(`  ${line}`);
  console.log(
    'Other scores on the same board do that too; a new replay (without --replay) starts with an empty board.',
  );
  return false;
}

function printRatings({ shown, faults }) {
  if (faults.length === 0) {
    console.log(`The ratings equal World Football Elo computed from the file: ${number.format(shown.length)} nations.`);
    return true;
  }
  console.log('The ratings do not equal World Football Elo computed from the file:');
  for (const line of faults) console.log(`  ${line}`);
  return false;
}

/** Compares every list of the board with its table: the first ones all, then continents, parts of them, decades. */
async function compareAll(client, board, matches, decades) {
  const lists = listsOf(matches, decades);
  const catchUp = new CatchUp();
  let first = null;
  const faults = [];
  for (const { what, tables } of lists) {
    for (const { list, table } of tables) {
      const { shown, faults: found } = await catchUp.look(
        () => readTable(client, board, list),
        (rows) => differences(table, rows),
      );
      first ??= shown;
      faults.push(...found.map((line) => (what === 'nations' ? line : `${Object.values(list).join(' ')}: ${line}`)));
      if (faults.length >= faultsShownMax) return { lists, shown: first, faults };
    }
  }
  return { lists: lists.map(({ what, tables }) => ({ what, count: tables.length })), shown: first, faults };
}

function patchesAlone(options) {
  hint = 'The same command goes on.';
  return playPatches(new Client({ ...options, onRetry: (text) => console.log(text) }), options);
}

async function main() {
  const options = readOptions(process.argv.slice(2), { root });
  if (options.help) {
    console.log(usage);
    return true;
  }
  if (options.key === null) {
    throw new Problem(
      'There is no key. Start the service with npm start, or set LADDER_KEY to a key with admin rights.',
    );
  }
  if (options.patches) return patchesAlone(options);
  const matches = readMatches(readFileSync(results, 'utf8')).slice(0, options.limit);
  const bar = new ProgressBar(matches.length);
  const client = new Client({ url: options.url, key: options.key, onRetry: (text) => bar.note(text) });
  const { replay, board } = options;
  const decades = decadesOf(matches);
  const emptied = replay.isNew && !options.keep;
  console.log(await prepareBoard(client, board, { emptied, decades, replay }));
  await prepareRatings(client, ratingsOf(board), { emptied });
  const onProgress = (done, total) => bar.prepare(`Nations, continents and rivals: ${done} of ${total}`);
  const circles = await prepareCircles(client, matches, { onProgress });
  bar.note(
    `${circles.nations} nations have their continent as region, a part of it as guild (${circles.guilds}), and rivals as friends.`,
  );
  console.log(`Watch it live: ${options.url.replace(/\/+$/, '')}/${board === 'football' ? '' : `?board=${board}`}`);
  console.log(
    `Replay ${replay.id}: ${number.format(matches.length)} matches (again: npm run demo -- --replay ${replay.id})\n`,
  );
  bar.start();
  const tally = await play(client, matches, options.keep ? [] : decades, options, bar);
  const isAdded = options.keep && replay.isNew;
  const verdict = isAdded
    ? { lists: [], shown: await readTable(client, board), faults: [] }
    : await compareAll(client, board, matches, decades);
  const ratings = isAdded ? null : await compareRatings(client, ratingsOf(board), matches);
  printTop(verdict.shown);
  if (ratings !== null) {
    console.log('Ratings, after every match (World Football Elo):');
    printTop(ratings.shown);
  }
  console.log(
    `${number.format(tally.counted)} results counted, ${number.format(tally.replayed)} had been counted before, ` +
      `${number.format(tally.failed)} refused.`,
  );
  const isRight = printVerdict(verdict, options);
  return (ratings === null || printRatings(ratings)) && isRight && tally.failed === 0;
}

process.once('SIGINT', () => {
  console.log(`\nInterrupted. What was played is kept. ${hint}`);
  process.exit(130);
});
try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  console.error(`\n${describeFailure(error)}\n`);
  process.exitCode = 1;
}
