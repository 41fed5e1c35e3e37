import { SIZES } from './address.js';

const byId = (id) => document.getElementById(id);

/** Which table is shown, players, guilds or friends, and how much of it. */
export class ViewSwitches {
  /** `onView(view)` and `onSize(size)` hear a choice. */
  constructor({ onView, onSize }) {
    byId('views').addEventListener('change', (event) => onView(event.target.value));
    byId('sizes').addEventListener('change', (event) => onSize(event.target.value));
  }

  /**
   * Shows a view, with guilds among them where the board ranks guilds, and the sizes that the board pushes.
   * @returns the size that is shown: the wished one, or the most there is
   */
  show({ view, hasGuilds, size, pushed }) {
    byId('views').querySelector(`input[value="${view}"]`).checked = true;
    byId('view-guilds').hidden = !hasGuilds && view !== 'guilds';
    byId('sizes').hidden = view === 'friends';
    const inputs = [...byId('sizes').querySelectorAll('input')];
    inputs.forEach((input, index) => (input.closest('label').hidden = index > 0 && Number(input.value) > pushed));
    const offered = inputs.filter((input) => !input.closest('label').hidden);
    const chosen = offered.find((input) => input.value === (size ?? sizeForScreen())) ?? offered.at(-1);
    chosen.checked = true;
    return Math.min(Number(chosen.value), pushed);
  }
}

function sizeForScreen() {
  return matchMedia('(max-width: 560px)').matches ? SIZES[0] : SIZES[1];
}
