const WIN = 3;
const DRAW = 1;
const DEFEAT = 0;

/**
 * The matches of the results file, in its order.
 * @param {string} text RFC 4180 with a header line
 * @returns `[{ row, date, tournament, isNeutral, home, away }]`: `row` counts from 1, `home` and `away` are `{ team, goals,
 *   points }`; in a neutral place nobody is at home
 * @throws Error naming the row whose result is not two whole numbers
 */
export function readMatches(text) {
  const [header, ...records] = parseCsv(text);
  const column = (name) => header.indexOf(name);
  const [date, homeTeam, awayTeam, homeScore, awayScore, tournament, neutral] = [
    column('date'),
    column('home_team'),
    column('away_team'),
    column('home_score'),
    column('away_score'),
    column('tournament'),
    column('neutral'),
  ];
  return records.map((record, index) => {
    const goals = [record[homeScore], record[awayScore]].map((field) => (/^\d+$/.test(field) ? Number(field) : NaN));
    if (goals.some(Number.isNaN)) throw new Error(`Row ${index + 1} of the results has no result: ${record.join(',')}`);
    return {
      row: index + 1,
      date: record[date],
      tournament: record[tournament],
      isNeutral: record[neutral] === 'TRUE',
      home: { team: record[homeTeam], goals: goals[0], points: pointsFor(goals[0], goals[1]) },
      away: { team: record[awayTeam], goals: goals[1], points: pointsFor(goals[1], goals[0]) },
    };
  });
}

function pointsFor(own, other) {
  if (own > other) return WIN;
  return own === other ? DRAW : DEFEAT;
}

/**
 * The table that the board must show after these matches, computed from them alone: `[{ rank, playerId, score, row }]`.
 * Equal points are ordered by the row that last brought points (the first row, for a team without any), the earlier
 * before the later; two teams that drew with each other there, by the bytes of their names.
 */
export function tableOf(matches) {
  const teams = new Map();
  for (const { row, home, away } of matches) {
    for (const { team, points } of [home, away]) {
      const known = teams.get(team);
      if (!known) teams.set(team, { playerId: team, score: points, row });
      else if (points > 0) teams.set(team, { playerId: team, score: known.score + points, row });
    }
  }
  const inOrder = [...teams.values()].sort(
    (a, b) => b.score - a.score || a.row - b.row || Buffer.compare(Buffer.from(a.playerId), Buffer.from(b.playerId)),
  );
  return inOrder.map((team, index) => ({ rank: index + 1, ...team }));
}

/** Records of an RFC 4180 text; a quoted field may hold commas, line ends and doubled quotes. */
export function parseCsv(text) {
  const records = [];
  const field = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r?\n|$)/y;
  let record = [];
  while (field.lastIndex < text.length) {
    const match = field.exec(text);
    if (!match) throw new Error(`The results file is not CSV after record ${records.length}`);
    const [, raw, end] = match;
    record.push(raw.startsWith('"') ? raw.slice(1, -1).replaceAll('""', '"') : raw);
    if (end !== ',') {
      records.push(record);
      record = [];
    }
  }
  return records;
}
