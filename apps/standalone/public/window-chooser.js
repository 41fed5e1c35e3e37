import { problemOf, say, sayProblem } from './messages.js';
import { closeByItself, closeMenu } from './menu.js';
import { isPlainClick } from './page-frame.js';
import { count } from './words.js';
import { contentSpan, endedLabel, isOver, labelOf, nameOf, runningLabel, spanWords } from './window-words.js';

const STATE_WORDS = { ended: 'Late scores enter', settled: 'Final' };

const CHOICES_MAX = 12;

const byId = (id) => document.getElementById(id);

/** The windows that run, side by side, and behind “Archive” those that are over or still to come. */
export class WindowChooser {
  #onChoose;
  #hrefOf;
  #book = null;
  #clock;

  /** `onChoose(name)` hears a choice; `hrefOf(name)` is the address of a window of its own. */
  constructor({ clock, onChoose, hrefOf }) {
    this.#clock = clock;
    this.#onChoose = onChoose;
    this.#hrefOf = hrefOf;
    byId('windows').addEventListener('change', (event) => {
      event.stopPropagation();
      onChoose(event.target.value);
    });
    byId('archive-more').addEventListener('click', () => void this.#more());
    closeByItself(byId('archive'));
    byId('archive').addEventListener('click', (event) => {
      const link = event.target.closest('a[data-window]');
      if (!link || !isPlainClick(event)) return;
      event.preventDefault();
      closeMenu(byId('archive'));
      this.#onChoose(link.dataset.window);
    });
  }

  /** Shows these windows, with the one of that id chosen (null: none of them). */
  show(book, chosen) {
    this.#book = book;
    const running = chosen !== null && !isOver(chosen) ? chosen.id : null;
    const legend = byId('windows').querySelector('legend');
    const nowMs = this.#clock.now();
    const focused = byId('windows').contains(document.activeElement) ? document.activeElement.value : null;
    byId('windows').replaceChildren(
      legend,
      ...book.running.map((window) =>
        radio(window, { name: nameIn(book, window), isChosen: window.id === running, nowMs }),
      ),
    );
    byId('windows').hidden = book.running.length === 0 || (book.running.length === 1 && !book.hasArchive);
    if (focused !== null)
      byId('windows')
        .querySelector(`input[value="${CSS.escape(focused)}"]`)
        ?.focus();
    byId('archive').hidden = !book.hasArchive;
    const isArchived = chosen !== null && book.ended.some(({ id }) => id === chosen?.id);
    byId('archive').classList.toggle('chosen', isArchived);
    byId('archive-name').textContent = isArchived ? endedLabel(chosen) : 'Archive';
    this.#list('upcoming', book.upcoming, (window) => upcomingRow(window));
    this.#list('ended', book.ended, (window) => this.#endedRow(window, window.id === chosen?.id));
    byId('archive-more').hidden = !book.hasMore;
    // Only now, because the archive takes its room beside them.
    scrollTo(byId('windows'), byId('windows').querySelector('input:checked')?.parentElement);
  }

  /** Some windows of a book, as `[{ label, href, window }]`: those that run, and the last that are over. */
  choices(book) {
    const { running, ended } = book;
    const nowMs = this.#clock.now();
    return [...running, ...ended].slice(0, CHOICES_MAX).map((window) => {
      const name = isOver(window) ? window.id : nameIn(book, window);
      return { label: labelOf(window, nowMs), href: this.#hrefOf(name), window: name };
    });
  }

  /** A refresh that changes nothing leaves what is there, and with it the reader's focus. */
  #list(name, windows, rowOf) {
    byId(`archive-${name}-part`).hidden = windows.length === 0;
    const rows = windows.map(rowOf);
    const present = byId(`archive-${name}`);
    const text = rows.map((row) => row.outerHTML).join('');
    if (present.dataset.shown === text) return;
    present.dataset.shown = text;
    present.replaceChildren(...rows);
  }

  #endedRow(window, isChosen) {
    const link = make('a', '', [make('span', 'archive-title', endedLabel(window))]);
    link.href = this.#hrefOf(window.id);
    link.dataset.window = window.id;
    if (isChosen) link.setAttribute('aria-current', 'true');
    const entries = typeof window.entries === 'number' ? `${count(window.entries)} entries` : '';
    const when = window.kind === 'season' ? contentSpan(window) : '';
    link.append(make('span', `tag ${window.state}`, STATE_WORDS[window.state] ?? window.state));
    link.append(make('span', 'archive-when', [entries, when].filter(Boolean).join(' · ')));
    return make('li', '', [link]);
  }

  async #more() {
    const button = byId('archive-more');
    const known = new Set(this.#book.ended.map(({ id }) => id));
    button.disabled = true;
    say(byId('archive-message'), '');
    try {
      await this.#book.more();
      const chosen = byId('archive-ended').querySelector('[aria-current]')?.dataset.window;
      this.show(this.#book, chosen ? this.#book.find(chosen) : null);
      const first = this.#book.ended.find(({ id }) => !known.has(id));
      if (first)
        byId('archive-ended')
          .querySelector(`[data-window="${CSS.escape(first.id)}"]`)
          ?.focus();
    } catch (error) {
      sayProblem(byId('archive-message'), problemOf(error));
    } finally {
      button.disabled = false;
    }
  }
}

/** Of two days that run, as after a change of the time zone, one alone is “the running day”. */
function nameIn(book, window) {
  const name = nameOf(window);
  return book.find(name)?.id === window.id ? name : window.id;
}

function radio(window, { name, isChosen, nowMs }) {
  const input = document.createElement('input');
  Object.assign(input, { type: 'radio', name: 'window', value: name, checked: isChosen });
  const text = make('span', '', runningLabel(window, nowMs));
  if (window.isFrozen) text.append(make('span', 'tag frozen', 'Frozen'));
  const label = make('label', '', [input, text]);
  label.title = spanWords(window);
  return label;
}

/** Where the windows do not fit side by side, the chosen one is in sight. */
function scrollTo(strip, label) {
  if (label) strip.scrollLeft = label.offsetLeft - (strip.clientWidth - label.offsetWidth) / 2;
}

function upcomingRow(window) {
  return make('li', 'upcoming', [
    make('span', 'archive-title', endedLabel(window)),
    make('span', 'tag', 'Upcoming'),
    make('span', 'archive-when', spanWords(window)),
  ]);
}

function make(tag, className, content) {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...(Array.isArray(content) ? content : [content]));
  return element;
}
