import { count, countAbout, estimateOf, estimateWords, isolated, timeOfDay } from '../words.js';

const WORDS = { players: ['entry', 'entries'], guilds: ['guild', 'guilds'] };

const byId = (id) => document.getElementById(id);

/**
 * Says how long a list is. `what` is what the table shows, in words; `friendsOf` whose friends they are, null for the reader's
 * own.
 */
export function tellFacts(list, { view, what, friendsOf }) {
  const { entries, total } = list;
  const estimate = estimateOf(list);
  write(byId('caption'), `${what}: the first ${count(entries.length)}`);
  const friends = friendsOf === null ? 'among my friends' : `among friends of ${isolated(friendsOf)}`;
  write(byId('total'), `${countAbout(total, estimate)} ${WORDS[view]?.[total === 1 ? 0 : 1] ?? friends}`);
  byId('total').title = estimateWords(estimate);
  byId('estimated').hidden = estimate === null;
  byId('estimated').title = estimateWords(estimate);
}

/** Says of which moment the list is; one that is old counts the seconds. `nowMs` is that of the service. */
export function tellAsOf({ asOf, isOld }, nowMs) {
  const element = byId('as-of');
  if (element.hasAttribute('data-old') !== (isOld && asOf !== null)) element.toggleAttribute('data-old');
  write(element, asOf === null ? '' : `as of ${isOld ? agoWords(nowMs - Date.parse(asOf)) : timeOfDay(asOf)}`);
}

export function forgetFacts() {
  for (const id of ['total', 'as-of']) Object.assign(byId(id), { textContent: '', title: '' });
  byId('estimated').hidden = true;
  byId('as-of').removeAttribute('data-old');
}

/** "14 s ago", "3 min ago". */
export function agoWords(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${count(seconds)}\u00a0s ago`;
  return seconds < 7200
    ? `${count(Math.round(seconds / 60))}\u00a0min ago`
    : `${count(Math.round(seconds / 3600))}\u00a0h ago`;
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
