import { endedLabel, nameOf, unitOf } from './window-words.js';

const FOLLOW_AFTER_S = 10;

const byId = (id) => document.getElementById(id);

/**
 * Says that the window is over that the reader follows by its running name. The next one is followed after some seconds,
 * unless the reader looks at the final standings instead.
 */
export class OverNote {
  #timer = null;
  #ended = null;
  #onSee;
  #onFollow;

  /** `onSee(windowId)` shows the window that is over; `onFollow(name)` follows the next. */
  constructor({ onSee, onFollow }) {
    this.#onSee = onSee;
    this.#onFollow = onFollow;
    byId('over-see').addEventListener('click', () => {
      const { id } = this.#ended;
      this.clear();
      this.#onSee(id);
    });
    byId('over-follow').addEventListener('click', () => this.#follow());
    byId('over-close').addEventListener('click', () => this.clear());
  }

  /** Tells that this one is over; telling it again does not start anew. */
  tell(ended) {
    if (this.#ended?.id === ended.id) return;
    this.clear();
    this.#ended = ended;
    const unit = unitOf(ended.kind);
    byId('over-text').textContent = `This ${unit} is over.`;
    byId('over-follow').hidden = false;
    byId('over-close').hidden = true;
    byId('over').hidden = false;
    this.#wait(FOLLOW_AFTER_S, `Follow the new ${unit}`);
  }

  /** The window that the note is about; null when there is none. */
  get about() {
    return this.#ended;
  }

  clear() {
    clearTimeout(this.#timer);
    this.#ended = null;
    byId('over').hidden = true;
  }

  #wait(seconds, words) {
    byId('over-follow').textContent = `${words} (${seconds})`;
    this.#timer = setTimeout(() => (seconds > 1 ? this.#wait(seconds - 1, words) : this.#follow()), 1000);
  }

  #follow() {
    clearTimeout(this.#timer);
    const hadFocus = document.activeElement === byId('over-follow');
    byId('over-text').textContent = `A new ${unitOf(this.#ended.kind)} has begun; ${endedLabel(this.#ended)} is over.`;
    byId('over-follow').hidden = true;
    byId('over-close').hidden = false;
    if (hadFocus) byId('over-see').focus();
    this.#onFollow(nameOf(this.#ended));
  }
}
