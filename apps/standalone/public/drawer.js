const byId = (id) => document.getElementById(id);

/** The drawer for developers: it lies over the edge of the page, and leaves the board in sight and in use. */
export function setUpDrawer() {
  const [drawer, opener] = [byId('try-it'), byId('try-open')];
  const show = (isOpen) => {
    drawer.hidden = !isOpen;
    opener.setAttribute('aria-expanded', String(isOpen));
  };
  const close = () => {
    show(false);
    opener.focus();
  };
  opener.addEventListener('click', () => {
    if (!drawer.hidden) return close();
    show(true);
    byId('try-close').focus();
  });
  byId('try-close').addEventListener('click', close);
  drawer.addEventListener('keydown', (event) => event.key === 'Escape' && close());
}
