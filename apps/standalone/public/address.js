export const DEMO_BOARD = 'football';
export const VIEWS = ['players', 'guilds', 'friends'];
export const SIZES = ['10', '25', '50', '100'];
export const EVERYBODY = 'global';

/**
 * What the address asks for: `{ board, window, scope, view, player, top }`. `board` is null where the boards are listed;
 * `window`, `player` and `top` are null where the address leaves them open; what makes no sense is left open, too.
 */
export function readAddress(search) {
  const given = new URLSearchParams(search);
  const one = (name) => given.get(name) || null;
  return {
    board: one('board'),
    window: one('window'),
    scope: one('scope') ?? EVERYBODY,
    view: VIEWS.includes(one('view')) ? one('view') : VIEWS[0],
    player: one('player'),
    top: SIZES.includes(one('top')) ? one('top') : null,
  };
}

/** The address that asks for it, as `?board=…`; what goes without saying is left out. */
export function writeAddress({ board, window, scope, view, player, top }) {
  if (board === null) return './';
  const given = new URLSearchParams({ board });
  if (window) given.set('window', window);
  if (scope !== EVERYBODY && view !== 'guilds') given.set('scope', scope);
  if (view !== VIEWS[0]) given.set('view', view);
  if (player && view === 'friends') given.set('player', player);
  if (top) given.set('top', top);
  return `?${given}`;
}
