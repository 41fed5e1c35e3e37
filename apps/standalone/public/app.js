import { DEMO_BOARD, EVERYBODY, readAddress, writeAddress } from './address.js';
import { BoardCards } from './home/board-cards.js';
import { BoardList } from './board-list.js';
import { Countdown } from './countdown.js';
import { askForKey, confirmReset } from './dialogs.js';
import { setUpDrawer } from './drawer.js';
import { forgetFacts, tellAsOf, tellFacts } from './state/facts.js';
import { Freshness } from './state/freshness.js';
import { GuildNames } from './guild-names.js';
import { LiveBoard } from './live-board.js';
import { LookAround } from './look-around.js';
import * as memory from './memory.js';
import { closeByItself } from './menu.js';
import { problemOf } from './messages.js';
import { MyPlace } from './my-place.js';
import { PatchChooser, patchOfScope } from './patch-chooser.js';
import {
  KEY_REFUSED,
  boardNotice,
  emptyNotice,
  notice,
  refusalNotice,
  tellFriendsHint,
  windowNotice,
} from './notice.js';
import { OverNote } from './over-note.js';
import { BestRated } from './best-rated.js';
import { hideConnection, isPlainClick, showConnection, showControls, showTitle } from './page-frame.js';
import { kindsOf, readScope, ScopeChooser, scopeLabel } from './scope-chooser.js';
import { ScopeValues } from './scope-values.js';
import { Service } from './service.js';
import { Standing } from './standing.js';
import { SubmitForm } from './submit-form.js';
import { Summary } from './summary.js';
import { NEWS_WORDS } from './table/news.js';
import { TaxNote } from './tax-note.js';
import { Sparks } from './charts/sparks.js';
import { SpreadCard } from './charts/spread-card.js';
import { Views } from './views.js';
import { ViewSwitches } from './view-switches.js';
import { windowOfAnswer } from './window-book.js';
import { WindowChooser } from './window-chooser.js';
import { isOver, labelOf } from './window-words.js';
import { scoreWords } from './score-words.js';
import { isolated } from './words.js';

const LOOK_AGAIN_MS = 2500;

const byId = (id) => document.getElementById(id);
const service = new Service({
  getKey: memory.key.get,
  onLive: (ladder, state) => ladder === board.live && showState(state),
  onFrame: (ladder, text) => ladder === board.live && freshness.heard(text),
});
const freshness = new Freshness({ clock: service, onChange: showFreshness });
const board = new LiveBoard({ service, onState: showState, onWindows: windowsChanged, onRedefined: () => void open() });

/** What the address asks for. */
let choice = readAddress(location.search);
let shownSearch = location.search;
/** The window of the list that is followed, as the service describes it. */
let shown = null;
let showing = 0;
let againTimer = null;
let scores = scoreWords();

const list = new BoardList({
  sparks: new Sparks({ service }),
  onList: showList,
  onRefused: refused,
  onDelay: delayed,
  onWindowClosed: () => void board.book?.refresh(),
  onGuild: (id) => {
    go(membersOf(id));
    byId('board').focus({ preventScroll: true });
  },
  hrefOfGuild: (id) => hrefOf(membersOf(id)),
  onPlayer: (id, name) => views.openPlayer(id, name),
  hrefOfPlayer: (id) => views.hrefOf(id),
});
const views = new Views({
  ...{ service, source: seen },
  onFollow: (id, name) => myPlace.choose(id, name),
  poolOf: () => bestRated.pool,
});
const spread = new SpreadCard({ service });
const bestRated = new BestRated({
  service,
  onPlayer: (pool, id, name) => views.openPlayer(id, name, pool),
  onPool: () => void (board.book && show()),
  hrefOfBoard: (id) => writeAddress({ ...readAddress(''), board: id }),
});
const boards = new BoardCards({ service, hrefOf: (change) => writeAddress({ ...readAddress(''), ...change }) });
const summary = new Summary(byId('summary'));
const countdown = new Countdown(byId('resets'), { clock: service });
const standing = new Standing({ service });
const guildNames = new GuildNames({ service });
const scopeValues = new ScopeValues({ service });
const over = new OverNote({ onSee: (window) => go({ window }), onFollow: () => void show() });
const windows = new WindowChooser({
  clock: service,
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
  ...{ service, scores, board: choice.board, window: shown?.id, scope: scopeOfPlayers() },
  ...{ me: memory.me.get(), askForKey: askBecause },
});
const patches = new PatchChooser({ service, onChoose: (scope) => go({ scope }) });
const taxNote = new TaxNote({ service, onTax: () => void patches.read() });
const myPlace = new MyPlace({ memory: memory.me, onChange: meChanged });
const lookAround = new LookAround({ source: now });
const submitForm = new SubmitForm({ source: now });

const hrefOf = (change) => writeAddress({ ...choice, ...change });
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
  if (address !== (location.search || './')) history[replace ? 'replaceState' : 'pushState'](null, '', address);
  shownSearch = location.search;
  if (board.book) void show();
}

/** Reads the board and shows what was chosen; comes back by itself when the board is not there yet. */
async function open() {
  leave();
  shown = null;
  showHome();
  if (choice.board === null) return;
  byId('key-forget').hidden = memory.key.get() === null;
  try {
    if (!(await board.open(choice.board))) return;
    boards.hide();
    await bestRated.load(choice.board);
  } catch (error) {
    explain(problemOf(error));
    return;
  }
  const { format, columns, title } = board.definition;
  scores = scoreWords(format);
  submitForm.columns = columns ?? [];
  patches.open(board.definition.decay?.family ?? null);
  showTitle(title || choice.board);
  showControls(true);
  await show();
  views.follow();
}

/** Follows what is chosen now, and leaves what was followed before. */
async function show() {
  clearTimeout(againTimer);
  const turn = ++showing;
  if (choice.view !== 'players') spread.leave();
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
  const live = board.connect({ withKey: view === 'friends' });
  const { decay, order } = definition;
  if (decay) taxNote.follow({ board: choice.board, window: window.id, order, patch: rawPatch() });
  myPlace.follow({ live, board: choice.board, window: window.id, scope: scopeOfPlayers(), scores });
  bestRated.follow(live, choice.board);
  list.mine = view === 'guilds' ? null : memory.me.get();
  tellFriendsHint(null);
  if (view === 'friends' && friendsOf() === null) {
    list.leave();
    forgetFacts();
    summary.forget();
    showSide();
    notice.show({ title: 'Whose friends?', text: 'Follow the player whose friends you want to see.', who: true });
    return;
  }
  const followed = { board: choice.board, window: window.id, scope: scopeOfPlayers() };
  const more = view === 'friends' ? { playerId: friendsOf() } : { limit };
  const scoreLabel = decay ? (rawPatch() === null ? 'Taxed' : 'Raw') : 'Score';
  const hasSpark = Boolean(definition.history) && view === 'players';
  // The next list may be long in coming.
  if (freshness.present.name !== 'live') forgetFacts();
  summary.forget();
  list.watch({ live, list: followed, more, view, scores, scoreLabel, hasSpark });
  byId('pictures').hidden = view !== 'players' || !(book.ended.length > 1 || definition.history);
  if (view === 'players')
    spread.follow({ board: choice.board, window: window.id, scope, order, scores, me: memory.me.get() });
  if (readScope(scope).kind === 'guild') void nameGuild(kinds);
}

/** What the views over the board need of it. */
function seen() {
  const { definition, book } = board;
  const labels = [labelOf(shown, service.now()), scopeLabel(scopeOfPlayers(), (id) => guildNames.of(id))];
  return {
    ...{ board: choice.board, title: byId('title').textContent, definition, book, scores },
    ...{ window: shown, windowLabel: labels.filter(Boolean).join(' · '), scope: scopeOfPlayers(), me: memory.me.get() },
  };
}

/** A window that is not among those listed so far: the service knows it, or says why not. */
async function unlisted(window, turn) {
  try {
    const answer = await service.entries(choice.board, { window, limit: 1 });
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
  const isChosen = choice.scope !== EVERYBODY && choice.view !== 'guilds' && readScope(choice.scope).kind !== 'guild';
  byId('options-name').textContent = isChosen ? scopeLabel(choice.scope) : 'Options';
  byId('options').classList.toggle('chosen', isChosen);
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
  standing.show(window === null || over.about?.id === window.id ? null : about, service.now());
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
  showSide();
  if (changes.length === 0) taxNote.look();
  const { entries } = followed;
  const { view } = choice;
  if (view === 'guilds') guildNames.learn(entries);
  if (entries.length === 0) {
    const scope = scopeLabel(scopeOfPlayers(), (id) => guildNames.of(id));
    const isDemo = choice.board === DEMO_BOARD;
    notice.show(emptyNotice({ view, scope, patch: rawPatch(), player: friendsOf(), isOver: isOver(shown), isDemo }));
  } else notice.hide();
  tellFriendsHint(view === 'friends' && entries.length === 1 ? friendsOf() : null);
  freshness.listed(followed.asOf);
  showFreshness(freshness.present);
  const raw = rawPatch() === null ? '' : `, raw scores of patch ${rawPatch()}`;
  const what = `${isolated(byId('title').textContent)}, ${labelOf(shown, service.now())}${raw}`;
  // Of friends their place among everybody alone can be in doubt.
  const told = view === 'friends' ? { ...followed, accuracy: 'exact' } : followed;
  tellFacts(told, { view, what, friendsOf: friendsOf() === memory.me.get() ? null : friendsOf() });
  summary.tell(told, scores);
}

function showState({ name }) {
  freshness.connection(name === 'idle' ? 'stopped' : name);
  if (name !== 'unauthorized') return;
  const detail = 'The key was not accepted, or has expired.';
  refused({ status: 401, code: KEY_REFUSED, title: 'A key is needed', detail });
  board.disconnect();
}

/** What stands beside the board, or under it, comes when the board has its height: else it would be pushed away. */
function showSide() {
  if (byId('side').hidden) byId('side').hidden = false;
}

/** Nothing is said of a connection that nobody asked for. */
function showFreshness(present) {
  if (board.book === null) return;
  if (present.name === 'stopped') hideConnection();
  else showConnection(present);
  if (list.isShown) tellAsOf(isOver(shown) ? { asOf: null, isOld: false } : present, service.now());
}

/** Says why there is no such list, while the rest of the board stays. */
function refused(problem) {
  if (problem.code === 'BOARD_NOT_FOUND' || (problem.status === 401 && board.isPrivate)) {
    explain(problem);
    return;
  }
  list.leave();
  tellFriendsHint(null);
  forgetFacts();
  summary.forget();
  freshness.forget();
  const isWindow = problem.code === 'WINDOW_NOT_FOUND';
  showSide();
  notice.show(
    isWindow ? windowNotice(problem, shown, windows.choices(board.book)) : refusalNotice(problem, choice.view),
  );
  clearTimeout(againTimer);
  // What is wrong with the question stays wrong.
  if (problem.status >= 429 || problem.status === 0) againTimer = setTimeout(() => void show(), LOOK_AGAIN_MS);
}

/** Says what the list waits for, as long as there is nothing to see of it. */
function delayed(problem) {
  if (!list.isShown) notice.show(refusalNotice(problem, choice.view));
}

/** Says why there is no board to see, and what helps; looks again by itself where that may help. */
function explain(problem) {
  leave();
  showControls(false);
  showSide();
  if (board.definition === null) showTitle(choice.board);
  if (problem.status === 401 || problem.status === 403) {
    showConnection({ name: 'unauthorized' });
    notice.show(refusalNotice(problem, 'players'));
    return;
  }
  notice.show(boardNotice(problem, choice.board));
  if (problem.status === 404) void boards.show({ heading: 'Boards that are here' });
  showConnection({ name: 'waiting' });
  againTimer = setTimeout(() => void open(), LOOK_AGAIN_MS);
}

/** The boards to choose from, where the address names none. */
function showHome() {
  const isHome = choice.board === null;
  if (byId('layout').hidden !== isHome) boards.hide();
  byId('layout').hidden = isHome;
  document.querySelector('.skip').hidden = isHome;
  if (!isHome) return;
  showTitle('Boards');
  showControls(false);
  hideConnection();
  void boards.show();
}

function leave() {
  clearTimeout(againTimer);
  showing += 1;
  over.clear();
  list.leave();
  myPlace.leave();
  bestRated.leave();
  taxNote.leave();
  spread.leave();
  board.close();
  freshness.connection('stopped');
  forgetFacts();
  summary.forget();
  freshness.forget();
  countdown.tell(null);
  standing.show(null);
  tellFriendsHint(null);
  byId('me-bar').hidden = true;
}

/** Asks for a key in the words of the refusal; true when there is a new one. */
async function askBecause(error) {
  const key = await askForKey(error.body?.detail ?? error.message);
  if (key === null) return false;
  memory.key.set(key);
  byId('key-forget').hidden = false;
  return true;
}

function meChanged(playerId) {
  if (choice.view === 'friends') go({ player: playerId }, { replace: true });
  else list.mine = choice.view === 'guilds' ? null : playerId;
}

setUpDrawer();
closeByItself(byId('options'));
byId('news-span').textContent = NEWS_WORDS;
byId('notice-choices').addEventListener('click', (event) => {
  const link = event.target.closest('a');
  if (!link || !isPlainClick(event)) return;
  event.preventDefault();
  go({ window: link.dataset.window });
});
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
    await service.reset(choice.board, key);
    if (board.book === null) return;
    await board.book.refresh();
    void show();
  });
});
globalThis.addEventListener('popstate', () => {
  const before = choice.board;
  const wasShown = location.search === shownSearch;
  choice = readAddress(location.search);
  shownSearch = location.search;
  if (wasShown && board.book) return views.follow();
  over.clear();
  void (choice.board === before && board.book ? show().then(() => views.follow()) : open());
});
void open();
