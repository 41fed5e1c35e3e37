import {
  COLUMNS_MAX,
  faultOfNamedId,
  isCleanText,
  LadderError,
  OPAQUE_ID_BYTES_MAX,
  SHARDS_MAX,
  validationFailed,
  type ListVersions,
  type RankStyle,
  type SortKey,
} from '@laddercast/domain';
import { CHECKPOINT_SLOTS, type CheckpointName } from '@laddercast/projections';

/** Where a reader of a list that holds still is, and in which list: what `next` and `prev` carry. */
export interface EntriesCursor {
  boardId: string;
  boardUid: number;
  /** The window's id. */
  window: string;
  windowUid: number;
  /** As answers name it. */
  scope: string;
  style: RankStyle;
  direction: 'after' | 'before';
  place: PlaceInCheckpoint | PlaceInEdition;
  /** Says which entries are in the list for this reader alone; its places are counted with them. */
  own?: number;
}

/** A row of a running list as of a checkpoint: the page stands beside it. */
export interface PlaceInCheckpoint {
  generation: number;
  shards: number;
  versions: ListVersions;
  checkpoint: CheckpointName;
  /**
   * The row's sort key; of one that is not shown to everybody its 0-based index, because a sort key can be read by
   * whoever has the cursor.
   */
  beside: SortKey | number;
  /** The row's; null where ranks are not dense. */
  denseRank: number | null;
}

/** Standings do not change: the page stands before or after the 0-based offset. */
export interface PlaceInEdition {
  edition: number;
  /** Of standings that are looked for by their time, Unix ms. */
  asOfMs: number | null;
  offset: number;
}

/** No cursor that this service makes is as long: ids and scopes have limits. */
export const CURSOR_LENGTH_MAX = 2048;
const FORMAT = 1;
const STYLES: readonly RankStyle[] = ['ordinal', 'competition', 'dense'];
const NAME_LENGTH_MAX = 200;
/** Columns, a time, and the ids of a run and a player with what is between them. */
const MEMBER_BYTES_MAX = COLUMNS_MAX * 8 + 6 + 2 * OPAQUE_ID_BYTES_MAX + 1;
const CHECKPOINT_ID = /^[\w-]{12}$/;
const UID_MAX = 2 ** 53 - 1;

/** A cursor as text; it hides nothing. */
export function encodeCursor(cursor: EntriesCursor): string {
  const { boardId, boardUid, window, windowUid, scope, style, direction, place, own } = cursor;
  const head = [
    FORMAT,
    boardId,
    boardUid,
    window,
    windowUid,
    scope,
    STYLES.indexOf(style),
    direction === 'after' ? 1 : 0,
  ];
  const parts = [...head, ...('edition' in place ? partsOfEdition(place) : partsOfCheckpoint(place))];
  if (own !== undefined) parts.push(own);
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

const partsOfEdition = ({ edition, asOfMs, offset }: PlaceInEdition): unknown[] => [edition, asOfMs, offset];

function partsOfCheckpoint(place: PlaceInCheckpoint): unknown[] {
  const { generation, shards, versions, checkpoint, beside, denseRank } = place;
  const row = typeof beside === 'number' ? [beside] : [beside.score, beside.member.toString('base64url')];
  const { id, slot, listVersion } = checkpoint;
  return [generation, shards, versions.base, versions.floor, id, slot, listVersion, denseRank, ...row];
}

/**
 * The cursor behind a text. Nothing in it is to be trusted further than its bounds: whoever has it can write another.
 * @throws VALIDATION_FAILED for what {@link encodeCursor} does not make
 */
export function decodeCursor(text: string): EntriesCursor {
  const parts = new Parts(text);
  parts.integer(FORMAT, FORMAT);
  const boardId = parts.text((part) => faultOfNamedId(part) === null);
  const boardUid = parts.integer(1, UID_MAX);
  const window = parts.text(isName);
  const windowUid = parts.integer(1, UID_MAX);
  const scope = parts.text(isName);
  const style = STYLES[parts.integer(0, STYLES.length - 1)]!;
  const direction = parts.integer(0, 1) === 1 ? 'after' : 'before';
  const place = parts.left === 3 || parts.left === 4 ? editionOf(parts) : checkpointOf(parts, style);
  const own = parts.left === 0 ? {} : { own: parts.integer(0, UID_MAX) };
  const cursor: EntriesCursor = { boardId, boardUid, window, windowUid, scope, style, direction, place, ...own };
  // Other texts can mean the same; only one is ours.
  if (encodeCursor(cursor) !== text) throw brokenCursor();
  return cursor;
}

function editionOf(parts: Parts): PlaceInEdition {
  return {
    edition: parts.integer(1, UID_MAX),
    asOfMs: parts.integerOrNull(0, UID_MAX),
    offset: parts.integer(0, UID_MAX),
  };
}

function checkpointOf(parts: Parts, style: RankStyle): PlaceInCheckpoint {
  const generation = parts.integer(1, UID_MAX);
  const shards = parts.integer(1, SHARDS_MAX);
  const versions = { base: parts.integer(0, UID_MAX), floor: parts.integer(0, UID_MAX) };
  const id = parts.text((part) => CHECKPOINT_ID.test(part));
  const slot = parts.integer(0, CHECKPOINT_SLOTS - 1);
  const listVersion = parts.integer(0, UID_MAX);
  const denseRank = parts.integerOrNull(1, UID_MAX);
  if ((denseRank !== null) !== (style === 'dense')) throw brokenCursor();
  const beside = parts.endsWithNumber ? parts.integer(0, UID_MAX) : parts.sortKey();
  return { generation, shards, versions, checkpoint: { id, slot, listVersion }, beside, denseRank };
}

/** The parts of a cursor, taken one after the other. */
class Parts {
  private readonly parts: unknown[];

  constructor(text: string) {
    let parsed: unknown = null;
    try {
      if (text.length <= CURSOR_LENGTH_MAX) parsed = JSON.parse(Buffer.from(text, 'base64url').toString());
    } catch {
      throw brokenCursor();
    }
    if (!Array.isArray(parsed)) throw brokenCursor();
    this.parts = parsed;
  }

  /** Whether the last part is a number, as of places and not of sort keys. */
  get endsWithNumber(): boolean {
    return typeof this.parts.at(-1) === 'number';
  }

  get left(): number {
    return this.parts.length;
  }

  integer(minimum: number, maximum: number): number {
    const part = this.parts.shift();
    if (!Number.isSafeInteger(part) || (part as number) < minimum || (part as number) > maximum) throw brokenCursor();
    return part as number;
  }

  integerOrNull(minimum: number, maximum: number): number | null {
    if (this.parts[0] !== null) return this.integer(minimum, maximum);
    this.parts.shift();
    return null;
  }

  text(isRight: (part: string) => boolean): string {
    const part = this.parts.shift();
    if (typeof part !== 'string' || !isRight(part)) throw brokenCursor();
    return part;
  }

  sortKey(): SortKey {
    const [score, member, ...more] = this.parts.splice(0);
    const bytes = typeof member === 'string' ? Buffer.from(member, 'base64url') : Buffer.alloc(0);
    const isKey = typeof score === 'number' && bytes.length > 0 && bytes.length <= MEMBER_BYTES_MAX;
    if (!isKey || more.length > 0) throw brokenCursor();
    return { score, member: bytes };
  }
}

const isName = (part: string): boolean => part.length > 0 && part.length <= NAME_LENGTH_MAX && isCleanText(part);

/** No page of this list gave that cursor. */
export const brokenCursor = (): LadderError =>
  validationFailed([{ pointer: '?cursor', message: 'is no cursor of this list; take next or prev as they are' }]);
