/** Numbers, times, outcomes and names in the reader's own format. */

const integers = new Intl.NumberFormat();
const clockTime = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const fullTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const tenths = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const hundredths = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
const share = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 2 });

const OUTCOMES = {
  created: 'New entry',
  improved: 'Improved',
  changed: 'Changed',
  unchanged: 'Nothing changed',
  held: 'Held for review',
};

/** What can be seen of a text: a name may be of spaces and marks of no width alone. */
const INK = /[^\s\p{Default_Ignorable_Code_Point}\u2800]/u;
const isLatin = (text) => /^[ -\u024f]*$/.test(text);

/** What somebody is called: the name, else the id; an id that nobody could see, as an address has it. */
export function shownName({ displayName, playerId }) {
  if (displayName && INK.test(displayName)) return displayName;
  return INK.test(playerId) ? playerId : encodeURIComponent(playerId);
}

/** The letter that stands for a name. */
export function initialOf(name) {
  return (INK.exec(name)?.[0] ?? '').toUpperCase();
}

/** A name for within a sentence, which it turns around by nothing that it holds. */
export function isolated(name) {
  return isLatin(name) ? name : `\u2068${name.replaceAll(/[\u2029\u2066-\u2069]/g, '')}\u2069`;
}

export function count(value) {
  return integers.format(value);
}

/** A number that is `estimate` off at most; null: it is exact. */
export function countAbout(value, estimate) {
  return estimate === null ? count(value) : `≈\u00a0${count(value)}`;
}

/** The value of an extra column; the exact one belongs in a title beside it. */
export function columnNumber(value) {
  return hundredths.format(value);
}

/** How far off the ranks and the total of a list or an answer are at most; null: they are exact. */
export function estimateOf({ accuracy, errorBound = 0 }) {
  return accuracy === 'estimated' ? errorBound : null;
}

/** What stands beside a number that is `estimate` off at most; nothing where it is exact. */
export function estimateWords(estimate) {
  return estimate === null ? '' : `Estimated while players move: off by ${count(estimate)} at most`;
}

/** A part of 1 as a percentage. */
export function percent(part) {
  return share.format(part);
}

/** What a score on a board with decay is made of: "109 on 1.28, 2 patches behind"; nothing on other boards. */
export function runWords({ rawScore, patch, patchesBehind }, writeScore) {
  if (patch === undefined) return '';
  const run = `${writeScore(rawScore)} on ${patch}`;
  if (patchesBehind === 0) return run;
  return `${run}, ${count(patchesBehind)} ${patchesBehind === 1 ? 'patch' : 'patches'} behind`;
}

export function timeOfDay(iso) {
  return clockTime.format(new Date(iso));
}

export function dateAndTime(iso) {
  return fullTime.format(new Date(iso));
}

/** A rating: those in hundreds to a tenth of a point, smaller ones to a hundredth. */
export function ratingWords(rating) {
  return (Math.abs(rating) >= 100 ? tenths : hundredths).format(rating);
}

/** The day of a time in Unix ms, in UTC. */
export function dateOnly(atMs) {
  return date.format(atMs);
}

/** The answer to a submission as one or two sentences. */
export function submissionWords(answer, writeScore) {
  const outcome = OUTCOMES[answer.outcome] ?? answer.outcome;
  const run = answer.patch === undefined ? '' : ` (${runWords(answer, writeScore)})`;
  const kept = answer.outcome === 'unchanged' && answer.kept ? ' The run is kept: it can stand again.' : '';
  const score = `${outcome}: ${writeScore(answer.score)}${run}.${kept}`;
  const again = answer.replayed ? ' It had been counted before, and counts once.' : '';
  return `${score} ${rankWords(answer.rank)}${again}`;
}

function rankWords(rank) {
  if (!rank || rank.after === null) return 'It is kept; the rank cannot be said right now.';
  const about = rank.accuracy === 'estimated' && rank.errorBound > 0 ? ` (±${count(rank.errorBound)})` : '';
  const place = `${count(rank.after)}${about} of ${count(rank.total)}`;
  if (rank.before === null) return `Rank ${place}.`;
  if (rank.before === rank.after) return `Still rank ${place}.`;
  const arrow = rank.after < rank.before ? '▲' : '▼';
  return `Rank ${count(rank.before)} → ${place}, ${arrow}\u00a0${count(Math.abs(rank.before - rank.after))}.`;
}

/** "up 3 places", "down 1 place". */
export function movementWords(places) {
  const size = Math.abs(places);
  return `${places > 0 ? 'up' : 'down'} ${count(size)} ${size === 1 ? 'place' : 'places'}`;
}
