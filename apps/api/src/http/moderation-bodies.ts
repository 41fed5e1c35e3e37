import { Checked, InSchema, IsReason, IsText, MayBeAbsent, RefusedAs } from '@laddercast/commands';
import {
  faultOfNamedId,
  NAMED_ID_PATTERN,
  SANCTION_KINDS,
  WINDOW_ID_LENGTH_MAX,
  type Fault,
  type SanctionKind,
} from '@laddercast/domain';
import { IsIn, IsOptional } from 'class-validator';
import { IsEnd, NO_TIME } from './bodies.js';

/** The most boards that a sanction names. */
const SANCTION_BOARDS_MAX = 100;
const PUBLIC_REASON_LENGTH_MAX = 500;

function faultsOfBoards(boards: unknown): Fault[] {
  if (!Array.isArray(boards) || boards.length < 1 || boards.length > SANCTION_BOARDS_MAX) {
    return [{ pointer: '', message: `must be an array of 1-${SANCTION_BOARDS_MAX} board ids, or null for all` }];
  }
  return boards.flatMap((id: unknown, index): Fault[] => {
    const message = typeof id === 'string' ? faultOfNamedId(id) : 'must be a string';
    return message === null ? [] : [{ pointer: `/${index}`, message }];
  });
}

/** The body of `PUT /v1/admin/players/{player}/sanction`. */
export class SanctionBody {
  @RefusedAs(`must be ${SANCTION_KINDS.join(', ')}`)
  @IsIn(SANCTION_KINDS)
  kind!: SanctionKind;

  @IsReason()
  @InSchema({ description: 'Why; the player never sees it.' })
  reason!: string;

  @IsOptional()
  @IsText(PUBLIC_REASON_LENGTH_MAX)
  @InSchema({ description: 'What a banned player is told.' })
  publicReason: string | null = null;

  @IsOptional()
  @RefusedAs(NO_TIME)
  @IsEnd()
  @InSchema({ description: 'RFC 3339, in the future: when it is lifted by the clock. Default: null, never.' })
  until: string | null = null;

  @IsOptional()
  @Checked(faultsOfBoards, {
    type: 'array',
    minItems: 1,
    maxItems: SANCTION_BOARDS_MAX,
    items: { type: 'string', format: 'named-id', pattern: NAMED_ID_PATTERN },
    description: 'The boards that it holds on. Default: null, all, also those made later.',
  })
  boards: string[] | null = null;
}

/** The query of an act that only needs a reason. */
export class ReasonParameters {
  @IsReason()
  reason!: string;
}

/** The query of `POST …/restate`. */
export class RestatementParameters {
  /** The full id of a window that ended. */
  @IsText(WINDOW_ID_LENGTH_MAX, 'must be the id of a window that ended, such as daily:2026-11-20 or season:s1')
  window!: string;
}

/** The body of `POST …/restate`; it may be left out. */
export class RestatementBody {
  @MayBeAbsent()
  @IsReason()
  @InSchema({ description: 'Why; the audit log has it, and the edition that follows.' })
  reason?: string;
}
