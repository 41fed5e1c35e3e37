import { historyOf, leadersOf, pastWindows, readEach } from '../player/player-facts.js';
import { problemOf, say, sayProblem } from '../messages.js';
import { BoardView } from '../table/board-view.js';
import { endedLabel } from '../window-words.js';
import { dateAndTime, isolated } from '../words.js';
import { frameAt, raceOfHistories, raceOfWindows } from './race-frames.js';

const SHOWN = 10;
/** Who is read, so that those who fell out of the first ten are in the race, too. */
const READ = 500;
const READ_OF_HISTORY = 30;
const STEPS = 1000;
const LASTS_MS = 30_000;
const TICK_MS = 100;

const byId = (id) => document.getElementById(id);

/** Whether each of these windows begins where the one before has ended: only then does none of their scores count twice. */
const follow = (windows) =>
  windows.every(({ startsAt }, at) => at === 0 || Date.parse(startsAt) >= Date.parse(windows[at - 1].endsAt));

/** How a board came about: its leaders as moving rows, under a time bar that plays, at some speed, and jumps. */
export class RaceView {
  #service;
  #source;
  #view = new BoardView(byId('race-rows'));
  #race = null;
  #names = new Map();
  #timer = null;
  #turn = 0;

  /** `source()` as for the view of a player; `onClose()` hears that the view is closed. */
  constructor({ service, source, onClose }) {
    this.#service = service;
    this.#source = source;
    byId('race-dialog').addEventListener('close', () => {
      this.#turn += 1;
      this.#stop();
      onClose();
    });
    byId('race-play').addEventListener('click', () => (this.#timer === null ? this.#play() : this.#stop()));
    byId('race-time').addEventListener('input', () => this.#show());
  }

  close() {
    byId('race-dialog').close();
  }

  open() {
    byId('race-title').textContent = `${isolated(this.#source().title)}: the race`;
    byId('race').hidden = true;
    this.#view.clear();
    say(byId('race-message'), 'Reading …');
    if (!byId('race-dialog').open) byId('race-dialog').showModal();
    void this.#fill(++this.#turn);
  }

  async #fill(turn) {
    const source = this.#source();
    try {
      const race = (await this.#ofHistory(source)) ?? (await this.#ofWindows(source));
      if (turn !== this.#turn) return;
      if (race === null || race.stops.length < 2) {
        say(byId('race-message'), 'There is too little that this board keeps of its past.');
        return;
      }
      this.#race = { ...race, order: source.definition.order };
      say(byId('race-message'), '');
      byId('race').hidden = false;
      byId('race-words').textContent = race.words;
      this.#view.scores = source.scores;
      this.#view.mine = source.me;
      byId('race-time').value = '0';
      this.#show();
      this.#play();
    } catch (error) {
      if (turn === this.#turn) sayProblem(byId('race-message'), problemOf(error));
    }
  }

  /** What the board recorded of those who lead now; null: it records nothing. */
  async #ofHistory({ board, definition, window, scope }) {
    if (!definition.history) return null;
    const { entries } = await this.#service.entries(board, { window: window.id, scope, limit: READ_OF_HISTORY });
    this.#learn(entries);
    const points = await readEach(entries, ({ playerId }) =>
      historyOf(this.#service, { board, window: window.id }, playerId),
    );
    const histories = entries.map(({ playerId }, at) => ({ playerId, points: points[at] ?? [] }));
    const race = raceOfHistories(histories, { labelOf: (time) => dateAndTime(time * 1000) });
    if (race.stops.length < 3) return null;
    return { ...race, words: `Of the ${entries.length} who lead now, as the board recorded them.` };
  }

  async #ofWindows({ board, definition, book, window }) {
    const windows = pastWindows(book, window.kind);
    if (windows.length < 2) return null;
    const lists = await leadersOf(this.#service, { board, windows, limit: READ });
    for (const { entries } of lists) this.#learn(entries);
    const isSum = definition.operator === 'sum' && definition.order === 'desc' && follow(windows);
    const words = isSum
      ? 'What each window added, one after another; between two ends scores are drawn evenly.'
      : 'The standings at the end of each window.';
    return { ...raceOfWindows(lists, { isSum, labelOf: endedLabel }), words };
  }

  #learn(entries) {
    for (const { playerId, displayName } of entries) if (displayName) this.#names.set(playerId, displayName);
  }

  #play() {
    const time = byId('race-time');
    if (Number(time.value) >= STEPS) time.value = '0';
    byId('race-play').textContent = 'Pause';
    let at = Number(time.value);
    this.#timer = setInterval(() => {
      at = Math.min(STEPS, Math.abs(Number(time.value) - at) > 2 ? Number(time.value) : at);
      at += (STEPS * TICK_MS * Number(byId('race-speed').value)) / LASTS_MS;
      time.value = String(at);
      this.#show();
      if (at >= STEPS) this.#stop();
    }, TICK_MS);
  }

  #stop() {
    clearInterval(this.#timer);
    this.#timer = null;
    byId('race-play').textContent = 'Play';
  }

  #show() {
    const time = byId('race-time');
    const { label, rows } = frameAt(this.#race, Number(time.value) / STEPS, SHOWN);
    if (byId('race-when').textContent !== label) byId('race-when').textContent = label;
    time.setAttribute('aria-valuetext', label);
    const named = rows.map((row) => ({
      ...row,
      score: this.#rounded(row.score),
      displayName: this.#names.get(row.playerId) ?? null,
    }));
    this.#view.show({ entries: named });
  }

  /** Between two ends the digits behind the point mean nothing. */
  #rounded(score) {
    return this.#race.isEven ? Math.round(score) : score;
  }
}
