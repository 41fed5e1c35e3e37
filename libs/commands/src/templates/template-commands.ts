import type { Identity } from '@laddercast/identity';
import type { TemplateOutcome } from '@laddercast/ledger';
import { Command } from '@nestjs/cqrs';

/** Creates or replaces a template of boards, and makes its boards as it says. */
export class PutBoardTemplateCommand extends Command<TemplateOutcome> {
  constructor(
    readonly identity: Identity,
    readonly templateId: string,
    /** As it was sent. */
    readonly body: unknown,
    readonly condition: {
      /** The entity tag that the template must still have, or null. */
      ifMatch: string | null;
      /** Whether it must not exist yet. */
      onlyCreate: boolean;
    },
    /** Only what would be done is answered. */
    readonly isDryRun: boolean,
  ) {
    super();
  }
}

/** Deletes a template. */
export class DeleteBoardTemplateCommand extends Command<void> {
  constructor(
    readonly identity: Identity,
    readonly templateId: string,
    readonly ifMatch: string | null,
    /** Its boards are deleted, too; else they stay, and are of no template. */
    readonly withBoards: boolean,
  ) {
    super();
  }
}
