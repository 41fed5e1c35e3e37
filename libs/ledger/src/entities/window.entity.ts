import type { WindowKind, WindowState } from '@laddercast/domain';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A window whose bounds were computed once; the stored ones win. */
@Entity('windows')
export class WindowEntity {
  @PrimaryColumn({ name: 'window_uid', type: 'integer', generated: 'identity' })
  windowUid!: number;

  @Column({ name: 'board_uid', type: 'integer' })
  boardUid!: number;

  @Column({ name: 'window_id', type: 'text' })
  windowId!: string;

  @Column({ type: 'text' })
  kind!: WindowKind;

  @Column({ name: 'starts_at', type: 'timestamptz', nullable: true })
  startsAt!: Date | null;

  @Column({ name: 'ends_at', type: 'timestamptz', nullable: true })
  endsAt!: Date | null;

  @Column({ name: 'freeze_at', type: 'timestamptz', nullable: true })
  freezeAt!: Date | null;

  @Column({ type: 'text' })
  state!: WindowState;
}
