import { dateAndTime } from './words.js';
import { nextMoment } from './window-words.js';

const SECOND_MS = 1000;

/** "2 days 4 h", "3:12:05", "0:59": what is left, rounded up, so that it reads 0:00 when it is over and not before. */
export function countdownWords(leftMs) {
  const seconds = Math.max(0, Math.ceil(leftMs / SECOND_MS));
  const two = (value) => String(value).padStart(2, '0');
  const [days, hours, minutes] = [86_400, 3600, 60].map((size) => Math.floor(seconds / size));
  if (days > 0) return `${days} ${days === 1 ? 'day' : 'days'} ${hours % 24} h`;
  const clock = `${two(minutes % 60)}:${two(seconds % 60)}`;
  return hours > 0 ? `${hours}:${clock}` : `${minutes}:${two(seconds % 60)}`;
}

/** Counts down to a window's next moment, each second, by the clock of the service. */
export class Countdown {
  #element;
  #text = document.createElement('span');
  #time = document.createElement('time');
  #clock;
  #timer = null;

  constructor(element, { clock }) {
    this.#element = element;
    this.#clock = clock;
    element.append(this.#text, ' ', this.#time);
  }

  /** Tells of this window from now on, by its name where one is given; null tells nothing. */
  tell(window, name = '') {
    clearTimeout(this.#timer);
    const { text, at } = window ? nextMoment(window) : { text: '', at: null };
    this.#text.textContent = name && text ? `${name}: ${text}` : text;
    this.#time.dateTime = at ?? '';
    this.#element.title = at ? dateAndTime(at) : '';
    this.#element.dataset.state = window?.isFrozen ? 'frozen' : (window?.state ?? '');
    if (at) this.#tick(Date.parse(at));
    else this.#time.textContent = '';
  }

  #tick(atMs) {
    const left = atMs - this.#clock.now();
    this.#time.textContent = countdownWords(left);
    if (left > 0) this.#timer = setTimeout(() => this.#tick(atMs), left % SECOND_MS || SECOND_MS);
  }
}
