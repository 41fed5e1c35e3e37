import { BoardView } from './board-view.js';
import { askForKey, confirmReset } from './dialogs.js';
import { LiveConnection } from './live-connection.js';
import { LookAround } from './look-around.js';
import * as memory from './memory.js';
import { problemDetail, problemOf } from './messages.js';
import { MyPlace } from './my-place.js';
import { Rest } from './rest.js';
import { SubmitForm } from './submit-form.js';
import { Summary } from './summary.js';
import { count, dateAndTime, scoreFormat, timeOfDay, untilWords, windowChoices } from './words.js';

const DEMO_BOARD = 'football';
const SIZES = ['10', '25', '50', '100'];
const LOOK_AGAIN_MS = 2500;
const STATE_WORDS = {
  connecting: 'Connecting',
  live: 'Live',
  reconnecting: 'Reconnecting',
  stopped: 'Not connected',
  waiting: 'Waiting for the board',
  unauthorized: 'A key is needed',
};

const byId = (id) => document.getElementById(id);
const address = new URLSearchParams(location.search);
const board = address.get('board') ?? DEMO_BOARD;
const rest = new Rest({ getKey: () => memory.key.get() });
const view = new BoardView(byId('rows'));
const summary = new Summary(byId('summary'));

let definition = null;
let chosenWindow = address.get('window') ?? 'alltime';
let size = SIZES.includes(address.get('top')) ? address.get('top') : sizeForScreen();
let live = null;
let topSubscription = null;
let openTimer = null;
let resetsAt = null;
let writeScore = scoreFormat();

const now = () => ({ rest, board, window: chosenWindow, writeScore, me: memory.me.get(), askForKey: askBecause });
const myPlace = new MyPlace({ memory: memory.me, onChange: (playerId) => (view.mine = playerId) });
const lookAround = new LookAround({ source: now });
const submitForm = new SubmitForm({ source: now });

function sizeForScreen() {
  return matchMedia('(max-width: 560px)').matches ? '10' : '25';
}

/** Reads the board's definition and goes live; comes back by itself when the board is not there yet. */
async function open() {
  close();
  byId('key-forget').hidden = memory.key.get() === null;
  try {
    definition = await rest.board(board);
  } catch (error) {
    explain(problemOf(error));
    return;
  }
  writeScore = scoreFormat(definition.format);
  view.writeScore = writeScore;
  view.mine = memory.me.get();
  submitForm.columns = definition.columns ?? [];
  showTitle(definition.title || board);
  showChoices();
  hideNotice();
  showControls(true);
  const url = new URL('/v1/live', location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  const token = definition.visibility === 'private' ? memory.key.get() : null;
  live = new LiveConnection({ url: url.href, token, onState: showState });
  live.start();
  watch();
}

function showTitle(title) {
  byId('title').textContent = title;
  document.title = `${title} · Laddercast`;
}

/** What can be done with a board is offered while there is one. */
function showControls(shown) {
  byId('view-form').hidden = !shown;
  for (const card of document.querySelectorAll('.side .card:not(.manage)')) card.hidden = !shown;
  byId('reset-open').hidden = !shown;
}

function close() {
  clearTimeout(openTimer);
  topSubscription?.close();
  topSubscription = null;
  myPlace.leave();
  live?.stop();
  live = null;
}

/** Subscribes to what is chosen now, and leaves what was chosen before. */
function watch() {
  topSubscription?.close();
  view.clear();
  lookAround.clear();
  const limit = Math.min(Number(size), definition.push?.top ?? Infinity);
  const request = { board, window: chosenWindow, scope: 'global', channel: 'top', limit };
  const tiebreak = definition.tiebreak ?? 'earliest';
  topSubscription = live.subscribe(request, { tiebreak, onList: showList, onProblem: explain, onWindowClosed: watch });
  myPlace.follow({ live, board, window: chosenWindow, tiebreak, writeScore });
  void showReset();
}

function showList(list, changes) {
  const isEmpty = list.rows.length === 0;
  byId('table').hidden = isEmpty;
  if (isEmpty)
    showNotice('No entries yet', 'Scores show here the moment they are submitted.', { command: board === DEMO_BOARD });
  else hideNotice();
  view.show(list, changes);
  byId('caption').textContent = `${byId('title').textContent}: the first ${count(list.rows.length)}`;
  byId('total').textContent = `${count(list.total)} ${list.total === 1 ? 'entry' : 'entries'}`;
  byId('as-of').textContent = list.asOf ? `as of ${timeOfDay(list.asOf)}` : '';
  byId('as-of').title = list.asOf ?? '';
  summary.tell(list, writeScore);
}

/** When the window ends is said by the reads; that it is not known takes nothing from the board itself. */
async function showReset() {
  const asked = chosenWindow;
  const answer = await rest.entries(board, { window: asked, limit: 1 }).catch(() => null);
  if (asked !== chosenWindow) return;
  resetsAt = answer?.window?.resetsAt ?? null;
  tellReset();
}

function tellReset() {
  byId('resets').textContent = resetsAt ? `next reset ${untilWords(resetsAt)}` : '';
  byId('resets').title = resetsAt ? dateAndTime(resetsAt) : '';
}

function showState({ name }) {
  byId('connection').dataset.state = name;
  if (byId('connection-text').textContent !== STATE_WORDS[name])
    byId('connection-text').textContent = STATE_WORDS[name];
  if (name === 'unauthorized')
    explain({ status: 401, title: 'A key is needed', detail: 'The key was not accepted, or has expired.' });
}

/** Says why there is no board to see, and what helps; looks again by itself where that may help. */
function explain(problem) {
  close();
  view.clear();
  byId('table').hidden = true;
  byId('me-bar').hidden = true;
  showControls(false);
  if (definition === null) showTitle(board);
  for (const id of ['total', 'as-of', 'resets']) byId(id).textContent = '';
  if (problem.status === 401 || problem.status === 403) {
    showNotice(problem.title, problemDetail(problem), { key: true });
    return;
  }
  if (problem.status === 404) {
    const isDemo = board === DEMO_BOARD;
    const detail = isDemo
      ? 'Fill it with 127 years of football, and watch it here while it runs:'
      : 'It shows here as soon as it is made.';
    showNotice(`There is no board “${board}” yet`, detail, { command: isDemo });
  } else {
    showNotice(problem.title, problemDetail(problem));
  }
  showState({ name: 'waiting' });
  openTimer = setTimeout(open, LOOK_AGAIN_MS);
}

function showNotice(title, text, { command = false, key = false } = {}) {
  byId('notice').hidden = false;
  byId('notice-title').textContent = title;
  byId('notice-text').textContent = text;
  byId('notice-command').hidden = !command;
  byId('notice-key').hidden = !key;
}

function hideNotice() {
  byId('notice').hidden = true;
}

function showChoices() {
  const choices = windowChoices(definition.windows);
  if (!choices.some(({ id }) => id === chosenWindow)) chosenWindow = choices[0].id;
  const legend = byId('windows').querySelector('legend');
  byId('windows').replaceChildren(legend, ...choices.map(windowChoice));
  byId('windows').hidden = choices.length < 2;
  showSizes(definition.push?.top ?? Infinity);
}

/** A board pushes so many rows and no more; the sizes beyond are not offered. */
function showSizes(pushed) {
  const inputs = [...document.querySelectorAll('#sizes input')];
  inputs.forEach((input, index) => (input.closest('label').hidden = index > 0 && Number(input.value) > pushed));
  const offered = inputs.filter((input) => !input.closest('label').hidden);
  const chosen = offered.find((input) => input.value === size) ?? offered.at(-1);
  chosen.checked = true;
  size = chosen.value;
}

function windowChoice({ id, label }) {
  const element = document.createElement('label');
  const input = document.createElement('input');
  Object.assign(input, { type: 'radio', name: 'window', value: id, checked: id === chosenWindow });
  const text = document.createElement('span');
  text.textContent = label;
  element.append(input, text);
  return element;
}

function remember() {
  const parameters = new URLSearchParams(location.search);
  parameters.set('window', chosenWindow);
  parameters.set('top', size);
  history.replaceState(null, '', `?${parameters}`);
}

/** Asks for a key in the words of the refusal; true when there is a new one. */
async function askBecause(error) {
  const key = await askForKey(error.problem?.detail ?? error.message);
  if (key === null) return false;
  memory.key.set(key);
  byId('key-forget').hidden = false;
  return true;
}

byId('view-form').addEventListener('change', (event) => {
  if (event.target.name === 'window') chosenWindow = event.target.value;
  else size = event.target.value;
  remember();
  if (live) watch();
});
byId('view-form').addEventListener('submit', (event) => event.preventDefault());
byId('notice-key').addEventListener('click', async () => {
  if (await askBecause({ message: byId('notice-text').textContent })) await open();
});
byId('key-forget').addEventListener('click', () => {
  memory.key.set(null);
  void open();
});
byId('reset-open').addEventListener('click', () => {
  confirmReset(byId('title').textContent, async (key) => {
    await rest.reset(board, key);
    if (live) watch();
  });
});
globalThis.addEventListener('online', () => live?.reconnectNow());
setInterval(tellReset, 20_000);
void open();
