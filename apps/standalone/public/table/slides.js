const MOVE_MS = 450;
/** A list that moves all the time is shown at this pace: what is read must stand still for a moment. */
const BUSY_MS = 1500;
const EASING = 'cubic-bezier(0.22, 0.9, 0.3, 1)';
/** A row that comes from further away slides this far. */
const ROWS_MAX = 12;
const GHOSTS_MAX = 8;

const stillness = globalThis.matchMedia?.('(prefers-reduced-motion: reduce)');

/** How long a list stands before the next is shown, in ms; `wasWaiting`: the one before had to wait, too. */
export const standsFor = (wasWaiting) => (wasWaiting ? BUSY_MS : MOVE_MS + 50);

/** Whether rows may move at this moment. */
export const mayMove = () => !document.hidden && !stillness?.matches;

/**
 * How rows come to their new places: they slide past each other, those that rise above those that fall. The number of a place
 * stays where it is, so that no row shows a rank while it is still elsewhere. A row that leaves stays as a shade under the
 * others until its place is taken.
 */
export class Slides {
  #body;
  #before = null;
  #shades = [];

  /** `body` is the `<tbody>`. */
  constructor(body) {
    this.#body = body;
  }

  /** Remembers where these rows are, `key → row` of them as they are shown; `leaving` are those that will be gone. */
  start(rows, leaving) {
    this.#before = new Map([...rows].map(([key, { element }]) => [key, element.offsetTop]));
    this.#shades = leaving
      .filter(({ element }) => isInSight(element))
      .slice(0, GHOSTS_MAX)
      .map(shadeOf);
  }

  /** Lets the rows slide from where they were to where they are now. */
  run(rows) {
    const height = this.#body.rows[0]?.offsetHeight ?? 0;
    const moves = [...rows].map(([key, { element }]) => ({ element, ...this.#moveOf(key, element, height) }));
    const inSight = sightOf(this.#body);
    for (const { element, to, from, isNew } of moves) {
      if (Math.abs(from - to) < 1) continue;
      const distance = Math.max(-ROWS_MAX * height, Math.min(ROWS_MAX * height, from - to));
      if (inSight(to) || inSight(to + distance)) slide(element, distance, isNew);
    }
    this.#layShades();
  }

  #moveOf(key, element, height) {
    const to = element.offsetTop;
    const from = this.#before.get(key);
    // A new row comes up from below the last one.
    if (from === undefined) return { to, from: this.#body.offsetTop + this.#body.rows.length * height, isNew: true };
    return { to, from, isNew: false };
  }

  #layShades() {
    const frame = this.#body.closest('.frame');
    if (frame === null) return;
    for (const shade of this.#shades) {
      frame.prepend(shade);
      shade.animate([{ opacity: 1 }, { opacity: 0 }], { duration: MOVE_MS }).onfinish = () => shade.remove();
    }
    this.#shades = [];
  }
}

function slide(element, distance, isNew) {
  element.dataset.direction = distance > 0 ? 'up' : 'down';
  const timing = { duration: MOVE_MS, easing: EASING };
  const shift = (by) => [{ transform: `translateY(${by}px)` }, { transform: 'translateY(0)' }];
  // The number of the place goes the other way, and so stays where it is.
  const [place] = element.cells;
  place.animate(shift(-distance), timing);
  if (isNew) element.animate([{ opacity: 0 }, { opacity: 1, offset: 0.3 }], timing);
  element.animate(shift(distance), timing).onfinish = () => delete element.dataset.direction;
}

/** The row as it stood, in the same columns, for nobody but the eye. */
function shadeOf({ element }) {
  const shade = document.createElement('div');
  shade.className = 'shade';
  shade.setAttribute('aria-hidden', 'true');
  Object.assign(shade.style, { top: `${element.offsetTop}px`, height: `${element.offsetHeight}px` });
  for (const cell of [...element.cells].slice(1)) {
    const copy = document.createElement('div');
    copy.className = cell.className;
    copy.textContent = cell.textContent;
    Object.assign(copy.style, { left: `${cell.offsetLeft}px`, width: `${cell.offsetWidth}px` });
    shade.append(copy);
  }
  return shade;
}

function sightOf(body) {
  const origin = body.closest('table').getBoundingClientRect().top;
  const height = innerHeight;
  return (top) => origin + top > -60 && origin + top < height;
}

function isInSight(element) {
  return sightOf(element.parentElement)(element.offsetTop);
}
