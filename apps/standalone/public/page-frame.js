import { isolated } from './words.js';

const STATE_WORDS = {
  connecting: 'Connecting',
  live: 'Live',
  quiet: 'No news for',
  behind: 'Behind by',
  reconnecting: 'Reconnecting',
  waiting: 'Waiting',
  unauthorized: 'A key is needed',
};
const COUNTED = ['quiet', 'behind'];

const byId = (id) => document.getElementById(id);

export function showTitle(title) {
  byId('title').textContent = title;
  byId('title').title = title;
  document.title = `${isolated(title)} · Laddercast`;
}

/** What can be done with a board is offered while there is one. */
export function showControls(shown) {
  byId('view-form').hidden = !shown;
  for (const card of document.querySelectorAll('.side .card:not(#best-rated, #spread)')) card.hidden = !shown;
  byId('submit-part').hidden = byId('reset-open').hidden = !shown;
}

/**
 * Says whether what is on the page is of now; by the same words nothing is said anew. Seconds are for the eye: nobody wants to
 * hear each of them.
 */
export function showConnection({ name, seconds = 0, isOld = false }) {
  const shown = byId('connection');
  shown.hidden = false;
  if (shown.dataset.state !== name) shown.dataset.state = name;
  write(byId('connection-text'), STATE_WORDS[name]);
  write(byId('connection-seconds'), COUNTED.includes(name) ? ` ${seconds}\u00a0s` : '');
  for (const part of [byId('board'), byId('me-card')])
    if (part.hasAttribute('data-old') !== isOld) part.toggleAttribute('data-old', isOld);
}

export function hideConnection() {
  byId('connection').hidden = true;
}

/** Whether a click on a link is one that the page itself follows, and not one for a new tab. */
export function isPlainClick(event) {
  return event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
