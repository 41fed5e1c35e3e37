import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An API key; only the SHA-256 of its secret is kept. */
@Entity('api_keys')
export class ApiKeyEntity {
  @PrimaryColumn({ name: 'key_id', type: 'text' })
  keyId!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ name: 'secret_sha256', type: 'bytea' })
  secretSha256!: Buffer;

  @Column({ type: 'text', array: true })
  scopes!: string[];

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  @Column({ name: 'revoked_at', type: 'timestamptz', nullable: true })
  revokedAt!: Date | null;
}
