const FIRST = [
  'Ada',
  'Bo',
  'Chidi',
  'Dmitri',
  'Elif',
  'Farah',
  'Goran',
  'Hana',
  'Ines',
  'Jonas',
  'Kofi',
  'Lena',
  'Mei',
  'Noor',
];
const LAST = ['Okafor', 'Silva', 'Nakamura', 'Novak', 'Haddad', 'Larsen', 'Moreau', 'Petrov'];
const NAMES = [
  'x'.repeat(128),
  'مُحَمَّد بن عبد الله',
  '<b>bold</b><script>alert(1)</script>',
  'São Tomé and Príncipe',
  'שלום עולם 123',
  'Ω'.repeat(60),
  'a',
];
const PLAYERS = 112;
const FEED_EVERY_MS = 250;
const FED_AT_ONCE = 6;

const board = (title, options = {}) => ({
  ...{ title, order: 'desc', operator: 'best', windows: ['alltime', 'daily', 'weekly'], push: { intervalMs: 250 } },
  ...options,
});

const BOARDS = {
  'shown-busy': board('Ranked blitz', { operator: 'sum' }),
  'shown-empty': board('Nobody was here yet'),
  'shown-names': board('Names of the world'),
  'shown-money': board('High rollers', { format: { kind: 'currency', decimals: 2, unit: 'EUR' } }),
  'shown-time': board('City marathon', {
    ...{ order: 'asc', format: { kind: 'time', decimals: 3, unit: null } },
    columns: [{ name: 'bib', order: 'asc' }],
  }),
};

const playerAt = (at) => ({
  id: `shown-${at}`,
  name: `${FIRST[at % FIRST.length]} ${LAST[Math.floor(at / FIRST.length)]}`,
});

/** Makes the boards that the pictures show beside the demo's; made again, they are as they were. */
export async function makeBoards(client) {
  const players = Array.from({ length: PLAYERS }, (_, at) => playerAt(at));
  for (const { id, name } of players) await client.call('PUT', `/v1/players/${id}`, { displayName: name });
  for (const [id, definition] of Object.entries(BOARDS)) await client.call('PUT', `/v1/boards/${id}`, definition);
  await submit(
    client,
    'shown-busy',
    players.map(({ id }, at) => [id, 3000 - at * 9]),
  );
  await submit(
    client,
    'shown-names',
    NAMES.map((name, at) => [name, Math.round(9e9 / 7 ** at)]),
  );
  await submit(
    client,
    'shown-money',
    players.map(({ id }, at) => [id, Math.round(125e6 / (at + 1) ** 1.4) / 100]),
  );
  await submit(
    client,
    'shown-time',
    players.map(({ id }, at) => [
      id,
      3725.1 + Math.round(at * at * 7310 + at * 333) / 1000,
      { columns: { bib: at + 1 } },
    ]),
  );
}

/** Submits scores to the busy board until the function that it gives back is called. */
export function feed(client) {
  let seed = 7;
  const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
  const timer = setInterval(() => {
    const rows = Array.from({ length: FED_AT_ONCE }, () => {
      const { id } = playerAt(Math.floor(random() * 30));
      return [id, Math.round((random() - 0.4) * 40)];
    });
    submit(client, 'shown-busy', rows).catch(() => {});
  }, FEED_EVERY_MS);
  return () => clearInterval(timer);
}

async function submit(client, id, rows) {
  const submissions = rows.map(([playerId, score, rest]) => ({ board: id, playerId, score, ...rest }));
  await client.call('POST', '/v1/scores', { submissions });
}
