/** Expressions that Chromium evaluates in the page. They are text, because the project is not compiled for a browser. */
export const inPage = {
  forgetAll: 'localStorage.clear(), sessionStorage.clear()',
  keptInTab: 'sessionStorage.length',
  whereKeysCouldBe: '[JSON.stringify(sessionStorage), JSON.stringify(localStorage), location.href, document.cookie]',
  width: 'document.documentElement.scrollWidth',
  cut: "[...document.querySelectorAll('#rows .run, #rows .score')].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)",
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
