import { LadderError, type PatchFamily } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';

/** What an operator says of a patch. */
export interface PatchDefinition {
  /** Unix ms; null: as it is, and of a new one now. */
  publishedAtMs: number | null;
  /** The patch of the family as which its runs count; null: itself. */
  sameAs: string | null;
  title: string | null;
}

/** A patch under the number that no other ever has. A later number was accepted later. */
export interface Patch {
  uid: number;
  id: string;
  familyUid: number;
  publishedAtMs: number;
  isPublished: boolean;
  sameAs: number | null;
  title: string | null;
  /** The number of the order with which it came to its place; null: none changed by it. */
  cameWith: number | null;
  /** Changes with every change of it, and never comes back. */
  revision: number;
}

/** A patch as it is listed. */
export interface ListedPatch {
  id: string;
  family: string;
  publishedAtMs: number;
  sameAs: string | null;
  title: string | null;
  /** How many patches it is behind the newest; null: it is not published. */
  behind: number | null;
  /** How many runs name it. */
  runs: number;
  /** `retaxing`: a board of the family does not show yet what its publication changed. */
  status: 'published' | 'scheduled' | 'retaxing';
  entityTag: string;
}

/** A patch's entity tag: it changes with every change of the patch, and never comes back. */
export const entityTagOfPatch = ({ uid, revision }: Pick<Patch, 'uid' | 'revision'>): string => `"${uid}-${revision}"`;

/** @param familyId undefined: no family has it */
export function patchNotFound(id: string, familyId?: string): LadderError {
  const detail = familyId === undefined ? `There is no patch "${id}".` : `Family "${familyId}" has no patch "${id}".`;
  return new LadderError('PATCH_UNKNOWN', detail, {}, { status: 404 });
}

const PATCHES_OF_FAMILY = `
  SELECT patch_uid AS uid, patch_id AS id, family_uid AS "familyUid", published_ms AS "publishedAtMs",
    is_published AS "isPublished", same_as AS "sameAs", title, came_with AS "cameWith", revision
  FROM patches WHERE family_uid = $1 ORDER BY published_ms, patch_uid`;

/** All patches of a family, in the order of publication. */
export const patchesOf = (sql: SqlRunner, { uid }: Pick<PatchFamily, 'uid'>): Promise<Patch[]> =>
  sql.query<Patch>(PATCHES_OF_FAMILY, [uid]);

/** The patch as which another one of its family counts: the first of its chain. */
export function firstOfChain(patches: readonly Patch[], patch: Patch): Patch {
  let first = patch;
  for (let steps = 0; first.sameAs !== null && steps < patches.length; steps += 1) {
    first = patches.find(({ uid }) => uid === first.sameAs)!;
  }
  return first;
}

/** A patch, and those that count as it or through it. */
export const chainThrough = (patches: readonly Patch[], uid: number): number[] => [
  uid,
  ...patches.filter(({ sameAs }) => sameAs === uid).flatMap((hotfix) => chainThrough(patches, hotfix.uid)),
];
