import { validationFailed } from '@laddercast/domain';

/** What follows a row: its number in the table, which PostgreSQL counts from 1. */
const ROW_CURSOR = /^[1-9]\d{0,14}$/;

/** Whether text is the number of a row. */
export const isRowNumber = (text: string): boolean => ROW_CURSOR.test(text);

/**
 * The number behind the cursor of a list; null without a cursor.
 * @throws VALIDATION_FAILED for a cursor that no page gave
 */
export function numberOfCursor(
  cursor: string | undefined,
  isCursor: (text: string) => boolean = isRowNumber,
): number | null {
  assertCursor(cursor, isCursor);
  return cursor === undefined ? null : Number(cursor);
}

/** @throws VALIDATION_FAILED for a cursor that no page gave */
export function assertCursor(cursor: string | undefined, isCursor: (text: string) => boolean): void {
  if (cursor === undefined || isCursor(cursor)) return;
  throw validationFailed([{ pointer: '?cursor', message: 'is not a cursor of this list' }]);
}
