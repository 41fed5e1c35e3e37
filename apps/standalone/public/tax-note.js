import { percent } from './words.js';

const LOOK_MS = 5000;
const LOOK_WHILE_RETAXING_MS = 1500;
const LOOKS_APART_MS = 1000;

const byId = (id) => document.getElementById(id);

/**
 * What tax a board with decay is under, and that another is on its way, with how far it is. It asks the service every five
 * seconds, more often while a tax is on its way, and not at all while nobody sees the page.
 */
export class TaxNote {
  #service;
  #onTax;
  #about = null;
  #timer = null;
  #askedAt = -Infinity;
  #turn = 0;
  #tax = null;

  /** `onTax(decay)` hears what the service says of the tax, whenever the latest patch or the next is another than before. */
  constructor({ service, onTax }) {
    this.#service = service;
    this.#onTax = onTax;
    document.addEventListener('visibilitychange', () => document.hidden || this.look());
  }

  /** Follows the tax of a window; `about` is `{ board, window, order, patch }`, `patch` that of a raw list, else null. */
  follow(about) {
    const isSameBoard = this.#about?.board === about.board;
    const tax = this.#tax;
    this.leave();
    this.#about = about;
    // Until the answer is there, nothing below moves.
    if (isSameBoard && tax) this.#show(tax);
    this.look();
  }

  leave() {
    clearTimeout(this.#timer);
    this.#turn += 1;
    this.#about = null;
    this.#askedAt = -Infinity;
    this.#tax = null;
    byId('tax').hidden = true;
    byId('retax').hidden = true;
  }

  /** Asks now, or in a moment where it asked just now: the list was shown anew as a whole. */
  look() {
    if (this.#about === null) return;
    this.#lookIn(Math.max(0, this.#askedAt + LOOKS_APART_MS - performance.now()));
  }

  #lookIn(ms) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#ask(this.#turn), ms);
  }

  async #ask(turn) {
    if (document.hidden) return;
    this.#askedAt = performance.now();
    const { board, window } = this.#about;
    try {
      const { decay } = await this.#service.entries(board, { window, limit: 1 });
      if (turn !== this.#turn) return;
      if (decay) this.#show(decay);
    } catch {
      // The list itself says when the service is away; what the note says was true, and is asked again.
      if (turn !== this.#turn) return;
    }
    this.#lookIn(this.#tax?.retaxing ? LOOK_WHILE_RETAXING_MS : LOOK_MS);
  }

  #show(decay) {
    const before = this.#tax;
    this.#tax = decay;
    const { order, patch } = this.#about;
    const { latest, retaxing } = decay;
    byId('tax').hidden = latest === null;
    write(byId('tax'), patch === null ? taxWords(decay, order) : `Raw scores of patch ${patch}, without tax.`);
    byId('retax').hidden = !retaxing;
    if (retaxing) {
      write(byId('retax-text'), retaxWords(decay));
      byId('retax-bar').value = retaxing.done;
      byId('retax-done').textContent = percent(retaxing.done);
    }
    const isNew = latest !== before?.latest || retaxing?.to !== before?.retaxing?.to;
    if (isNew) this.#onTax(decay);
  }
}

function taxWords({ latest, perPatch }, order) {
  const change = order === 'asc' ? 'adds' : 'takes away';
  return `Each patch behind ${latest} ${change} ${percent(perPatch)} of the raw score.`;
}

function retaxWords({ latest, retaxing }) {
  const until = latest === null ? '' : ` Until it is done, the tax is that of patch ${latest}.`;
  if (retaxing.to === latest) return `The order of patches has changed, and the board is being taxed anew.${until}`;
  return `Patch ${retaxing.to} is out, and the board is being taxed anew.${until}`;
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
