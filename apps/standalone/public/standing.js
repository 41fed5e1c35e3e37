import { problemOf, say, sayProblem } from './messages.js';
import { dateAndTime } from './words.js';
import { contentSpan, endedLabel, runningLabel, spanWords } from './window-words.js';

const byId = (id) => document.getElementById(id);

/** What kind of standings these are, where they are not simply the present ones: frozen, over, or final. */
export class Standing {
  #service;
  #list = null;

  constructor({ service }) {
    this.#service = service;
    byId('standing-links').addEventListener('click', (event) => void this.#download(event));
  }

  /** `list` is `{ board, window, scope, needsKey }`, its window as the service describes it. */
  show(list, nowMs) {
    this.#list = list;
    const words = list && wordsOf(list.window, nowMs);
    byId('standing').hidden = !words;
    if (!words) return;
    byId('standing').dataset.state = words.state;
    byId('standing-title').textContent = words.title;
    byId('standing-text').textContent = words.text;
    say(byId('standing-message'), '');
    byId('standing-links').hidden = words.state !== 'settled';
    for (const link of byId('standing-links').querySelectorAll('a')) {
      const { board, window, scope } = list;
      link.href = this.#service.exportPath(board, { window: window.id, scope, format: link.dataset.format });
    }
  }

  /** A link carries no key: where one is needed, the file is fetched with it. */
  async #download(event) {
    const link = event.target.closest('a');
    if (!link || !this.#list.needsKey) return;
    event.preventDefault();
    try {
      const response = await this.#service.download(link.getAttribute('href'));
      const address = URL.createObjectURL(await response.blob());
      const { board, window } = this.#list;
      const name = `${board}-${window.id.replaceAll(':', '-')}.${link.dataset.format}`;
      Object.assign(document.createElement('a'), { href: address, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
    } catch (error) {
      sayProblem(byId('standing-message'), problemOf(error));
    }
  }
}

function wordsOf(window, nowMs) {
  const { state, isFrozen, freezeAt } = window;
  if (state === 'settled') {
    return {
      state,
      title: `Final standings of ${endedLabel(window)}`,
      text: window.kind === 'season' ? contentSpan(window) : spanWords(window),
    };
  }
  if (state === 'ended') {
    const text = 'Late scores may still enter; the final standings follow by themselves.';
    return { state, title: `${endedLabel(window)} is over`, text };
  }
  if (!isFrozen) return null;
  const since = freezeAt ? ` since ${dateAndTime(freezeAt)}` : '';
  const text = 'Scores still count, and show when it ends.';
  return { state: 'frozen', title: `${runningLabel(window, nowMs)} is frozen${since}`, text };
}
