import { problemOf, say, sayProblem } from './messages.js';
import { submissionWords } from './words.js';

const byId = (id) => document.getElementById(id);

/**
 * The form that submits a score. What was typed keeps one `submissionId` until it is answered, so that pressing the
 * button again after a lost connection cannot count it twice.
 */
export class SubmitForm {
  #source;
  #columns = [];
  #pending = null;

  /** `source()` gives `{ service, board, scores, askForKey }` of the moment. */
  constructor({ source }) {
    this.#source = source;
    byId('submit-form').addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#submit();
    });
  }

  /** Shows one field for each extra sort column of the board. */
  set columns(columns) {
    this.#columns = columns;
    byId('submit-columns').replaceChildren(...columns.flatMap(({ name }, index) => columnField(name, index)));
  }

  async #submit() {
    const message = byId('submit-message');
    const button = byId('submit-form').querySelector('button');
    const { scores } = this.#source();
    button.disabled = true;
    say(message, 'Sending…');
    try {
      const answer = await this.#send(this.#numbered(this.#typed()));
      this.#pending = null;
      say(message, submissionWords(answer, scores.short));
    } catch (error) {
      sayProblem(message, problemOf(error));
    } finally {
      button.disabled = false;
    }
  }

  #typed() {
    const typed = { playerId: byId('submit-player').value, score: byId('submit-score').valueAsNumber };
    if (!byId('submit-patch').disabled) typed.patch = byId('submit-patch').value;
    if (this.#columns.length === 0) return typed;
    const columns = this.#columns.map(({ name }, index) => [name, byId(`submit-column-${index}`).valueAsNumber]);
    return { ...typed, columns: Object.fromEntries(columns) };
  }

  #numbered(typed) {
    const text = JSON.stringify(typed);
    if (this.#pending?.text !== text) this.#pending = { text, submissionId: newSubmissionId() };
    return { submissionId: this.#pending.submissionId, ...typed };
  }

  /** Sends it, and once more with the same id when the reader gives a key that was missing. */
  async #send(submission) {
    const { service, board, askForKey } = this.#source();
    const onRetry = (tries) => say(byId('submit-message'), `No answer yet; trying again (${tries}) with the same id…`);
    try {
      return await service.submit(board, submission, { onRetry });
    } catch (error) {
      if (![401, 403].includes(error.status) || !(await askForKey(error))) throw error;
      return service.submit(board, submission, { onRetry });
    }
  }
}

function columnField(name, index) {
  const label = document.createElement('label');
  label.htmlFor = `submit-column-${index}`;
  label.textContent = name;
  const input = document.createElement('input');
  Object.assign(input, { id: label.htmlFor, type: 'number', step: 'any', required: true, autocomplete: 'off' });
  return [label, input];
}

/** `crypto.randomUUID` exists on https and localhost only; a phone on the local network has neither. */
function newSubmissionId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
