import { LadderError, newestOrder, PATCH_ORDERS_MAX, patchesBehind, validationFailed } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { ledgerNowMs } from '../database/ledger-clock.js';
import { tryEach } from '../database/try-each.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { AllLanes } from '../lanes/all-lanes.js';
import { nextPosition } from '../lanes/lane-events.js';
import { Lanes } from '../lanes/lanes.js';
import { recordAudit } from '../operators/audit-log.js';
import type { PutCondition } from '../operators/put-condition.js';
import { findFamily, requireFamily, type StoredFamily } from './patch-families.js';
import {
  assertHasRoom,
  assertMatches,
  assertMayBecome,
  assertUnused,
  predecessorOf,
  type StoredPatch,
} from './patch-checks.js';
import {
  entityTagOfPatch,
  firstOfChain,
  patchesOf,
  patchNotFound,
  type ListedPatch,
  type PatchDefinition,
} from './patch.js';
import { assertOrderMayChange, publish } from './publication.js';
import { openRetaxed } from './retax-openings.js';

/** Of more it is not told which they are: the caller must say so anyway. */
const FAMILIES_OF_PATCH_MAX = 2;
/** Families that one look publishes: the rest waits for the next. */
const FAMILIES_AT_ONCE = 20;

/** Families with patches whose time has come, or with boards that have not heard of a change. */
const DUE_FAMILIES = `
  SELECT family_id AS family FROM patch_families f
  WHERE EXISTS (SELECT 1 FROM patches p WHERE p.family_uid = f.family_uid AND NOT is_published
      AND published_ms <= floor(extract(epoch FROM ladder_now()) * 1000)
      AND (jsonb_array_length(f.orders) < ${PATCH_ORDERS_MAX}
        OR EXISTS (SELECT 1 FROM patches same WHERE same.patch_uid = p.same_as AND same.is_published)))
    OR EXISTS (SELECT 1 FROM boards b
      WHERE b.family_uid = f.family_uid AND board_id IS NOT NULL AND family_revision < f.revision)
  ORDER BY family_id LIMIT ${FAMILIES_AT_ONCE}`;

/** Makes, changes, publishes and removes patches: each under all lanes, so that every run comes before or after. */
@Injectable()
export class PatchRegistry {
  /** What {@link publishDue} finds, for a `SharedLook`. */
  readonly due = DUE_FAMILIES;

  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly allLanes: AllLanes,
  ) {}

  /**
   * The family of a patch: the one that is named, else the only one that has it.
   * @throws PATCH_UNKNOWN (404), VALIDATION_FAILED
   */
  async familyOf(id: string, named: string | null): Promise<string> {
    if (named !== null) return named;
    const only = await this.assertOfOneFamily(id);
    if (only === undefined) throw patchNotFound(id);
    return only;
  }

  /**
   * No two families may have the patch, as none is named.
   * @returns the one that has it
   * @throws VALIDATION_FAILED
   */
  async assertOfOneFamily(id: string): Promise<string | undefined> {
    const [only, other] = await this.familiesWith(id);
    if (other === undefined) return only;
    const message = `must say which patch "${id}" is meant: families "${only}" and "${other}" have one`;
    throw validationFailed([{ pointer: '?family', message }]);
  }

  private async familiesWith(id: string): Promise<string[]> {
    const rows = await this.database.query<{ family: string }>(
      `SELECT family_id AS family FROM patches JOIN patch_families USING (family_uid)
       WHERE patch_id = $1 ORDER BY family_id LIMIT ${FAMILIES_OF_PATCH_MAX}`,
      [id],
    );
    return rows.map(({ family }) => family);
  }

  /** All patches of a family, in the order of publication; none where there is no such family. */
  async list(familyId: string): Promise<ListedPatch[]> {
    const family = await findFamily(this.database, familyId);
    return family ? listed(this.database, family) : [];
  }

  /** @throws PATCH_UNKNOWN (404) */
  async get(id: string, familyId: string): Promise<ListedPatch> {
    const found = (await this.list(familyId)).find((patch) => patch.id === id);
    if (!found) throw patchNotFound(id, familyId);
    return found;
  }

  /**
   * Creates or replaces a patch of a family, and publishes it if that is due.
   * @param actor who is named in the audit log
   * @throws PRECONDITION_FAILED, VALIDATION_FAILED, PATCH_IN_USE, LIMIT_REACHED
   */
  async put(
    id: string,
    familyId: string,
    given: PatchDefinition,
    condition: PutCondition,
    actor: string,
  ): Promise<{ patch: ListedPatch; created: boolean }> {
    const created = await this.changing(familyId, async (transaction, family) => {
      const patches = await patchesOf(transaction, family);
      const current = patches.find((patch) => patch.id === id);
      assertMatches(id, current, condition);
      const nowMs = await ledgerNowMs(transaction);
      const publishedAtMs = given.publishedAtMs ?? current?.publishedAtMs ?? nowMs;
      const sameAs = given.sameAs === null ? null : predecessorOf(id, family, patches, { ...given, publishedAtMs }).uid;
      const next = { publishedAtMs, sameAs, title: given.title };
      const isSame = current && current.publishedAtMs === publishedAtMs && current.sameAs === sameAs;
      if (isSame && current.title === given.title) return false;
      if (current) await assertMayBecome(transaction, patches, current, next, nowMs);
      else assertHasRoom(family, patches);
      if (!isSame && sameAs === null) assertOrderMayChange(family);
      const { sameAs: named, title } = given;
      const details = { publishedAt: new Date(publishedAtMs).toISOString(), sameAs: named, title };
      const action = current ? 'patch.replace' : 'patch.create';
      await recordAudit(transaction, { actor, action, subject: `${familyId}/${id}`, details });
      await store(transaction, id, family, next, nowMs);
      return current === undefined;
    });
    return { patch: await this.get(id, familyId), created };
  }

  /**
   * Removes a patch that nobody uses.
   * @throws PATCH_UNKNOWN (404), PRECONDITION_FAILED, PATCH_IN_USE, LIMIT_REACHED
   */
  async delete(id: string, familyId: string, ifMatch: string | null, actor: string): Promise<void> {
    await this.changing(familyId, async (transaction, family) => {
      const patches = await patchesOf(transaction, family);
      const current = patches.find((patch) => patch.id === id);
      if (!current) throw patchNotFound(id, familyId);
      assertMatches(id, current, { ifMatch });
      await assertUnused(transaction, patches, [current.uid], `Patch "${id}" cannot be deleted`);
      const hotfix = patches.find(({ sameAs }) => sameAs === current.uid);
      if (hotfix) {
        const detail = `Patch "${id}" cannot be deleted: "${hotfix.id}" is the same as it. Delete that first, or change its sameAs.`;
        throw new LadderError('PATCH_IN_USE', detail);
      }
      await recordAudit(transaction, { actor, action: 'patch.delete', subject: `${familyId}/${id}`, details: {} });
      await transaction.query('DELETE FROM patches WHERE patch_uid = $1', [current.uid]);
    });
  }

  /**
   * Publishes patches whose time has come, and tells boards that have not heard of a change yet.
   * @throws AggregateError of what failed; it holds up no other family
   */
  async publishDue(signal: AbortSignal): Promise<void> {
    const due = await this.database.query<{ family: string }>(DUE_FAMILIES);
    await tryEach(due, signal, async ({ family }) => this.changing(family, () => Promise.resolve(), signal));
  }

  /** Changes patches of a family, publishes what is due, and has all its boards hear of it. */
  private async changing<Result>(
    familyId: string,
    change: (transaction: SqlRunner, family: StoredFamily) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const { result, more } = await this.allLanes.change(async (transaction) => {
      const family = await requireFamily(transaction, familyId);
      const result = await change(transaction, family);
      return { result, more: await publish(transaction, this.lanes, family) };
    });
    if (more) await this.tellBoards(familyId, signal);
    return result;
  }

  private async tellBoards(familyId: string, signal?: AbortSignal): Promise<void> {
    for (let more = true; more;) {
      signal?.throwIfAborted();
      more = await this.allLanes.change(async (transaction) =>
        openRetaxed(transaction, this.lanes, await requireFamily(transaction, familyId)),
      );
    }
  }
}

async function listed(sql: SqlRunner, family: StoredFamily): Promise<ListedPatch[]> {
  const patches = await patchesOf(sql, family);
  const uids = patches.map(({ uid }) => uid);
  const uses = await sql.query<{ uid: number; runs: number }>(
    'SELECT patch_uid AS uid, sum(runs)::bigint AS runs FROM patch_uses WHERE patch_uid = ANY($1::int[]) GROUP BY patch_uid',
    [uids],
  );
  const [row] = await sql.query<{ oldest: number | null }>(
    `SELECT min(coalesce((layouts #>> '{serving,taxOrder}')::int, 0)) AS oldest FROM boards
     WHERE family_uid = $1 AND board_id IS NOT NULL`,
    [family.uid],
  );
  const newest = newestOrder(family);
  return patches.map((patch) => {
    const { uid, id, publishedAtMs, isPublished, sameAs, title, cameWith } = patch;
    const isRetaxing = cameWith !== null && cameWith > (row?.oldest ?? Infinity);
    return {
      ...{ id, family: family.id, publishedAtMs, title },
      sameAs: patches.find(({ uid }) => uid === sameAs)?.id ?? null,
      behind: isPublished ? patchesBehind(newest, firstOfChain(patches, patch).uid) : null,
      runs: uses.find((use) => use.uid === uid)?.runs ?? 0,
      status: !isPublished ? 'scheduled' : isRetaxing ? 'retaxing' : 'published',
      entityTag: entityTagOfPatch(patch),
    };
  });
}

/** One that is moved into the future is published no more; that the clock was set back moves none. */
async function store(
  transaction: SqlRunner,
  id: string,
  family: StoredFamily,
  next: StoredPatch,
  nowMs: number,
): Promise<void> {
  const revision = await nextPosition(transaction);
  await transaction.query(
    `INSERT INTO patches (family_uid, patch_id, published_ms, is_published, same_as, title, revision)
     VALUES ($1, $2, $3, false, $4, $5, $6)
     ON CONFLICT (family_uid, patch_id) DO UPDATE SET published_ms = excluded.published_ms, same_as = excluded.same_as,
       title = excluded.title, revision = excluded.revision,
       is_published = patches.is_published AND (excluded.published_ms <= $7 OR excluded.published_ms = patches.published_ms)`,
    [family.uid, id, next.publishedAtMs, next.sameAs, next.title, revision, nowMs],
  );
}
