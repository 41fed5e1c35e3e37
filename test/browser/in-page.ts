/** Expressions that Chromium evaluates in the page. They are text, because the project is not compiled for a browser. */
export const inPage = {
  forgetAll: 'localStorage.clear(), sessionStorage.clear()',
  keptInTab: 'sessionStorage.length',
  whereKeysCouldBe: '[JSON.stringify(sessionStorage), JSON.stringify(localStorage), location.href, document.cookie]',
  width: 'document.documentElement.scrollWidth',
  cut: "[...document.querySelectorAll('#rows .run, #rows .score')].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)",
  cutNumbers:
    "[...document.querySelectorAll('.ranking .score, .ranking .rank')].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)",
  /** What lies over the open panel, looked for each 20 px. */
  overPanel: `(() => {
    const panel = document.querySelector('[open] > .panel');
    const { left, right, top, bottom } = panel.getBoundingClientRect();
    const found = [];
    for (let y = top + 20; y < Math.min(bottom, innerHeight); y += 20)
      for (let x = left + 20; x < right; x += 20) {
        const above = document.elementFromPoint(x, y);
        if (!panel.contains(above)) found.push(above.outerHTML.slice(0, 80));
      }
    return found;
  })()`,
  rowsInSight:
    "[...document.querySelectorAll('#rows tr')].filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length",
  watchShifts: `{
    const shifts = (window.shifts = []);
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shifts.push(value);
    }).observe({ type: 'layout-shift', buffered: true });
  }`,
  shifted: 'window.shifts.reduce((sum, value) => sum + value, 0)',
  /** When rows came into another order within the next eight seconds, in ms. */
  timesOfOrders: `new Promise((resolve) => {
    const times = [];
    const watch = new MutationObserver(() => times.push(performance.now()));
    watch.observe(document.getElementById('rows'), { childList: true });
    setTimeout(() => (watch.disconnect(), resolve(times)), 8000);
  })`,
  offeredScopes: "[...document.querySelectorAll('#scope-values option')].map(({ value }) => value)",
  movements: 'document.getAnimations().length',
  rowGlides: `new Promise((resolve) => {
    const isGliding = ({ effect }) =>
      effect.target.matches('#rows tr') && effect.getKeyframes().some((frame) => 'transform' in frame);
    const look = () => (document.getAnimations().some(isGliding) ? resolve(true) : requestAnimationFrame(look));
    look();
  })`,
  focused: `(() => {
    const at = document.activeElement;
    return !at || at === document.body ? '' : at.id || at.name || at.textContent.trim();
  })()`,
};
