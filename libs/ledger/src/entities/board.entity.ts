import type { BoardDefinition, BoardFeed, Layouts } from '@laddercast/domain';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A board that was ever made. `boardId` is null once it is deleted or reset: the uid is never used again. */
@Entity('boards')
export class BoardEntity {
  @PrimaryColumn({ name: 'board_uid', type: 'integer', generated: 'identity' })
  boardUid!: number;

  @Column({ name: 'board_id', type: 'text', nullable: true })
  boardId!: string | null;

  @Column({ type: 'jsonb' })
  definition!: BoardDefinition;

  @Column({ type: 'bigint' })
  revision!: number;

  /** The revision at which the definition was put last. */
  @Column({ name: 'definition_revision', type: 'bigint' })
  definitionRevision!: number;

  /** See `Board.windowsSinceMs`. */
  @Column({ name: 'windows_since', type: 'jsonb' })
  windowsSinceMs!: Record<string, number>;

  @Column({ type: 'jsonb' })
  layouts!: Layouts;

  /** null: submissions feed it. */
  @Column({ type: 'jsonb', nullable: true })
  feed!: BoardFeed | null;

  /** null: runs are not kept. */
  @Column({ name: 'runs_from', type: 'bigint', nullable: true })
  runsFrom!: number | null;

  /** Of the family of patches by which its runs are taxed; null: they are not. */
  @Column({ name: 'family_uid', type: 'integer', nullable: true })
  familyUid!: number | null;
}
