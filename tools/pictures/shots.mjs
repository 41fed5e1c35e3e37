const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

const both = (name, query, rest = {}) => [
  { name: `${name}.png`, query, viewport: DESKTOP, ...rest },
  { name: `${name}-phone.png`, query, viewport: PHONE, scheme: 'dark', ...rest },
];

/**
 * Which pictures there are: `{ name, query, viewport, scheme, me, until, isFed }`. `until` is what must be on the page, `me` who
 * is followed, `isFed` whether scores come in meanwhile.
 */
export const SHOTS = [
  ...both('boards', '', { until: '#home-boards .number' }),
  ...both('live-board', '?board=football', { me: 'Denmark', until: '#me-rows tr' }),
  {
    name: 'live-board-dark.png',
    query: '?board=football',
    viewport: DESKTOP,
    scheme: 'dark',
    me: 'Denmark',
    until: '#me-rows tr',
  },
  { name: 'guild-table.png', query: '?board=football&view=guilds', viewport: DESKTOP },
  {
    name: 'friends-phone.png',
    query: '?board=football&view=friends',
    viewport: PHONE,
    me: 'Denmark',
    until: '#me-rows tr',
  },
  { name: 'decade.png', query: '?board=football&window=season:1950s', viewport: DESKTOP },
  {
    name: 'player-card.png',
    query: '?board=world-elo#player=Brazil',
    viewport: { width: 1280, height: 1400 },
    until: '#player-games-rows tr',
  },
  ...both('player', '?board=football#player=England', { until: '#player-windows-figure canvas' }),
  ...both('top-ten', '?board=football#top-ten', { until: '#bump-figure canvas' }),
  ...both('race', '?board=football#race', { until: '#race-rows tr', waitMs: 14_000 }),
  ...both('busy', '?board=shown-busy', { isFed: true }),
  ...both('names', '?board=shown-names'),
  ...both('money', '?board=shown-money'),
  ...both('time', '?board=shown-time'),
  { name: 'empty.png', query: '?board=shown-empty', viewport: DESKTOP, until: '#notice:not([hidden])' },
  { name: 'unknown-board.png', query: '?board=nowhere', viewport: DESKTOP, until: '#home-boards .number' },
];
