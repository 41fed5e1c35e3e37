import type { GivenOptions } from '@laddercast/domain';

/** Options by their names, those of a part as `push.top`. */
export type Leaves = Readonly<Record<string, unknown>>;

/** The options that the histories change: what each may be, the default of boards first. */
export const CHOICES: Readonly<Record<string, readonly unknown[]>> = {
  title: [null, 'One', 'Two'],
  order: ['asc', 'desc'],
  tiebreak: ['earliest', 'latest'],
  visibility: ['public', 'private'],
  change: [false, true],
  'push.intervalMs': [1000, 50, 200],
  'push.top': [100, 10, 20],
  'limits.entriesMax': [null, 500, 900],
  'limits.scoreMin': [null, 0, -7],
  'format.unit': [null, 's', 'm'],
};
const NAMES = Object.keys(CHOICES);
/** What a board with entries keeps. */
const FIXED = ['order', 'tiebreak'];

export interface ModelBoard {
  template: string | null;
  overrides: Leaves;
  byHand: Leaves;
  now: Leaves;
  hasEntries: boolean;
}

/** Options as they are sent: with parts. */
export function nested(leaves: Leaves): GivenOptions {
  const options: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(leaves)) {
    const [part, inner] = name.split('.') as [string, string?];
    if (inner === undefined) options[part] = value;
    else options[part] = { ...(options[part] as object | undefined), [inner]: value };
  }
  return options;
}

/** All of the options that there are, of those that the histories change. */
export function leavesOf(options: GivenOptions): Leaves {
  const found = NAMES.flatMap((name): [string, unknown][] => {
    const [part, inner] = name.split('.') as [string, string?];
    const value = inner === undefined ? options[part] : (options[part] as GivenOptions | undefined)?.[inner];
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(found);
}

const isSame = (a: Leaves, b: Leaves): boolean => NAMES.every((name) => a[name] === b[name]);

/** What the layers say of every option, the first that names it; null is the default. */
const said = (...layers: readonly Leaves[]): Leaves =>
  Object.fromEntries(
    NAMES.map((name) => {
      const value = layers.find((layer) => Object.hasOwn(layer, name))?.[name] ?? null;
      return [name, value === null ? CHOICES[name]![0] : value];
    }),
  );

const pick = (leaves: Leaves, isKept: (name: string) => boolean): Leaves =>
  Object.fromEntries(Object.entries(leaves).filter(([name]) => isKept(name)));

/** What docs/board-templates.md says, in the plainest way there is: every option by itself. */
export class TemplatesModel {
  readonly boards = new Map<string, ModelBoard>();
  readonly templates = new Map<string, Leaves>();

  /** `board status` of each, and who is let go. */
  put(id: string, definition: Leaves, list: readonly [string, Leaves][]): { lines: string[]; released: string[] } {
    this.templates.set(id, definition);
    const lines = list.map(([board, overrides]) => `${board} ${this.bring(id, definition, board, overrides)}`);
    const named = new Set(list.map(([board]) => board));
    const released = [...this.boards].filter(([board, { template }]) => template === id && !named.has(board));
    for (const [, board] of released) release(board);
    return { lines, released: released.map(([board]) => board).sort() };
  }

  /** @returns whether the board takes it */
  change(board: string, to: Leaves): boolean {
    const known = this.boards.get(board);
    if (!known) {
      this.boards.set(board, { template: null, overrides: {}, byHand: {}, now: to, hasEntries: false });
      return true;
    }
    const { template, overrides, byHand, now, hasEntries } = known;
    if (hasEntries && FIXED.some((name) => now[name] !== to[name])) return false;
    if (template !== null) {
      const changed = NAMES.filter((name) => now[name] !== to[name]);
      const ofTemplate = said(overrides, this.templates.get(template)!);
      const differs = (name: string): boolean => to[name] !== ofTemplate[name];
      const own = pick(to, (name) => changed.includes(name) && differs(name));
      known.byHand = { ...pick(byHand, (name) => !changed.includes(name) && differs(name)), ...own };
    }
    known.now = to;
    return true;
  }

  deleteTemplate(id: string, withBoards: boolean): void {
    for (const [name, board] of [...this.boards]) {
      if (board.template !== id) continue;
      if (withBoards) this.boards.delete(name);
      else release(board);
    }
    this.templates.delete(id);
  }

  private bring(id: string, definition: Leaves, board: string, overrides: Leaves): string {
    const known = this.boards.get(board);
    const plain = said(overrides, definition);
    if (!known) {
      this.boards.set(board, { template: id, overrides, byHand: {}, now: plain, hasEntries: false });
      return 'created';
    }
    if (known.template === null) {
      if (!isSame(known.now, plain)) return 'problem';
      Object.assign(known, { template: id, overrides, byHand: {} });
      return 'updated';
    }
    if (known.template !== id) return 'problem';
    const byHand = pick(known.byHand, (name) => !Object.hasOwn(overrides, name));
    const wanted = said(byHand, overrides, definition);
    if (known.hasEntries && FIXED.some((name) => known.now[name] !== wanted[name])) return 'problem';
    const status = isSame(known.now, wanted) ? 'unchanged' : 'updated';
    Object.assign(known, { overrides, byHand, now: wanted });
    return status;
  }
}

function release(board: ModelBoard): void {
  Object.assign(board, { template: null, overrides: {}, byHand: {} });
}
