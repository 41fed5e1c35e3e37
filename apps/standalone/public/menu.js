/** Lets a menu (`<details>`) close by itself: by Escape, by a click beside it, and when the focus goes elsewhere. */
export function closeByItself(details) {
  details.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !details.open) return;
    closeMenu(details);
  });
  document.addEventListener('click', (event) => {
    if (!details.contains(event.target)) details.open = false;
  });
  details.addEventListener('focusout', (event) => {
    if (event.relatedTarget && !details.contains(event.relatedTarget)) details.open = false;
  });
}

/** Closes a menu, and leaves the focus at what opened it. */
export function closeMenu(details) {
  details.open = false;
  details.querySelector('summary').focus();
}
