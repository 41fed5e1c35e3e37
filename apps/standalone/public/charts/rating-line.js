import UPlot from '../vendor/uPlot.esm.js';

const HEIGHT = 180;

/** A rating over time as a line, in the colours of the page. */
export class RatingLine {
  #element;
  #plot = null;
  #data = null;
  #write = String;

  constructor(element) {
    this.#element = element;
    const isDark = globalThis.matchMedia?.('(prefers-color-scheme: dark)');
    isDark?.addEventListener('change', () => this.#draw());
    new ResizeObserver(() => this.#fit()).observe(element);
  }

  /** `times` are Unix seconds that do not fall, `ratings` one for each. */
  show(times, ratings, write) {
    this.#data = [times, ratings];
    this.#write = write;
    this.#draw();
  }

  clear() {
    this.#data = null;
    this.#plot?.destroy();
    this.#plot = null;
  }

  #fit() {
    const width = this.#element.clientWidth;
    if (this.#plot && width > 0 && width !== this.#plot.width) this.#plot.setSize({ width, height: HEIGHT });
    else if (!this.#plot) this.#draw();
  }

  #draw() {
    const width = this.#element.clientWidth;
    if (this.#data === null || width === 0) return;
    this.#plot?.destroy();
    const style = getComputedStyle(this.#element);
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = {
      stroke: colour('--soft'),
      font: `12px ${style.fontFamily}`,
      grid: { stroke: colour('--line'), width: 1 },
      ticks: { stroke: colour('--line'), width: 1 },
    };
    const values = (_plot, ticks) => ticks.map((tick) => this.#write(tick));
    this.#plot = new UPlot(
      {
        ...{ width, height: HEIGHT },
        legend: { show: false },
        // As the table beside it says its days.
        tzDate: (time) => UPlot.tzDate(new Date(time * 1000), 'UTC'),
        cursor: { drag: { x: false, y: false } },
        series: [{}, { stroke: colour('--accent'), width: 2, points: { show: this.#data[0].length < 40 } }],
        axes: [axis, { ...axis, size: 56, values }],
      },
      this.#data,
      this.#element,
    );
  }
}
