import { setTimeout as sleep } from 'node:timers/promises';

import { sendGames } from './ratings.mjs';

/** Two submissions a match, and at most 1,000 submissions a call. */
const MATCHES_PER_CALL_MAX = 500;
const CALL_EVERY_MS = 100;
const ITEM_ATTEMPTS_MAX = 10;
const ITEM_RETRY_DELAY_MS = 1_000;

/**
 * The two submissions of a match. They carry the row of the file, not the match: the same match occurs twice on one
 * date. Both count for the same millisecond.
 */
export function submissionsOf(match, { board, replay }) {
  const achievedAt = new Date(replay.startsAtMs + match.row).toISOString();
  return [
    { side: 'h', ...match.home },
    { side: 'a', ...match.away },
  ].map(({ side, team, points }) => ({
    board,
    submissionId: `${replay.id}-${match.row}-${side}`,
    playerId: team,
    score: points,
    achievedAt,
  }));
}

/**
 * Plays the matches through `POST /v1/scores` and `POST /v1/games`, in order, one call of each under way at a time.
 * @param onPlayed called with the row of the last match played, and awaited, after each call
 * @param onProgress called with the tally after each call: `{ played, counted, replayed, failed, date }`
 * @param onFailure called with `(submission, problem)` for each submission that was refused
 * @returns the last tally
 */
export async function playMatches(
  client,
  matches,
  { board, pool, replay, matchesPerSecond, onProgress, onPlayed, onFailure },
) {
  const tally = { played: 0, counted: 0, replayed: 0, failed: 0, date: null };
  const startedAt = performance.now();
  while (tally.played < matches.length) {
    const calledAt = performance.now();
    const due = Math.ceil(((calledAt - startedAt + CALL_EVERY_MS) / 1000) * matchesPerSecond);
    const end = Math.min(matches.length, due, tally.played + MATCHES_PER_CALL_MAX);
    const batch = matches.slice(tally.played, end);
    if (batch.length > 0) {
      const submissions = batch.flatMap((match) => submissionsOf(match, { board, replay }));
      const fail = (sent, problem) => {
        tally.failed += 1;
        onFailure(sent, problem);
      };
      const [results] = await Promise.all([
        submit(client, submissions),
        sendGames(client, batch, { pool, replay, onFailure: fail }),
      ]);
      for (const { submission, result } of results) {
        if (result.problem) fail(submission, result.problem);
        else tally[result.replayed ? 'replayed' : 'counted'] += 1;
      }
      tally.played = end;
      tally.date = batch.at(-1).date;
      await onPlayed(batch.at(-1).row);
      onProgress(tally);
    }
    if (matchesPerSecond !== Infinity) await sleep(Math.max(0, CALL_EVERY_MS - (performance.now() - calledAt)));
  }
  return tally;
}

/** Submits a batch; single submissions that were refused for now are sent again under their ids. */
async function submit(client, submissions) {
  const answered = new Map();
  let open = submissions;
  for (let attempt = 1; open.length > 0; attempt += 1) {
    const { body } = await client.call('POST', '/v1/scores', { submissions: open });
    open.forEach((submission, index) => answered.set(submission, body.results[index]));
    open = open.filter((submission) => isForNow(answered.get(submission).problem));
    if (open.length === 0 || attempt === ITEM_ATTEMPTS_MAX) break;
    await sleep(ITEM_RETRY_DELAY_MS);
  }
  return submissions.map((submission) => ({ submission, result: answered.get(submission) }));
}

function isForNow(problem) {
  return problem?.status === 429 || problem?.status === 503;
}
