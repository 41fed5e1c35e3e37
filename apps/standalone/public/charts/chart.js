import UPlot from '../vendor/uPlot.esm.js';
import { isolated } from '../words.js';

const isDark = globalThis.matchMedia?.('(prefers-color-scheme: dark)');
const RANK_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000];

/**
 * A picture in a `<figure>`, in the colours of the page, with what it says in words under it, and a table of all its numbers
 * behind it. What it is asked to show is
 *
 *     { x, lines: [{ name, values, colour, isBar, isFaint }], writeX, writeY, isRanks, isTime, mark, ends, words, table }
 *
 * `x` rises; `values` are one for each x, null where there is none; with `isRanks` 1 is above; `isTime`: x is in Unix seconds;
 * `mark` is an x that is pointed at, `{ at, label }`; with `ends` each line has its name at its end; `table` is
 * `{ caption, head, rows }`, as text.
 */
export class Chart {
  #picture = make('div', 'picture');
  #caption = make('figcaption', '');
  #table = make('div', '');
  #height;
  #shown = null;
  #plot = null;
  #strong = null;

  constructor(figure, { height = 170 } = {}) {
    this.#height = height;
    this.#picture.setAttribute('role', 'img');
    this.#picture.style.minHeight = `${height}px`;
    const details = make('details', '', make('summary', '', 'As a table'), this.#table);
    figure.replaceChildren(this.#picture, this.#caption, details);
    isDark?.addEventListener('change', () => this.#draw());
    new ResizeObserver(() => this.#fit()).observe(this.#picture);
  }

  show(shown) {
    this.#shown = shown;
    this.#picture.setAttribute('aria-label', shown.words);
    this.#say(shown.words);
    this.#table.replaceChildren(tableOf(shown.table));
    this.#table.tabIndex = 0;
    this.#draw();
  }

  clear() {
    this.#shown = null;
    this.#plot?.destroy();
    this.#plot = null;
    this.#table.replaceChildren();
    this.#say('');
  }

  /** Draws one line above the others, by its name; null: none. */
  set strong(name) {
    this.#strong = name;
    this.#plot?.redraw(false);
  }

  #say(words) {
    if (this.#caption.textContent !== words) this.#caption.textContent = words;
  }

  #fit() {
    const width = this.#picture.clientWidth;
    if (this.#plot && width > 0 && width !== this.#plot.width) this.#plot.setSize({ width, height: this.#height });
    else if (!this.#plot) this.#draw();
  }

  #draw() {
    const width = this.#picture.clientWidth;
    if (this.#shown === null || width === 0) return;
    this.#plot?.destroy();
    const { x, lines } = this.#shown;
    const style = getComputedStyle(this.#picture);
    const colour = (name) => style.getPropertyValue(name).trim() || name;
    const options = { ...{ width, height: this.#height }, ...this.#optionsFor(colour, style.fontFamily) };
    this.#plot = new UPlot(options, [x, ...lines.map(({ values }) => values)], this.#picture);
  }

  #optionsFor(colour, fontFamily) {
    const { lines, writeX, writeY, isRanks = false, isTime = false, ends = false } = this.#shown;
    const axis = {
      stroke: colour('--soft'),
      font: `12px ${fontFamily}`,
      grid: { stroke: colour('--line'), width: 1 },
      ticks: { show: false },
    };
    const isBars = lines.some(({ isBar }) => isBar);
    const words = (write) => (_plot, ticks) => ticks.map((tick) => (tick === null ? '' : write(tick)));
    return {
      legend: { show: false },
      padding: [10, ends ? 120 : 24, 0, 0],
      tzDate: (time) => UPlot.tzDate(new Date(time * 1000), 'UTC'),
      cursor: { drag: { x: false, y: false }, points: { size: 7 } },
      scales: {
        x: { time: isTime, ...(isBars && { range: wholeBars }) },
        y: isRanks ? { dir: -1, range: rankRange } : isBars ? { range: fromZero } : {},
      },
      series: [{}, ...lines.map((line, at) => this.#series(line, at, colour))],
      axes: [
        isTime
          ? { ...axis, size: 44 }
          : { ...axis, size: 28, incrs: RANK_STEPS, space: 64, values: words(writeX), grid: { show: false } },
        { ...axis, size: 58, space: 22, values: words(writeY), ...(isRanks && { incrs: RANK_STEPS }) },
      ],
      hooks: {
        setCursor: [(plot) => this.#point(plot)],
        draw: [(plot) => this.#label(plot, colour, fontFamily)],
      },
    };
  }

  #series({ name, colour: own = '--accent', isBar = false, isFaint = false, values }, at, colour) {
    const stroke = () => colour(this.#strong !== null && this.#strong !== name ? '--line' : own);
    if (isBar)
      return {
        stroke,
        fill: colour('--bar'),
        width: 0,
        paths: UPlot.paths.bars({ size: [0.92, 100] }),
        points: { show: false },
      };
    const count = values.filter((value) => value !== null).length;
    return {
      ...{ stroke, label: name, spanGaps: false },
      width: isFaint ? 1.5 : 2.5,
      points: { show: count < 40, size: 6, fill: stroke, stroke },
      value: at,
    };
  }

  /** Says the numbers under the pointer; without one, what the picture says as a whole. */
  #point({ cursor, data }) {
    const { lines, writeX, writeY, words } = this.#shown;
    const { idx } = cursor;
    if (idx === null || idx === undefined || !(cursor.left >= 0)) return this.#say(words);
    const named = lines.length > 1 ? ({ name }) => `${isolated(name)}: ` : () => '';
    const told = lines
      .map((line) => ({ line, value: line.values[idx] }))
      .filter(({ value }) => value !== null && value !== undefined)
      .sort((a, b) => a.value - b.value)
      .map(({ line, value }) => `${named(line)}${writeY(value)}`);
    this.#say(told.length === 0 ? words : `${writeX(data[0][idx])}: ${told.join(' · ')}`);
  }

  #label(plot, colour, fontFamily) {
    const { mark, ends, lines, x } = this.#shown;
    const { ctx } = plot;
    const ratio = devicePixelRatio || 1;
    ctx.save();
    ctx.font = `600 ${12 * ratio}px ${fontFamily}`;
    ctx.textBaseline = 'middle';
    if (mark) {
      const left = plot.valToPos(mark.at, 'x', true);
      ctx.fillStyle = ctx.strokeStyle = colour('--ink');
      ctx.lineWidth = 2 * ratio;
      ctx.beginPath();
      ctx.moveTo(left, plot.bbox.top);
      ctx.lineTo(left, plot.bbox.top + plot.bbox.height);
      ctx.stroke();
      const isRight = left > plot.bbox.left + plot.bbox.width / 2;
      ctx.textAlign = isRight ? 'right' : 'left';
      ctx.fillText(mark.label, left + (isRight ? -6 : 6) * ratio, plot.bbox.top + 8 * ratio);
    }
    ctx.textAlign = 'left';
    for (const { name, values, colour: own } of ends ? lines : []) {
      const last = values.length - 1;
      if (values[last] === null) continue;
      ctx.fillStyle = colour(this.#strong !== null && this.#strong !== name ? '--soft' : own);
      ctx.fillText(
        shorten(name),
        plot.valToPos(x[last], 'x', true) + 10 * ratio,
        plot.valToPos(values[last], 'y', true),
      );
    }
    ctx.restore();
  }
}

/** Half a rank of air above and below; one rank alone is in the middle. */
const rankRange = (_plot, min, max) => [Math.max(0.5, (min ?? 1) - 0.5), (max ?? 1) + 0.5];

/** Each bar stands around its x: the outermost are as wide as the others. */
const wholeBars = (_plot, min, max) => [min - 0.5, max + 0.5];

/** Bars begin at 0: their height tells how many, not how many more than some. */
const fromZero = (_plot, _min, max) => [0, Math.max(1, max * 1.05)];

const shorten = (name) => (name.length > 17 ? `${[...name].slice(0, 16).join('')}…` : name);

function tableOf({ caption, head, rows }) {
  const cells = (tag, texts) =>
    texts.map((text, at) => make(at === 0 || tag === 'th' ? 'th' : 'td', at === 0 ? '' : 'number', text));
  const top = make('tr', '', ...cells('th', head));
  for (const cell of top.cells) cell.scope = 'col';
  const lines = rows.map((texts) => {
    const row = make('tr', '', ...cells('td', texts));
    row.cells[0].scope = 'row';
    return row;
  });
  const table = make(
    'table',
    'facts-table',
    make('caption', 'unseen', caption),
    make('thead', '', top),
    make('tbody', '', ...lines),
  );
  return table;
}

function make(tag, className, ...children) {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...children);
  return element;
}
