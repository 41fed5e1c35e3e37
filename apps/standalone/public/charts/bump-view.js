import { leadersOf, pastWindows } from '../player/player-facts.js';
import { problemOf, say, sayProblem } from '../messages.js';
import { endedLabel } from '../window-words.js';
import { count, isolated, shownName } from '../words.js';
import { linesOf, TOP } from './bump-lines.js';
import { Chart } from './chart.js';

const WINDOWS_MAX = 30;

const byId = (id) => document.getElementById(id);

/** The top ten of window after window, a line for each of those who were there; a name that is chosen stands out. */
export class BumpView {
  #service;
  #source;
  #chart = new Chart(byId('bump-figure'), { height: 420 });
  #turn = 0;

  /** `source()` as for the view of a player; `onClose()` hears that the view is closed. */
  constructor({ service, source, onClose }) {
    this.#service = service;
    this.#source = source;
    byId('bump-dialog').addEventListener('close', () => {
      this.#turn += 1;
      onClose();
    });
    byId('bump-names').addEventListener('click', (event) => {
      const button = event.target.closest('button');
      if (!button) return;
      const isPressed = button.getAttribute('aria-pressed') === 'true';
      for (const one of byId('bump-names').children)
        one.setAttribute('aria-pressed', String(one === button && !isPressed));
      this.#chart.strong = isPressed ? null : button.textContent;
    });
  }

  close() {
    byId('bump-dialog').close();
  }

  open() {
    const { title } = this.#source();
    byId('bump-title').textContent = `${isolated(title)}: the top ten over time`;
    byId('bump-names').replaceChildren();
    this.#chart.clear();
    this.#chart.strong = null;
    say(byId('bump-message'), 'Reading …');
    if (!byId('bump-dialog').open) byId('bump-dialog').showModal();
    void this.#fill(++this.#turn);
  }

  async #fill(turn) {
    const { board, book, window } = this.#source();
    try {
      const windows = pastWindows(book, window.kind, WINDOWS_MAX);
      const lists = (await leadersOf(this.#service, { board, windows, limit: TOP })).filter(
        ({ entries }) => entries.length > 0,
      );
      if (turn !== this.#turn) return;
      say(byId('bump-message'), lists.length < 2 ? 'It takes two windows that are over to draw this.' : '');
      if (lists.length >= 2) this.#draw(lists);
    } catch (error) {
      if (turn === this.#turn) sayProblem(byId('bump-message'), problemOf(error));
    }
  }

  #draw(lists) {
    const lines = linesOf(lists);
    const labels = lists.map(({ window }) => endedLabel(window));
    this.#chart.show({
      x: lists.map((_, at) => at),
      lines,
      writeX: (at) => labels[at] ?? '',
      writeY: count,
      isRanks: true,
      ends: true,
      words: `${isolated(lines[0].name)} was among the first ten most often, from ${labels[0]} to ${labels.at(-1)}.`,
      table: {
        caption: 'The first ten of each window',
        head: ['Window', ...Array.from({ length: TOP }, (_, at) => count(at + 1))],
        rows: lists.map(({ entries }, at) => [labels[at], ...entries.map(shownName)]),
      },
    });
    byId('bump-names').replaceChildren(...lines.filter(isRegular).map(({ name, colour }) => nameButton(name, colour)));
  }
}

const isRegular = ({ values }) => values.filter((rank) => rank !== null).length > 1;

function nameButton(name, colour) {
  const button = Object.assign(document.createElement('button'), {
    type: 'button',
    textContent: name,
    className: 'plain name-button',
  });
  button.dir = 'auto';
  button.style.setProperty('--own', `var(${colour})`);
  button.setAttribute('aria-pressed', 'false');
  return button;
}
