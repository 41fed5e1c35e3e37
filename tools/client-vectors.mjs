/**
 * Histories of lists for `clients/vectors`: random boards, and a network that loses, repeats and joins frames. What a client
 * has to show is what a plain model of the board holds; nothing of any client is used here.
 */

const PLAYERS = [
  'ada',
  'bob',
  'cy',
  'dee',
  'Eve',
  'fay',
  'São Tomé',
  '\uff5e',
  '\u{1f600}',
  'gus',
  'hal',
  'ida',
  'jo',
  'kim',
];
const TIEBREAKS = ['earliest', 'latest', 'none'];
const LIMIT = 10;
const STEPS = 40;

/** Repeatable chance (mulberry32). @param {number} seed */
function dice(seed) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return {
    below: (/** @type {number} */ n) => Math.floor(next() * n),
    chance: (/** @type {number} */ p) => next() < p,
  };
}

/**
 * The whole list of a board, sorted anew each time.
 * @param {Map<string, any>} players
 * @param {{ tiebreak: string, rankStyle: string }} rules
 */
function rowsOf(players, { tiebreak, rankStyle }) {
  const sorted = [...players].sort(([a, one], [b, two]) => {
    const time = tiebreak === 'none' ? 0 : one.achievedAt.localeCompare(two.achievedAt);
    return (
      two.score - one.score || (tiebreak === 'latest' ? -time : time) || Buffer.compare(Buffer.from(a), Buffer.from(b))
    );
  });
  const isEqual = (/** @type {any} */ a, /** @type {any} */ b) =>
    a.score === b.score && (tiebreak === 'none' || a.achievedAt === b.achievedAt);
  return sorted.flatMap(([playerId, { isListed, ...values }], index) => {
    let rank = index + 1;
    if (rankStyle === 'competition') while (rank > 1 && isEqual(sorted[rank - 2][1], values)) rank -= 1;
    const { displayName, score, achievedAt } = values;
    return isListed && index < LIMIT
      ? [{ rank, playerId, displayName, score, columns: {}, achievedAt, metadata: null }]
      : [];
  });
}

/** What turns one list into another. @param {any[]} before @param {any[]} after */
function changesOf(before, after) {
  const old = new Map(before.map((row) => [row.playerId, row]));
  const rows = new Set(after.map(({ playerId }) => playerId));
  const changed = after.flatMap((row) => {
    const was = old.get(row.playerId);
    const { rank, playerId } = row;
    if (was && JSON.stringify({ ...was, rank }) === JSON.stringify(row)) {
      return was.rank === rank ? [] : [{ playerId, rank, previousRank: was.rank }];
    }
    return [{ ...row, previousRank: was?.rank ?? null, previousScore: was?.score ?? null, passed: [] }];
  });
  const left = before.filter(({ playerId }) => !rows.has(playerId));
  return [...changed, ...left.map(({ playerId, rank }) => ({ playerId, rank: null, previousRank: rank }))];
}

/**
 * @param {number} seed
 * @param {{ tiebreak: string, rankStyle: string }} asked
 * @param {boolean} isMadeAgain whether the board is made again now and then, with another tie-break
 */
function history(seed, asked, isMadeAgain = false) {
  const { below, chance } = dice(seed);
  const rules = { ...asked };
  const players = new Map();
  /** Every state of the board that has a number. @type {{ seq: number, total: number, rows: any[] }[]} */
  const states = [];
  const asOf = (/** @type {number} */ seq) => new Date(Date.UTC(2026, 10, 20, 12, 0, 0, seq)).toISOString();

  function play() {
    for (let acts = 1 + below(4); acts > 0; acts -= 1) {
      const playerId = PLAYERS[below(PLAYERS.length)];
      const was = players.get(playerId);
      const act = was ? below(20) : 20;
      if (act < 3) players.delete(playerId);
      else if (act < 6) players.set(playerId, { ...was, displayName: `Name ${below(9)}` });
      else if (act < 8) players.set(playerId, { ...was, isListed: !was.isListed });
      else {
        const achievedAt = asOf(below(4) * 1000);
        players.set(playerId, { displayName: null, isListed: true, ...was, score: below(8), achievedAt });
      }
    }
    const seq = (states.at(-1)?.seq ?? 3) + 1 + below(3);
    states.push({ seq, total: players.size, rows: rowsOf(players, rules) });
  }
  const now = () => states[states.length - 1];
  const snapshot = () => {
    const { seq, total, rows } = now();
    return { type: 'snapshot', seq, asOf: asOf(seq), total, ...rules, entries: rows };
  };
  const delta = (/** @type {any} */ from, to = now()) => {
    const { seq, total, rows } = to;
    return { type: 'delta', seq, previousSeq: from.seq, asOf: asOf(seq), total, changes: changesOf(from.rows, rows) };
  };

  for (let warm = 0; warm < 4; warm += 1) play();
  /** What the client shows. */
  let held = now();
  /** @type {any[]} */
  const steps = [];
  const show = (/** @type {any} */ frame, /** @type {any[]} */ sends = []) => {
    const rows = held.rows.map(({ rank, playerId, score, displayName }) => [rank, playerId, score, displayName]);
    steps.push({ frame, sends, list: { seq: held.seq, total: held.total, rows } });
  };
  show(snapshot());
  while (steps.length < STEPS) {
    const isAnew = isMadeAgain && chance(0.1);
    if (isAnew) {
      players.clear();
      rules.tiebreak = TIEBREAKS[(TIEBREAKS.indexOf(rules.tiebreak) + 1) % TIEBREAKS.length];
    }
    play();
    if (isAnew || chance(0.12)) {
      held = now();
      show(snapshot());
    } else if (chance(0.15)) {
      // Lost on the way: what comes next does not lead on, and is asked for.
      const lost = now();
      play();
      const missed = delta(lost);
      show(missed, [{ type: 'resume', seq: held.seq }]);
      const asked = held;
      held = now();
      show(chance(0.5) ? delta(asked) : snapshot());
      if (chance(0.5)) show(missed);
    } else {
      const frame = delta(held);
      held = now();
      show(frame);
      // Told twice: nothing changes.
      if (chance(0.1)) show(frame);
    }
  }
  const ties = isMadeAgain ? 'made again with other ties' : `ties ${asked.tiebreak}`;
  return { name: `seed ${seed}, ranks ${asked.rankStyle}, ${ties}`, steps };
}

/** @returns {{ path: string, text: string }[]} as `pagesOf` of generate.mjs */
export function vectorPages() {
  const what =
    'Random boards: frames of one subscription as lists.json has them, and after each the rows of a plain model of the board: ' +
    '[rank, playerId, score, displayName]. Made by tools/client-vectors.mjs.';
  const histories = [
    history(1, { tiebreak: 'earliest', rankStyle: 'ordinal' }),
    history(2, { tiebreak: 'none', rankStyle: 'ordinal' }),
    history(3, { tiebreak: 'earliest', rankStyle: 'competition' }),
    history(4, { tiebreak: 'latest', rankStyle: 'competition' }),
    history(5, { tiebreak: 'none', rankStyle: 'competition' }),
    history(6, { tiebreak: 'earliest', rankStyle: 'competition' }, true),
  ];
  const lines = histories.map(
    ({ steps, ...about }) =>
      ` { ${JSON.stringify(about).slice(1, -1)}, "steps": [\n${steps.map((step) => `  ${JSON.stringify(step)}`).join(',\n')}\n ]}`,
  );
  return [
    {
      path: 'clients/vectors/histories.json',
      text: `{ "what": ${JSON.stringify(what)},\n"histories": [\n${lines.join(',\n')}\n]}\n`,
    },
  ];
}
