import { EVERYBODY } from './address.js';
import { readScope } from './scope-chooser.js';
import { isolated } from './words.js';

const KIND = 'patch';

const byId = (id) => document.getElementById(id);

/** The patch whose raw scores a scope lists; null: the scope is of the taxed board. */
export function patchOfScope(scope) {
  const { kind, value } = readScope(scope);
  return kind === KIND ? value : null;
}

/**
 * The patches of a board with decay: the switch between the taxed board and the raw scores of one patch, and the field of
 * the form that submits.
 */
export class PatchChooser {
  #service;
  #family = null;
  #scope = EVERYBODY;
  #patches = [];
  #turn = 0;

  /** `onChoose(scope)` hears a choice of the switch. */
  constructor({ service, onChoose }) {
    this.#service = service;
    byId('patch').addEventListener('change', (event) => {
      event.stopPropagation();
      onChoose(event.target.value);
    });
  }

  /** Opens for a board: `family` is that of its patches, null where it has no decay. */
  open(family) {
    this.#turn += 1;
    this.#family = family;
    this.#patches = [];
    byId('submit-patch-part').hidden = family === null;
    byId('submit-patch').disabled = family === null;
    byId('submit-patch').replaceChildren();
  }

  /** Shows the switch, with a scope chosen. Friends and guilds have the taxed board alone. */
  show(scope, { isOffered }) {
    this.#scope = scope;
    byId('patches').hidden = this.#family === null || !isOffered;
    this.#showSwitch();
  }

  /** Reads the patches again: one was published. Where they cannot be read, those from before stay. */
  async read() {
    const turn = ++this.#turn;
    try {
      const { patches } = await this.#service.patches(this.#family);
      if (turn !== this.#turn) return;
      this.#patches = patches.filter(({ status }) => status !== 'scheduled').toReversed();
      this.#showSwitch();
      this.#showField();
    } catch {
      // Whoever submits or chooses without them hears from the service what is wrong.
    }
  }

  #showSwitch() {
    const patch = patchOfScope(this.#scope);
    // A hotfix has no list of its own, but its scope answers with that of its predecessor.
    const offered = this.#patches.filter((one) => one.sameAs === null || one.patch === patch);
    const isUnknown = patch !== null && !offered.some((one) => one.patch === patch);
    if (isUnknown) offered.unshift({ patch, title: null, sameAs: null });
    const options = offered.map((one) => option(`${KIND}:${one.patch}`, labelOf(one)));
    fill(byId('patch'), [option(EVERYBODY, 'All, taxed'), ...options]);
    byId('patch').value = patch === null ? EVERYBODY : this.#scope;
  }

  /** The newest is chosen, until the reader chooses another. */
  #showField() {
    const field = byId('submit-patch');
    const wasNewest = field.selectedIndex <= 0;
    const before = field.value;
    fill(
      field,
      this.#patches.map((one) => option(one.patch, labelOf(one))),
    );
    if (!wasNewest) field.value = before;
    if (field.selectedIndex < 0) field.selectedIndex = 0;
  }
}

function labelOf({ patch, title, sameAs }) {
  const name = title === null ? patch : `${patch}, ${isolated(title)}`;
  return sameAs === null ? name : `${name} (counts as ${sameAs})`;
}

/** Leaves a list of options alone that is right already: it may be open at the moment. */
function fill(select, options) {
  const saying = (list) => JSON.stringify([...list].map(({ value, textContent }) => [value, textContent]));
  if (saying(select.options) !== saying(options)) select.replaceChildren(...options);
}

function option(value, label) {
  return Object.assign(document.createElement('option'), { value, textContent: label });
}
