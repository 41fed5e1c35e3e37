import { LadderError, PATCHES_MAX, validationFailed } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { namesTag, type PutCondition } from '../operators/put-condition.js';
import type { StoredFamily } from './patch-families.js';
import { chainThrough, entityTagOfPatch, type Patch, type PatchDefinition } from './patch.js';

/** What of a patch is put. */
export type StoredPatch = Pick<Patch, 'publishedAtMs' | 'sameAs' | 'title'>;

/**
 * A patch must be as the request demands.
 * @throws PRECONDITION_FAILED
 */
export function assertMatches(
  id: string,
  current: Patch | undefined,
  { ifMatch = null, onlyCreate }: PutCondition,
): void {
  if (ifMatch !== null && !(current && namesTag(ifMatch, entityTagOfPatch(current)))) {
    throw new LadderError('PRECONDITION_FAILED', `Patch "${id}" is not the one If-Match names; read it again.`);
  }
  if (onlyCreate && current) {
    throw new LadderError('PRECONDITION_FAILED', `Patch "${id}" exists already (If-None-Match: *).`);
  }
}

/**
 * The patch that a hotfix names.
 * @throws VALIDATION_FAILED
 */
export function predecessorOf(
  id: string,
  family: StoredFamily,
  patches: readonly Patch[],
  { sameAs, publishedAtMs }: PatchDefinition & { publishedAtMs: number },
): Patch {
  const fault = (message: string): LadderError => validationFailed([{ pointer: '/sameAs', message }]);
  const found = patches.find((patch) => patch.id === sameAs);
  if (!found) throw fault(`must be a patch of family "${family.id}", which has no "${sameAs}"`);
  const own = patches.find((patch) => patch.id === id);
  if (own && chainThrough(patches, own.uid).includes(found.uid)) {
    throw fault(`must not lead back to "${id}", as which "${sameAs}" counts`);
  }
  if (found.publishedAtMs > publishedAtMs) throw fault(`must be published before "${id}", or with it`);
  return found;
}

/**
 * A patch must be able to become what is put.
 * @throws PATCH_IN_USE, VALIDATION_FAILED
 */
export async function assertMayBecome(
  transaction: SqlRunner,
  patches: readonly Patch[],
  current: Patch,
  next: StoredPatch,
  nowMs: number,
): Promise<void> {
  const { id, uid } = current;
  if (current.sameAs !== next.sameAs) {
    await assertUnused(transaction, patches, chainThrough(patches, uid), `sameAs of patch "${id}" cannot change`);
  }
  if (current.isPublished && next.publishedAtMs > nowMs && next.publishedAtMs !== current.publishedAtMs) {
    await assertUnused(transaction, patches, [uid], `Patch "${id}" cannot be published later than now`);
  }
  const earlier = patches.find(({ sameAs, publishedAtMs }) => sameAs === uid && publishedAtMs < next.publishedAtMs);
  if (!earlier) return;
  const message = `must not be after that of "${earlier.id}", which is the same as "${id}"`;
  throw validationFailed([{ pointer: '/publishedAt', message }]);
}

/**
 * No run of a board that exists must name one of these patches.
 * @param refusal what is refused
 * @throws PATCH_IN_USE
 */
export async function assertUnused(
  transaction: SqlRunner,
  patches: readonly Patch[],
  uids: readonly number[],
  refusal: string,
): Promise<void> {
  const [used] = await transaction.query<{ uid: number; runs: number }>(
    `SELECT patch_uid AS uid, sum(runs)::bigint AS runs FROM patch_uses WHERE patch_uid = ANY($1::int[])
     GROUP BY patch_uid ORDER BY patch_uid LIMIT 1`,
    [uids],
  );
  if (!used) return;
  const name = patches.find(({ uid }) => uid === used.uid)!.id;
  throw new LadderError(
    'PATCH_IN_USE',
    `${refusal}: ${used.runs === 1 ? '1 run names' : `${used.runs} runs name`} "${name}".`,
  );
}

/**
 * A family must have room for one more patch.
 * @throws LIMIT_REACHED
 */
export function assertHasRoom(family: StoredFamily, patches: readonly Patch[]): void {
  if (patches.length < PATCHES_MAX) return;
  const detail = `Family "${family.id}" has ${PATCHES_MAX} patches, the most there can be.`;
  throw new LadderError('LIMIT_REACHED', detail, {}, { status: 422 });
}
