import { DEMO_BOARD, EVERYBODY, readAddress, writeAddress } from './address.js';
import { BoardList } from './board-list.js';
import { Countdown } from './countdown.js';
import { askForKey, confirmReset } from './dialogs.js';
import { forgetFacts, tellFacts } from './facts.js';
import { GuildNames } from './guild-names.js';
import { LiveBoard } from './live-board.js';
import { LookAround } from './look-around.js';
import * as memory from './memory.js';
import { problemOf } from './messages.js';
import { MyPlace } from './my-place.js';
import { PatchChooser, patchOfScope } from './patch-chooser.js';
import { boardNotice, emptyNotice, friendsHint, notice, refusalNotice } from './notice.js';
import { OverNote } from './over-note.js';
import { PlayerCard } from './player-card.js';
import { BestRated } from './best-rated.js';
import { showConnection, showControls, showTitle } from './page-frame.js';
import { Rest } from './rest.js';
import { kindsOf, readScope, ScopeChooser, scopeLabel } from './scope-chooser.js';
import { ScopeValues } from './scope-values.js';
import { ServerClock } from './server-clock.js';
import { Standing } from './standing.js';
import { SubmitForm } from './submit-form.js';
import { Summary } from './summary.js';
import { TaxNote } from './tax-note.js';
import { ViewSwitches } from './view-switches.js';
import { windowOfAnswer } from './window-book.js';
import { WindowChooser } from './window-chooser.js';
import { isOver, labelOf } from './window-words.js';
import { scoreFormat } from './words.js';

const LOOK_AGAIN_MS = 2500;

const byId = (id) => document.getElementById(id);
const clock = new ServerClock();
const rest = new Rest({ getKey: () => memory.key.get(), clock });
const board = new LiveBoard({ rest, clock, getKey: memory.key.get, onState: showState, onWindows: windowsChanged });

/** What the address asks for. */
let choice = readAddress(location.search);
/** The window of the list that is followed, as the service describes it. */
let shown = null;
let showing = 0;
let againTimer = null;
let writeScore = scoreFormat();

const list = new BoardList({
  onList: showList,
  onProblem: refused,
  onWindowClosed: () => void board.book?.refresh(),
  onGuild: (id) => {
    go(membersOf(id));
    byId('board').focus({ preventScroll: true });
  },
  hrefOfGuild: (id) => hrefOf(membersOf(id)),
  onPlayer: (id, name) => card.open(bestRated.pool, id, name),
});
const card = new PlayerCard({ rest });
const bestRated = new BestRated({
  rest,
  onPlayer: (pool, id, name) => card.open(pool, id, name),
  onPool: () => void (board.book && show()),
  hrefOfBoard: (id) => writeAddress({ ...readAddress(''), board: id }),
});
const summary = new Summary(byId('summary'));
const countdown = new Countdown(byId('resets'), { clock });
const standing = new Standing({ rest });
const guildNames = new GuildNames({ rest });
const scopeValues = new ScopeValues({ rest });
const over = new OverNote({ onSee: (window) => go({ window }), onFollow: () => void show() });
const windows = new WindowChooser({
  clock,
  onChoose: (window) => go({ window }),
  hrefOf: (window) => hrefOf({ window }),
});
const switches = new ViewSwitches({
  // Friends are ranked on the taxed board alone.
  onView: (view) => go({ view, player: null, ...(view === 'friends' && rawPatch() !== null && { scope: EVERYBODY }) }),
  onSize: (top) => go({ top }, { replace: true }),
});
const scopes = new ScopeChooser({
  onChoose: (scope) => go({ scope }),
  onLeaveGuild: () => go({ scope: EVERYBODY, view: 'guilds' }),
  readValues: (kind) => scopeValues.of(kind, { board: choice.board, window: shown?.id }),
});
const now = () => ({
  ...{ rest, writeScore, board: choice.board, window: shown?.id, scope: scopeOfPlayers() },
  ...{ me: memory.me.get(), askForKey: askBecause },
});
const patches = new PatchChooser({ rest, onChoose: (scope) => go({ scope }) });
const taxNote = new TaxNote({ rest, onTax: () => void patches.read() });
const myPlace = new MyPlace({ memory: memory.me, onChange: meChanged });
const lookAround = new LookAround({ source: now });
const submitForm = new SubmitForm({ source: now });

const hrefOf = (change) => writeAddress({ ...choice, ...change });
/** The same page with the card of a player open. */
const hrefOfRating = (playerId) => `${location.search}#rating=${encodeURIComponent(playerId)}`;
const membersOf = (guildId) => ({ view: 'players', scope: `guild:${guildId}` });
const scopeOfPlayers = () => (choice.view === 'guilds' ? EVERYBODY : choice.scope);
/** Whose raw scores are listed; null: those of the taxed board. */
const rawPatch = () => patchOfScope(scopeOfPlayers());
const friendsOf = () => choice.player ?? memory.me.get();

/** Shows something else of the board, and puts it into the address. */
function go(change, { replace = false } = {}) {
  over.clear();
  choice = { ...choice, ...change };
  const address = writeAddress(choice);
  if (address !== location.search) history[replace ? 'replaceState' : 'pushState'](null, '', address);
  if (board.book) void show();
}

/** Reads the board and shows what was chosen; comes back by itself when the board is not there yet. */
async function open() {
  leave();
  shown = null;
  byId('key-forget').hidden = memory.key.get() === null;
  try {
    if (!(await board.open(choice.board))) return;
    await bestRated.load(choice.board);
  } catch (error) {
    explain(problemOf(error));
    return;
  }
  const { format, columns, title } = board.definition;
  writeScore = scoreFormat(format);
  submitForm.columns = columns ?? [];
  patches.open(board.definition.decay?.family ?? null);
  showTitle(title || choice.board);
  showControls(true);
  await show();
  const rated = new URLSearchParams(location.hash.slice(1)).get('rating');
  if (rated && bestRated.pool) card.open(bestRated.pool, rated, rated);
}

/** Follows what is chosen now, and leaves what was followed before. */
async function show() {
  clearTimeout(againTimer);
  const turn = ++showing;
  const { view, scope, top } = choice;
  const { definition, book } = board;
  const kinds = kindsOf(definition.scopes);
  const hasGuilds = kinds.includes('guild');
  const limit = switches.show({ view, hasGuilds, size: top, pushed: definition.push?.top ?? Infinity });
  showScope(kinds);
  lookAround.clear();
  const window = book.find(choice.window) ?? (await unlisted(choice.window, turn));
  if (turn !== showing) return;
  showWindow(window);
  if (window === null) return;
  const { tiebreak = 'earliest' } = definition;
  const live = board.connect({ withKey: view === 'friends' });
  const { decay, order } = definition;
  if (decay) taxNote.follow({ board: choice.board, window: window.id, order, patch: rawPatch() });
  myPlace.follow({ live, board: choice.board, window: window.id, scope: scopeOfPlayers(), tiebreak, writeScore });
  bestRated.follow(live, choice.board);
  list.hrefOfPlayer = bestRated.pool && hrefOfRating;
  list.mine = view === 'guilds' ? null : memory.me.get();
  byId('hint').hidden = true;
  if (view === 'friends' && friendsOf() === null) {
    list.leave();
    notice.show({ title: 'Whose friends?', text: 'Say who you are, under “My place”.', who: true });
    return;
  }
  const request = { board: choice.board, window: window.id, scope: scopeOfPlayers(), ...channelOf(view, limit) };
  const scoreLabel = decay ? (rawPatch() === null ? 'Taxed' : 'Raw') : 'Score';
  list.watch({ live, request, view, tiebreak, writeScore, scoreLabel });
  if (readScope(scope).kind === 'guild') void nameGuild(kinds);
}

function channelOf(view, limit) {
  if (view === 'friends') return { channel: 'friends', playerId: friendsOf() };
  return { channel: view === 'guilds' ? 'guilds' : 'top', limit };
}

/** A window that is not among those listed so far: the service knows it, or says why not. */
async function unlisted(window, turn) {
  try {
    const answer = await rest.entries(choice.board, { window, limit: 1 });
    return windowOfAnswer(answer.window);
  } catch (error) {
    if (turn === showing) refused(problemOf(error));
    return null;
  }
}

function showScope(kinds) {
  const guildName = guildNames.of(readScope(choice.scope).value);
  scopes.show({
    kinds,
    scope: rawPatch() === null ? choice.scope : EVERYBODY,
    isOffered: choice.view !== 'guilds',
    guildName,
  });
  patches.show(choice.scope, { isOffered: choice.view === 'players' });
}

async function nameGuild(kinds) {
  const { scope } = choice;
  const found = await guildNames.find(readScope(scope).value, { board: choice.board, window: shown.id });
  if (found && choice.scope === scope) showScope(kinds);
}

/** Everything that hangs on the window, apart from the list itself. */
function showWindow(window) {
  shown = window;
  windows.show(board.book, window);
  countdown.tell(window);
  const about = { board: choice.board, window, scope: choice.scope, needsKey: board.isPrivate };
  standing.show(window === null || over.about?.id === window.id ? null : about, clock.now());
}

/** A window began, froze or ended: one that was followed by its running name is followed no longer than it runs. */
function windowsChanged() {
  const { book } = board;
  const running = book.find(choice.window);
  if (shown === null || shown.state === 'upcoming') {
    if (running !== null) void show();
    return;
  }
  const present = book.find(shown.id) ?? shown;
  if (running !== null && running.id !== present.id) over.tell(present);
  showWindow(present);
}

function showList(followed, changes) {
  if (changes.length === 0) taxNote.look();
  const { rows } = followed;
  const { view } = choice;
  if (view === 'guilds') guildNames.learn(rows);
  if (rows.length === 0) {
    const scope = scopeLabel(scopeOfPlayers(), (id) => guildNames.of(id));
    const isDemo = choice.board === DEMO_BOARD;
    notice.show(emptyNotice({ view, scope, patch: rawPatch(), player: friendsOf(), isOver: isOver(shown), isDemo }));
  } else notice.hide();
  const hint = view === 'friends' && rows.length === 1 ? friendsHint(friendsOf()) : null;
  byId('hint').hidden = hint === null;
  if (hint) byId('hint').replaceChildren(...hint);
  const raw = rawPatch() === null ? '' : `, raw scores of patch ${rawPatch()}`;
  const what = `${byId('title').textContent}, ${labelOf(shown, clock.now())}${raw}`;
  // Of friends their place among everybody alone can be in doubt.
  const told = view === 'friends' ? { ...followed, estimate: null } : followed;
  tellFacts(told, { view, what, friendsOf: friendsOf() === memory.me.get() ? null : friendsOf() });
  summary.tell(told, writeScore);
}

function showState({ name }) {
  showConnection(name);
  if (name !== 'unauthorized') return;
  refused({ status: 401, title: 'A key is needed', detail: 'The key was not accepted, or has expired.' });
  board.disconnect();
}

/** Says why there is no such list, while the rest of the board stays. */
function refused(problem) {
  if (problem.code === 'BOARD_NOT_FOUND' || (problem.status === 401 && board.isPrivate)) {
    explain(problem);
    return;
  }
  list.leave();
  byId('hint').hidden = true;
  forgetFacts();
  notice.show(refusalNotice(problem, choice.view));
  clearTimeout(againTimer);
  // What is wrong with the question stays wrong.
  if (problem.status >= 429 || problem.status === 0) againTimer = setTimeout(() => void show(), LOOK_AGAIN_MS);
}

/** Says why there is no board to see, and what helps; looks again by itself where that may help. */
function explain(problem) {
  leave();
  showControls(false);
  if (board.definition === null) showTitle(choice.board);
  if (problem.status === 401 || problem.status === 403) {
    notice.show(refusalNotice(problem, 'players'));
    return;
  }
  notice.show(boardNotice(problem, choice.board));
  showConnection('waiting');
  againTimer = setTimeout(() => void open(), LOOK_AGAIN_MS);
}

function leave() {
  clearTimeout(againTimer);
  showing += 1;
  over.clear();
  list.leave();
  myPlace.leave();
  bestRated.leave();
  taxNote.leave();
  board.close();
  forgetFacts();
  countdown.tell(null);
  standing.show(null);
  byId('hint').hidden = true;
  byId('me-bar').hidden = true;
}

/** Asks for a key in the words of the refusal; true when there is a new one. */
async function askBecause(error) {
  const key = await askForKey(error.problem?.detail ?? error.message);
  if (key === null) return false;
  memory.key.set(key);
  byId('key-forget').hidden = false;
  return true;
}

function meChanged(playerId) {
  if (choice.view === 'friends') go({ player: playerId }, { replace: true });
  else list.mine = choice.view === 'guilds' ? null : playerId;
}

byId('view-form').addEventListener('submit', (event) => {
  event.preventDefault();
  scopes.submit();
});
byId('notice-key').addEventListener('click', async () => {
  if (await askBecause({ message: notice.text })) await open();
});
byId('notice-who').addEventListener('click', () => byId('me-input').focus());
byId('key-forget').addEventListener('click', () => {
  memory.key.set(null);
  void open();
});
byId('reset-open').addEventListener('click', () => {
  confirmReset(byId('title').textContent, async (key) => {
    await rest.reset(choice.board, key);
    if (board.book === null) return;
    await board.book.refresh();
    void show();
  });
});
globalThis.addEventListener('popstate', () => {
  const before = choice.board;
  choice = readAddress(location.search);
  over.clear();
  void (choice.board === before && board.book ? show() : open());
});
globalThis.addEventListener('online', () => board.live?.reconnectNow());
void open();
