import { EVERYBODY } from './address.js';
import { isolated } from './words.js';

const byId = (id) => document.getElementById(id);

/** `region:EU` → `{ kind: 'region', value: 'EU' }`; everybody has neither. */
export function readScope(scope) {
  const separator = scope.indexOf(':');
  if (separator < 0) return { kind: EVERYBODY, value: '' };
  return { kind: scope.slice(0, separator), value: scope.slice(separator + 1) };
}

/** The kinds of scope that a board's definition has beside everybody, in its order: `region`, `guild`, `country`. */
export function kindsOf(scopes = []) {
  return scopes
    .map((scope) => (typeof scope === 'object' ? scope.attribute : scope))
    .filter((kind) => kind !== EVERYBODY);
}

/** "Region", "Home town": a kind of scope as a label. */
export function kindLabel(kind) {
  const words = kind.replaceAll(/[_-]+/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** "Region Europe"; null for everybody. `nameOfGuild` gives a guild's name where it is known. */
export function scopeLabel(scope, nameOfGuild = (id) => id) {
  const { kind, value } = readScope(scope);
  if (kind === EVERYBODY) return null;
  return `${kindLabel(kind)} ${isolated(kind === 'guild' ? nameOfGuild(value) : value)}`;
}

/**
 * Who is ranked: everybody, or those of one region or attribute, with the values that are known to choose from. A guild
 * is chosen in the table of guilds and shows here as a chip that leads back there.
 */
export class ScopeChooser {
  #onChoose;
  #readValues;

  /** `onChoose(scope)` hears a choice, `onLeaveGuild()` the way back; `readValues(kind)` gives known values, or fewer. */
  constructor({ onChoose, onLeaveGuild, readValues }) {
    this.#onChoose = onChoose;
    this.#readValues = readValues;
    byId('scope-kind').addEventListener('change', (event) => {
      event.stopPropagation();
      this.#kindChosen();
    });
    byId('scope-value').addEventListener('change', (event) => event.stopPropagation());
    byId('scope-value').addEventListener('input', (event) => {
      // An entry of the list was taken as a whole: nobody wants to confirm that.
      if (event.inputType === 'insertReplacementText' || !(event instanceof InputEvent)) this.submit();
    });
    byId('scope-chip').addEventListener('click', onLeaveGuild);
  }

  /** Offers the kinds of this board, with the present scope; `guildName` is that of the guild, where one is chosen. */
  show({ kinds, scope, isOffered, guildName }) {
    const { kind, value } = readScope(scope);
    const isGuild = kind === 'guild';
    const offered = kinds.filter((one) => one !== 'guild');
    if (!isGuild && kind !== EVERYBODY && !offered.includes(kind)) offered.push(kind);
    byId('scope').hidden = !isOffered || offered.length === 0 || isGuild;
    byId('scope-chip').hidden = !isOffered || !isGuild;
    byId('scope-chip-name').textContent = guildName;
    if (isGuild) return;
    const select = byId('scope-kind');
    select.replaceChildren(option(EVERYBODY, 'Everybody'), ...offered.map((one) => option(one, `${kindLabel(one)}…`)));
    select.value = kind;
    byId('scope-value').value = value;
    this.#showInput(kind);
  }

  /** Takes what was typed; nothing typed chooses nothing. */
  submit() {
    const kind = byId('scope-kind').value;
    const value = byId('scope-value').value.trim();
    if (kind === EVERYBODY) this.#onChoose(EVERYBODY);
    else if (value !== '') this.#onChoose(`${kind}:${value}`);
  }

  #kindChosen() {
    const kind = byId('scope-kind').value;
    byId('scope-value').value = '';
    this.#showInput(kind);
    if (kind === EVERYBODY) this.#onChoose(EVERYBODY);
    else byId('scope-value').focus();
  }

  #showInput(kind) {
    const isTyped = kind !== EVERYBODY;
    byId('scope-value').hidden = byId('scope-show').hidden = !isTyped;
    byId('scope-value').placeholder = isTyped ? kindLabel(kind) : '';
    byId('scope-value').setAttribute('aria-label', isTyped ? kindLabel(kind) : '');
    byId('scope-values').replaceChildren();
    if (isTyped) void this.#offer(kind);
  }

  async #offer(kind) {
    const values = await this.#readValues(kind);
    if (byId('scope-kind').value !== kind) return;
    byId('scope-values').replaceChildren(...values.map((value) => option(value, value)));
  }
}

function option(value, label) {
  return Object.assign(document.createElement('option'), { value, textContent: label });
}
