import type { Identity } from '@laddercast/identity';
import type { ListedPatch, PatchDefinition, PutCondition } from '@laddercast/ledger';
import { Command } from '@nestjs/cqrs';

/** What must hold for a patch to be put. */
export interface PutPatchCondition extends PutCondition {
  /** Whether the caller names the family beside the body: a tag needs that where two families have the patch. */
  familyIsNamed: boolean;
}

/** Creates or replaces a patch of a family, and publishes it if that is due. */
export class PutPatchCommand extends Command<{ patch: ListedPatch; created: boolean }> {
  constructor(
    readonly identity: Identity,
    readonly patchId: string,
    readonly family: string,
    readonly definition: PatchDefinition,
    readonly condition: PutPatchCondition,
  ) {
    super();
  }
}

/** Removes a patch that no run names. */
export class DeletePatchCommand extends Command<void> {
  constructor(
    readonly identity: Identity,
    readonly patchId: string,
    /** null: that of the only family which has such a patch. */
    readonly family: string | null,
    /** The entity tag that the patch must still have, or null. */
    readonly ifMatch: string | null,
  ) {
    super();
  }
}
