import type { ListedPatch } from '@laddercast/ledger';
import { Query } from '@nestjs/cqrs';

/** A patch. @throws PATCH_UNKNOWN (404), VALIDATION_FAILED where two families have it and none is named */
export class GetPatchQuery extends Query<ListedPatch> {
  constructor(
    readonly patchId: string,
    /** null: that of the only family which has such a patch. */
    readonly family: string | null,
  ) {
    super();
  }
}

/** All patches of a family, in the order of publication. */
export class ListPatchesQuery extends Query<ListedPatch[]> {
  constructor(readonly family: string) {
    super();
  }
}
