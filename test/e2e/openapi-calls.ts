import type { Headers } from './rest-client.js';

/** A request of an operation. */
export interface Call {
  params?: Record<string, string>;
  query?: string;
  headers?: Headers;
  body?: unknown;
}

/** What a key with the scope scores:write may do, and one with the scope read may not. */
export const OF_SERVERS = [
  'submitScore',
  'submitScores',
  'recordGames',
  ...['putPlayer', 'putGuild', 'deleteGuild', 'joinGuild', 'leaveGuild'],
  ...['addFriend', 'removeFriend', 'follow', 'unfollow', 'addCircleMember', 'removeCircleMember'],
];
/** Bodies whose every field may be left out. */
export const EMPTY_BODIES = ['putPlayer', 'putGuild', 'rotateApiKey', 'restateWindow'];
/** Reads of a list, which can be asked for as it stood. */
export const AS_IT_STOOD = [
  ...['getEntries', 'getPlayer', 'getRankOfScore', 'getPercentiles', 'lookupPlayers', 'getGuilds'],
  ...['getFriendsBoard', 'getFollowsBoard', 'getCircleBoard'],
];

export const OF_PATCHES = ['listPatches', 'getPatch', 'putPatch', 'deletePatch'];

/** A good request of each operation, on the boards made below. */
export const GOOD: Record<string, Call> = {
  submitScore: { params: { board: 'open' }, body: { submissionId: 's1', playerId: 'ada', score: 5 } },
  submitScores: {
    body: {
      submissions: [
        { board: 'open', playerId: 'bob', score: 3 },
        { board: 'none', playerId: 'x', score: 1 },
      ],
    },
  },
  getEntries: {
    params: { board: 'open' },
    query: '?limit=1&offset=1&window=alltime&scope=global&rankStyle=competition&minVersion=0&fields=player',
  },
  getPlayer: { params: { board: 'open', player: 'ada' }, query: '?above=1&below=2&accuracy=exact&fields=player' },
  getPlayerHistory: { params: { board: 'recorded', player: 'ada' }, query: '?limit=1&window=alltime' },
  getRankOfScore: { params: { board: 'columns' }, query: '?score=4.5&columns.moves=3&rankStyle=dense' },
  getStandings: { params: { player: 'ada' }, query: '?limit=2&window=alltime' },
  getPercentiles: { params: { board: 'open' }, query: '?at=50,99.5&accuracy=exact' },
  lookupPlayers: { params: { board: 'open' }, query: '?fields=player', body: { playerIds: ['ada', 'nobody'] } },
  listBoards: { query: '?limit=1' },
  getBoard: { params: { board: 'open' } },
  putBoard: {
    params: { board: 'open' },
    body: { order: 'desc', operator: 'best', title: 'Open', push: { intervalMs: null } },
  },
  deleteBoard: { params: { board: 'doomed' } },
  listPatches: { query: '?family=eu4' },
  getPatch: { params: { patch: '1.28' }, query: '?family=eu4' },
  putPatch: { params: { patch: '1.30' }, query: '?family=eu4', body: { family: 'eu4', title: 'Dharma' } },
  deletePatch: { params: { patch: '1.29' }, query: '?family=eu4' },
  listBoardTemplates: { query: '?limit=1' },
  getBoardTemplate: { params: { template: 'many' } },
  putBoardTemplate: {
    params: { template: 'many' },
    query: '?dryRun',
    body: {
      definition: { order: 'asc', operator: 'best' },
      boards: [
        { board: 'many-1', title: 'One', overrides: { push: { top: 20 } } },
        { board: 'many-2' },
        { board: 'open' },
      ],
    },
  },
  deleteBoardTemplate: { params: { template: 'doomed' }, query: '?boards=1' },
  setEntry: { params: { board: 'open', player: 'cy' }, body: { score: 4, reason: 'put right' } },
  removeEntry: { params: { board: 'open', player: 'cy' } },
  listRuns: { params: { board: 'kept' }, query: '?limit=1&player=ada&state=counted&from=2020-01-01T00:00:00Z' },
  listRunsOfPlayer: { params: { board: 'kept', player: 'ada' }, query: '?limit=1&window=alltime' },
  voidRun: { params: { board: 'kept', submission: 'r1' }, query: '?reason=cheated' },
  restoreRun: { params: { board: 'kept', submission: 'r1' }, query: '?reason=mistaken' },
  verifyRun: { params: { board: 'kept', submission: 'r1' }, body: { verified: true, reason: 'looked at' } },
  resetBoard: { params: { board: 'spare' } },
  rebuildBoard: { params: { board: 'spare' } },
  getBoardLayout: { params: { board: 'spare' } },
  reconcileBoard: { params: { board: 'spare' } },
  getReconciliation: { params: { board: 'spare' } },
  rebuildBoards: {},
  getRebuild: {},
  listDeadLetters: { query: '?limit=1&group=score' },
  replayDeadLetter: { params: { letter: '1' } },
  listFlags: { query: '?limit=1&state=open&board=open&player=ada&rule=jump&severity=low' },
  decideFlag: { params: { flag: 'none' }, body: { decision: 'dismiss', reason: 'a bug' } },
  listSettlementFailures: { query: '?limit=1' },
  closeWindow: { params: { board: 'ending' }, query: '?dryRun', body: { window: 'daily' } },
  restateWindow: { params: { board: 'restated' }, query: '?window=season:s1', body: { reason: 'voided' } },
  proposeBoundaries: { params: { board: 'open' }, query: '?dryRun', body: { shards: 2, window: 'alltime' } },
  getWindows: { params: { board: 'open' }, query: '?limit=1&state=running' },
  getEditions: { params: { board: 'ending', window: 'daily' }, query: '?limit=1' },
  exportWindow: { params: { board: 'open' }, query: '?window=alltime&scope=global&format=csv' },
  getFriendsBoard: { params: { board: 'open', player: 'ada' }, query: '?limit=501&offset=0&fields=player' },
  getFollowsBoard: { params: { board: 'open', player: 'ada' } },
  getCircleBoard: { params: { board: 'open', circle: 'team' }, query: '?window=alltime&rankStyle=competition' },
  getFriends: { params: { player: 'ada' } },
  addFriend: { params: { player: 'ada', other: 'bob' } },
  removeFriend: { params: { player: 'ada', other: 'cy' } },
  getFollows: { params: { player: 'ada' } },
  follow: { params: { player: 'ada', other: 'bob' } },
  unfollow: { params: { player: 'ada', other: 'cy' } },
  getCircleMembers: { params: { circle: 'team' } },
  addCircleMember: { params: { circle: 'team', player: 'ada' } },
  removeCircleMember: { params: { circle: 'team', player: 'cy' } },
  getPlayerProfile: { params: { player: 'ada' } },
  putPlayer: { params: { player: 'ada' }, body: { displayName: 'Ada', attributes: { country: 'GB' }, listed: true } },
  getGuild: { params: { guild: 'red' } },
  putGuild: { params: { guild: 'red' }, body: { displayName: 'The Reds' } },
  deleteGuild: { params: { guild: 'doomed' } },
  getGuildMembers: { params: { guild: 'red' }, query: '?limit=1&fields=player' },
  joinGuild: { params: { guild: 'red', player: 'ada' } },
  leaveGuild: { params: { guild: 'red', player: 'cy' } },
  getGuilds: { params: { board: 'guilded' }, query: '?limit=1&cursor=start&window=alltime&minVersion=0' },
  createApiKey: { body: { name: 'servers', scopes: ['read', 'scores:write'] } },
  listApiKeys: { query: '?limit=2' },
  getLanes: {},
  raiseLanes: { body: { lanes: 4 } },
  rotateApiKey: { params: { key: 'set below' }, body: { overlapSeconds: 60, expiresAt: null } },
  putSanction: { params: { player: 'eve' }, body: { kind: 'ban', reason: 'cheated' } },
  liftSanction: { params: { player: 'eve' }, query: '?reason=mistake' },
  listSanctions: { params: { player: 'eve' }, query: '?limit=1' },
  listAudit: { query: '?limit=1&action=board.create' },
  revokeApiKey: { params: { key: 'set below' } },
  listPools: { query: '?limit=1' },
  getPool: { params: { pool: 'rated' } },
  putPool: { params: { pool: 'rated' }, body: { algorithm: 'elo', title: 'Rated', provisional: { games: null } } },
  deletePool: { params: { pool: 'doomed' } },
  recordGames: {
    body: {
      ...{ pool: 'rated', gameId: 'g1' },
      players: [
        { playerId: 'ada', place: 1 },
        { playerId: 'bob', place: 2 },
      ],
    },
  },
  listGames: { params: { pool: 'rated' }, query: '?limit=1&player=ada' },
  getGame: { params: { pool: 'rated', game: 'g1' } },
  voidGame: { params: { pool: 'rated', game: 'g1' }, query: '?dryRun', body: { reason: 'cheated', mode: 'recompute' } },
  voidGames: { params: { pool: 'rated' }, query: '?dryRun=true', body: { playerId: 'ada', reason: 'cheated' } },
  correctGame: {
    params: { pool: 'rated', game: 'g1' },
    query: '?dryRun',
    body: {
      players: [
        { playerId: 'ada', place: 2 },
        { playerId: 'bob', place: 1 },
      ],
      reason: 'swapped',
    },
  },
  getRating: { params: { pool: 'rated', player: 'ada' } },
  getRatingDistribution: { params: { pool: 'rated' } },
  lookupRatings: { params: { pool: 'rated' }, body: { playerIds: ['ada', 'nobody'] } },
  predictGame: { params: { pool: 'rated' }, body: { sides: [['ada'], ['bob', 'nobody']] } },
  getRatingHistory: { params: { pool: 'rated', player: 'ada' }, query: '?limit=1' },
  healthLive: {},
  healthReady: {},
};

const ofRun = (operationId: string, params: Record<string, string>): Call => ({
  ...GOOD[operationId],
  params: { ...GOOD[operationId]!.params, ...params },
});

const thirteen = Array.from({ length: 13 }, (_, index) => `p${index}`);
const crowd = thirteen.map((playerId) => ({ playerId, place: 1, team: 'one' }));

/** What moderators and operators do and read, in an order in which each goes well; the board "kept" has the run r1. */
export const CALLS_OF_MODERATORS: [operationId: string, call: Call][] = [
  ['setEntry', ofRun('setEntry', { board: 'kept' })],
  ['removeEntry', ofRun('removeEntry', { board: 'kept' })],
  ...['voidRun', 'restoreRun', 'verifyRun', 'listRuns', 'listRunsOfPlayer'].map((id): [string, Call] => [
    id,
    GOOD[id]!,
  ]),
  ['verifyRun', { ...GOOD['verifyRun'], body: { verified: false, reason: 'not seen to the end' } }],
  ['listRuns', { params: { board: 'kept' } }],
  ['getEntries', { params: { board: 'kept' } }],
  ['getPlayer', { params: { board: 'kept', player: 'ada' } }],
  ['lookupPlayers', ofRun('lookupPlayers', { board: 'kept' })],
  ...['putSanction', 'listSanctions', 'liftSanction'].map((id): [string, Call] => [id, GOOD[id]!]),
  ...['listAudit', 'listApiKeys'].map((id): [string, Call] => [id, GOOD[id]!]),
];

/** What boards refuse of acts on runs; "aged" has kept them only since the run r0 of ada, "fed" is of a pool. */
const REFUSED_OF_RUNS: [operationId: string, call: Call, status: number][] = [
  ...['listRuns', 'listRunsOfPlayer'].map((id): [string, Call, number] => [id, ofRun(id, { board: 'open' }), 422]),
  ...['voidRun', 'restoreRun', 'verifyRun'].flatMap((id): [string, Call, number][] => [
    [id, ofRun(id, { board: 'open' }), 422],
    [id, ofRun(id, { board: 'fed' }), 422],
    [id, ofRun(id, { submission: 'r0' }), 404],
    [id, ofRun(id, { board: 'aged', submission: 'r0' }), 410],
  ]),
  ['submitScore', { params: { board: 'open' }, body: { playerId: 'ada', score: 6, verified: true } }, 422],
];

/** What is refused of patches, with the status; 1.28 is of two families. */
const REFUSED_OF_PATCHES: [operationId: string, call: Call, status: number][] = [
  ['putPatch', { params: { patch: '1.31' }, body: { family: 'eu4' } }, 201],
  ['getPercentiles', { params: { board: 'taxed' }, query: '?at=50&scope=patch:1.28&asOf=2026-01-01T00:00:00Z' }, 422],
  ['exportWindow', { params: { board: 'taxed' }, query: '?window=season:s1&scope=patch:1.28' }, 422],
  ['getPatch', { params: { patch: '1.28' } }, 400],
  ['getPatch', { params: { patch: '1.27' }, query: '?family=eu4' }, 404],
  ['putPatch', { ...GOOD['putPatch'], headers: { 'If-Match': '"0-0"' } }, 412],
  ['putPatch', { params: { patch: '1.28' }, body: { family: 'eu4' }, query: '?family=hoi' }, 400],
  ['deletePatch', { params: { patch: '1.28' }, query: '?family=eu4' }, 409],
  ['putPatch', { params: { patch: '1.28.1' }, query: '?family=eu4', body: { family: 'eu4', sameAs: null } }, 409],
  ['putPatch', { params: { patch: '1.28' }, query: '?family=eu4', body: { family: 'eu4', sameAs: '1.28.1' } }, 400],
  ['deletePatch', { params: { patch: '1.30' }, headers: { 'If-Match': '"0-0"' } }, 412],
  ['deletePatch', { params: { patch: '1.27' } }, 404],
  ['putPatch', { params: { patch: '1.0' }, body: { family: 'spent' } }, 422],
  ['deletePatch', { params: { patch: 'last' } }, 422],
];

/** What rating pools refuse, with the status; the game g1 is void. */
const REFUSED_BY_POOLS: [operationId: string, call: Call, status: number][] = [
  ['putPool', { params: { pool: 'rated' }, body: { algorithm: 'elo', parameters: { k: 1 } } }, 409],
  ['putPool', { ...GOOD['putPool'], headers: { 'If-Match': '"0-0"' } }, 412],
  ['putPool', { ...GOOD['putPool'], headers: { 'If-None-Match': '*' } }, 412],
  ['putPool', { params: { pool: 'rated' }, body: { algorithm: 'dice' } }, 422],
  ['deletePool', { params: { pool: 'rated' }, headers: { 'If-Match': '"0-0"' } }, 412],
  ['recordGames', { body: { ...(GOOD['recordGames']!.body as object), weight: 2 } }, 409],
  [
    'recordGames',
    { body: { ...(GOOD['recordGames']!.body as object), gameId: 'g2', metadata: { x: 'x'.repeat(1024) } } },
    422,
  ],
  ['listGames', { params: { pool: 'rated' }, query: '?player=me' }, 422],
  ['getRating', { params: { pool: 'rated', player: 'nobody' } }, 404],
  ['predictGame', { params: { pool: 'rated' }, body: { sides: [['ada'], ['ada']] } }, 400],
  ['predictGame', { params: { pool: 'rated' }, body: { players: thirteen, sidesOf: 1 } }, 422],
  ['voidGame', { ...GOOD['voidGame'], query: '' }, 409],
  ['voidGames', { ...GOOD['voidGames'], body: { gameIds: ['g1'], reason: 'cheated' } }, 409],
  ['correctGame', { ...GOOD['correctGame'], query: '' }, 409],
  [
    'correctGame',
    {
      params: { pool: 'rated', game: 'g3' },
      body: { players: [...crowd, { playerId: 'ada', place: 2 }], reason: 'x' },
    },
    422,
  ],
];

const REFUSED_OF_SCORES: [operationId: string, call: Call, status: number][] = [
  [
    'submitScore',
    { params: { board: 'open' }, body: { playerId: 'ada', score: 6, metadata: { x: 'x'.repeat(1024) } } },
    422,
  ],
  ['submitScore', { params: { board: 'open' }, body: { playerId: 'ada', score: 6, window: 'daily:2020-01-01' } }, 422],
  [
    'submitScore',
    { params: { board: 'open' }, body: { playerId: 'ada', score: 6, achievedAt: '2999-01-01T00:00:00Z' } },
    422,
  ],
  ['setEntry', { params: { board: 'open', player: 'ada' }, body: { score: 1, columns: { x: 1 }, reason: 'why' } }, 422],
  ['setEntry', { params: { board: 'over', player: 'ada' }, body: { score: 1, reason: 'why' } }, 409],
];

const OF_NEW_TEMPLATE = { ...GOOD['putBoardTemplate'], params: { template: 'made-here' }, query: '' };

/** What operators do with templates, in an order in which each goes well. */
export const CALLS_OF_TEMPLATES: [operationId: string, call: Call][] = [
  ...['listBoardTemplates', 'getBoardTemplate', 'putBoardTemplate'].map((id): [string, Call] => [id, GOOD[id]!]),
  ['putBoardTemplate', { ...GOOD['putBoardTemplate'], query: '' }],
  ['putBoardTemplate', OF_NEW_TEMPLATE],
  [
    'putBoard',
    { params: { board: 'many-1' }, body: { order: 'asc', operator: 'best', title: 'By hand', template: 'many' } },
  ],
  ['getBoardTemplate', GOOD['getBoardTemplate']!],
  ['getStandings', { params: { player: 'ada' }, query: '?template=many' }],
  ['deleteBoardTemplate', GOOD['deleteBoardTemplate']!],
];

/** Makes "fed", which is to be fed by a pool, one of a template. */
export const PUT_OF_FED_BOARD: [operationId: string, call: Call, status: number] = [
  'putBoardTemplate',
  {
    params: { template: 'feeding' },
    body: { definition: { order: 'desc', operator: 'latest' }, boards: [{ board: 'fed' }] },
  },
  201,
];

/** What templates refuse, with the status; "fed" is of the template "feeding", and fed by a pool. */
const REFUSED_BY_TEMPLATES: [operationId: string, call: Call, status: number][] = [
  ['putBoardTemplate', { ...GOOD['putBoardTemplate'], headers: { 'If-Match': '"t0"' } }, 412],
  ['putBoardTemplate', { ...GOOD['putBoardTemplate'], headers: { 'If-None-Match': '*' } }, 412],
  [
    'putBoardTemplate',
    {
      params: { template: 'many' },
      body: { definition: { order: 'asc', operator: 'best', proof: 'everyone' }, boards: [] },
    },
    422,
  ],
  ['deleteBoardTemplate', { params: { template: 'many' }, headers: { 'If-Match': '"t0"' } }, 412],
  ['deleteBoardTemplate', { params: { template: 'feeding' }, query: '?boards' }, 409],
];

/** What is refused of scores, pools, runs, flags and templates. */
export const REFUSED: [operationId: string, call: Call, status: number][] = [
  ...REFUSED_OF_SCORES,
  ...REFUSED_BY_POOLS,
  ...REFUSED_OF_PATCHES,
  ...REFUSED_OF_RUNS,
  ...REFUSED_BY_TEMPLATES,
  ['listFlags', { query: '?player=me' }, 422],
];

/** A good request of an operation, of what is not there. */
export function ofNothing(operationId: string): Call {
  const good = GOOD[operationId]!;
  const params = {
    ...{ board: 'no-such-board', pool: 'no-such-pool', template: 'no-such-template', key: 'no-such-key' },
    ...{ circle: 'no-such-circle', guild: 'no-such-guild', game: 'no-such-game', patch: 'no-such-patch' },
    player: operationId === 'getPlayerProfile' ? 'nobody' : 'ada',
  };
  const bodies: Record<string, object> = {
    recordGames: { pool: params.pool },
    putSanction: { boards: [params.board] },
  };
  const body = bodies[operationId] ? { body: { ...(good.body as object), ...bodies[operationId] } } : {};
  const query = operationId === 'getStandings' ? { query: `?template=${params.template}` } : {};
  return { ...good, params, ...query, ...body };
}
