import {
  escapePointer,
  faultOfNamedId,
  isCleanText,
  LadderError,
  NAMED_ID_PATTERN,
  validationFailed,
  withoutNulls,
  type BoardDefinition,
  type Fault,
  type GivenOptions,
} from '@laddercast/domain';
import { mergedOptions, TEMPLATE_BOARDS_MAX, type DefinitionMaker, type GivenTemplate } from '@laddercast/ledger';
import { IsOptional } from 'class-validator';
import { unknownFields } from './body-faults.js';
import { Checked, Passes } from './body-rules.js';
import { parseBody } from './parse-body.js';

const TITLE_LENGTH_MAX = 200;
/** What names a board, or stands beside its overrides. */
const NO_OVERRIDES = ['id', 'title', 'template'];
/** How many definitions are checked before others get a turn of the event loop. */
const DEFINITIONS_A_TURN = 50;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a template says of one board, as it is sent. */
interface SentBoard {
  board: string;
  title?: string | null;
  overrides?: Record<string, unknown> | null;
}

function faultsOfBoards(boards: unknown): Fault[] {
  if (!Array.isArray(boards) || boards.length > TEMPLATE_BOARDS_MAX) {
    return [{ pointer: '', message: `must be an array of at most ${TEMPLATE_BOARDS_MAX} boards` }];
  }
  const seen = new Set<unknown>();
  return boards.flatMap((one: unknown, at) => {
    const faults = isObject(one) ? faultsOfBoard(one) : [{ pointer: '', message: 'must be an object' }];
    const { board } = (one ?? {}) as Partial<SentBoard>;
    if (faults.length === 0 && seen.has(board)) faults.push({ pointer: '/board', message: 'is named twice' });
    seen.add(board);
    return faults.map(({ pointer, message }) => ({ pointer: `/${at}${pointer}`, message }));
  });
}

function faultsOfBoard({ board, title, overrides, ...others }: Record<string, unknown>): Fault[] {
  const faults = unknownFields(others);
  const fault = typeof board === 'string' ? faultOfNamedId(board) : 'must be the id of a board';
  if (fault) faults.push({ pointer: '/board', message: fault });
  if (title != null) faults.push(...faultsOfTitle(title));
  if (overrides != null && !isObject(overrides)) {
    faults.push({ pointer: '/overrides', message: 'must be an object of options' });
  }
  for (const name of isObject(overrides) ? NO_OVERRIDES.filter((one) => Object.hasOwn(overrides, one)) : []) {
    const message = name === 'title' ? 'stands beside the overrides' : 'is no option of a board';
    faults.push({ pointer: `/overrides/${name}`, message });
  }
  return faults;
}

function faultsOfTitle(title: unknown): Fault[] {
  const isTitle = typeof title === 'string' && title.length <= TITLE_LENGTH_MAX && isCleanText(title);
  const message = `must be text of at most ${TITLE_LENGTH_MAX} characters, without control characters or lone surrogates`;
  return isTitle ? [] : [{ pointer: '/title', message }];
}

/** The body of `PUT /v1/board-templates/{template}`. */
export class BoardTemplateBody {
  /** Only the id of the path: answers carry it, and an answer can be put again. */
  @IsOptional()
  @Passes(faultOfNamedId, { pattern: NAMED_ID_PATTERN })
  id?: string | null;

  @Checked((value) => (isObject(value) ? [] : [{ pointer: '', message: 'must be an object of options' }]), {
    type: 'object',
  })
  definition!: Record<string, unknown>;

  @Checked(faultsOfBoards, {
    type: 'array',
    maxItems: TEMPLATE_BOARDS_MAX,
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['board'],
      properties: {
        board: { type: 'string', format: 'named-id', pattern: NAMED_ID_PATTERN },
        title: { type: ['string', 'null'], maxLength: TITLE_LENGTH_MAX },
        overrides: { type: ['object', 'null'] },
      },
    },
  })
  boards!: SentBoard[];
}

/**
 * A template by its body, with the definition of each of its boards.
 * @param make the definition that options come to
 * @throws VALIDATION_FAILED with every fault; what `make` throws of a definition, which names the board
 */
export async function parseBoardTemplate(
  body: unknown,
  templateId: string,
  make: DefinitionMaker,
): Promise<GivenTemplate> {
  const sent = parseBody(BoardTemplateBody, body);
  if (sent.id != null && sent.id !== templateId) {
    throw validationFailed([{ pointer: '/id', message: 'must be the id of the path, or absent' }]);
  }
  refuseTemplateField(sent.definition);
  const faults: Fault[] = [];
  const made = (at: string, of: string, given: GivenOptions): BoardDefinition | null => {
    try {
      return make(given);
    } catch (error) {
      faults.push(...faultsInside(error, at, of));
      return null;
    }
  };
  made('/definition', 'The definition', sent.definition);
  if (faults.length > 0) throw validationFailed(faults);
  const definition = plain(withoutNulls(sent.definition));
  const maker = new DefinitionsOfBoards((given, at, board) => made(at, `Board "${board}"`, given), definition);
  const boards: GivenTemplate['boards'] = [];
  for (const [index, { board, title, overrides }] of sent.boards.entries()) {
    if (index % DEFINITIONS_A_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
    const own = plain({ ...overrides, ...(title != null && { title }) });
    const whole = maker.of(own, `/boards/${index}/overrides`, board);
    if (whole) boards.push({ board, overrides: own, definition: whole });
  }
  if (faults.length > 0) throw validationFailed(faults);
  return { definition, boards };
}

/** As it is stored, and read again. */
const plain = (options: object): GivenOptions => JSON.parse(JSON.stringify(options)) as GivenOptions;

/** @throws VALIDATION_FAILED */
function refuseTemplateField(definition: Record<string, unknown>): void {
  const named = ['id', 'template'].filter((name) => Object.hasOwn(definition, name));
  if (named.length === 0) return;
  throw validationFailed(
    named.map((name) => ({ pointer: `/definition/${escapePointer(name)}`, message: 'is no option of a board' })),
  );
}

/**
 * The faults of a definition, by where it stands in the body.
 * @throws what is no fault of a field, with what it is about
 */
function faultsInside(error: unknown, at: string, of: string): Fault[] {
  if (!(error instanceof LadderError)) throw error;
  const { errors } = error.extensions as { errors?: Fault[] };
  if (error.code !== 'VALIDATION_FAILED' || !errors) {
    throw new LadderError(error.code, `${of}: ${error.detail}`, error.extensions, { cause: error });
  }
  return errors.map(({ pointer, message }) => ({ pointer: `${at}${pointer}`, message }));
}

/** Definitions by their overrides: boards that differ in their titles alone are checked once. */
class DefinitionsOfBoards {
  private readonly known = new Map<string, BoardDefinition | null>();

  constructor(
    private readonly make: (given: GivenOptions, at: string, board: string) => BoardDefinition | null,
    private readonly ofAll: GivenOptions,
  ) {}

  /** null where a fault was found. */
  of({ title, ...overrides }: GivenOptions, at: string, board: string): BoardDefinition | null {
    const key = JSON.stringify(overrides);
    let made = this.known.get(key);
    if (made === undefined) {
      made = this.make(mergedOptions(this.ofAll, overrides), at, board);
      this.known.set(key, made);
    }
    return made && title !== undefined ? { ...made, title: title as string } : made;
  }
}
