import { count, countAbout, estimateWords, timeOfDay } from './words.js';

const WORDS = { players: ['entry', 'entries'], guilds: ['guild', 'guilds'] };

const byId = (id) => document.getElementById(id);

/**
 * Says how long a list is and of when. `what` is what the table shows, in words; `friendsOf` whose friends they are,
 * null for the reader's own.
 */
export function tellFacts({ rows, total, asOf, estimate }, { view, what, friendsOf }) {
  byId('caption').textContent = `${what}: the first ${count(rows.length)}`;
  const friends = friendsOf === null ? 'among my friends' : `among friends of ${friendsOf}`;
  byId('total').title = estimateWords(estimate);
  byId('total').textContent = `${countAbout(total, estimate)} ${WORDS[view]?.[total === 1 ? 0 : 1] ?? friends}`;
  byId('as-of').textContent = asOf ? `as of ${timeOfDay(asOf)}` : '';
  byId('as-of').title = asOf ?? '';
}

export function forgetFacts() {
  for (const id of ['total', 'as-of']) Object.assign(byId(id), { textContent: '', title: '' });
}
