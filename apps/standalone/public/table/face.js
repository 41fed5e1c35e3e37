import { IMAGE_HOSTS } from '../page-settings.js';
import { initialOf } from '../words.js';
import { flagOf } from './flag.js';
import { mayLoad } from './image-hosts.js';

const SIZE = 24;
/** Longer words stand only where there is room. */
const WORDS_MAX = 3;

/**
 * Who somebody is: an avatar, round and of one size, with the first letter of the name where it cannot be shown; and a flag. What
 * they say stands in attributes, so that the text of a row stays what it is.
 */
export class Face {
  avatar = span('face');
  flag = span('flag');
  #url = undefined;

  constructor() {
    this.avatar.setAttribute('aria-hidden', 'true');
    this.flag.setAttribute('role', 'img');
    this.flag.hidden = true;
  }

  /** Shows a player as the API tells it with `fields=player`, by the name that it has. */
  show(player, name) {
    this.avatar.dataset.letter = initialOf(name);
    if (this.#url !== player.avatarUrl) this.#load(player.avatarUrl);
    const told = flagOf(player);
    this.flag.hidden = told === null;
    if (told === null || (this.flag.title === told.name && this.flag.dataset.flag === told.text)) return;
    this.flag.dataset.flag = told.text;
    this.flag.classList.toggle('is-long', told.text === told.name && told.text.length > WORDS_MAX);
    this.flag.title = told.name;
    this.flag.setAttribute('aria-label', told.name);
  }

  /** Whether there is an avatar that may be loaded. */
  get hasAvatar() {
    return this.avatar.classList.contains('has-avatar');
  }

  /** Whether there is a flag that stands also where there is little room. */
  get hasFlag() {
    return !this.flag.hidden && !this.flag.classList.contains('is-long');
  }

  #load(url) {
    this.#url = url;
    const isAllowed = mayLoad(url, { hosts: IMAGE_HOSTS, own: location.origin });
    this.avatar.classList.toggle('has-avatar', isAllowed);
    this.avatar.classList.remove('is-loaded');
    this.avatar.replaceChildren();
    if (!isAllowed) return;
    const image = new Image(SIZE, SIZE);
    image.alt = '';
    image.loading = 'lazy';
    image.decoding = 'async';
    image.referrerPolicy = 'no-referrer';
    image.addEventListener('load', () => this.avatar.classList.toggle('is-loaded', image.isConnected));
    image.addEventListener('error', () => image.remove());
    image.src = url;
    this.avatar.append(image);
  }
}

function span(className) {
  return Object.assign(document.createElement('span'), { className });
}
