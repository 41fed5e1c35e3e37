import { compareSortKeys, encodeSortKey, sharesRank, type BoardOrdering, type SortKey } from '@laddercast/domain';
import type { ExportedEntry, ExportedStanding } from '@laddercast/ledger';

/**
 * The rows of a list, in their order, with one more at the place of its sort key; what is behind it stands one further.
 * @param chunks without that row
 */
export async function* withOwnRow(
  chunks: AsyncIterable<ExportedStanding[]>,
  ordering: BoardOrdering,
  own: ExportedEntry,
): AsyncGenerator<ExportedStanding[]> {
  const ownKey = keyOf(ordering, own);
  let last: ExportedStanding | undefined;
  /** Once it is placed: whether nobody else has its score and columns. */
  let isNewValue: boolean | null = null;
  for await (const chunk of chunks) {
    const rows: ExportedStanding[] = [];
    for (const row of chunk) {
      if (isNewValue === null && compareSortKeys(ownKey, keyOf(ordering, row)) < 0) {
        const tied = [last, row].find((one) => one !== undefined && sharesRank(one, own));
        isNewValue = tied === undefined;
        rows.push(placed(own, last, tied));
      }
      rows.push(isNewValue === null ? row : behind(row, own, isNewValue));
      last = row;
    }
    yield rows;
  }
  if (isNewValue === null) yield [placed(own, last, last && sharesRank(last, own) ? last : undefined)];
}

function placed(
  own: ExportedEntry,
  before: ExportedStanding | undefined,
  tied: ExportedStanding | undefined,
): ExportedStanding {
  const ordinal = (before?.ordinal ?? 0) + 1;
  return { ...own, ordinal, competition: tied?.competition ?? ordinal, dense: tied?.dense ?? (before?.dense ?? 0) + 1 };
}

function behind(row: ExportedStanding, own: ExportedEntry, isNewValue: boolean): ExportedStanding {
  const ordinal = row.ordinal + 1;
  if (sharesRank(row, own)) return { ...row, ordinal };
  return { ...row, ordinal, competition: row.competition + 1, dense: row.dense + (isNewValue ? 1 : 0) };
}

const keyOf = (ordering: BoardOrdering, { score, columns, achieved_at_ms, player_id }: ExportedEntry): SortKey =>
  encodeSortKey(ordering, { score, columns, achievedAtMs: achieved_at_ms }, player_id);
