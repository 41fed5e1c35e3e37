import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  ApiKeyStore,
  BoardCatalog,
  EditionCatalog,
  BoardRegistry,
  Ledger,
  OutboxNotifier,
  PostgresDatabase,
} from '@laddercast/ledger';
import { Environment } from '@laddercast/platform';
import { Announcements, ProjectionWatch, RedisConnection, ReplicaReads, SketchCache } from '@laddercast/projections';
import { EntryDetails, SnapshotCache } from '@laddercast/queries';
import { Inject, Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { ExtensionRegistry } from '../extension-registry.js';
import { ROLES, type Role } from '../roles.js';
import { partsOf, type PartOf } from '../parts.js';
import { ProjectorLifecycle } from './projector.lifecycle.js';

/** Starts what runs by itself, and stops it in the order in which nothing is lost. */
@Injectable()
export class LeaderboardLifecycle implements OnModuleInit, OnApplicationShutdown {
  private readonly log = new Logger('laddercast');
  private readonly part: PartOf;
  private unfollow = (): void => undefined;

  constructor(
    modules: ModuleRef,
    private readonly environment: Environment,
    private readonly registry: ExtensionRegistry,
    @Inject(ROLES) private readonly roles: readonly Role[],
  ) {
    this.part = partsOf(modules);
  }

  async onModuleInit(): Promise<void> {
    await this.part(BoardCatalog).start();
    await this.part(ProjectionWatch).start((listener) => this.part(RedisConnection).onReady(listener));
    const details = this.part(EntryDetails);
    const editions = this.part(EditionCatalog);
    this.unfollow = this.part(Announcements).onAnnounced((announcement) => {
      details.hear(announcement);
      if (announcement === null) editions.forget(null);
      else if (announcement.kind === 'standings-revised') editions.forget(announcement.windowUid);
    });
    if (this.roles.includes('api')) {
      await this.makeBoards();
      await this.makeFirstKey();
      this.part(SnapshotCache).start();
    }
    if (this.writes) await this.part(Ledger).start(this.ownsLanes);
    if (this.estimates) {
      this.part(ReplicaReads).start();
      this.part(SketchCache).start();
    }
    if (this.roles.includes('projector')) await this.part(ProjectorLifecycle).start();
    // Last: a start waits for a slow PostgreSQL as long as it takes, and only requests are refused at once.
    const log = new Logger('postgres');
    this.part(PostgresDatabase).reach.start((text) => log.warn(text));
  }

  /** Runs after the listeners are closed and their requests answered. */
  async onApplicationShutdown(): Promise<void> {
    if (this.roles.includes('projector')) await this.part(ProjectorLifecycle).stop();
    if (this.roles.includes('api')) await this.part(SnapshotCache).stop();
    if (this.writes) await this.part(Ledger).close();
    if (this.estimates) await this.part(SketchCache).stop();
    await this.part(ReplicaReads).close();
    await this.part(OutboxNotifier).settled();
    this.unfollow();
    this.part(BoardCatalog).stop();
    this.part(ProjectionWatch).stop();
    await this.part(RedisConnection).close();
    await this.part(PostgresDatabase).close();
  }

  private get ownsLanes(): boolean {
    return this.roles.includes('api') && this.environment.LANE_OWNER === 'true';
  }

  /** Whether the process writes entries: those of clients, or of rating pools. */
  private get writes(): boolean {
    return this.roles.includes('api') || this.roles.includes('projector');
  }

  /** Whether the process says of ranks what they are about. */
  private get estimates(): boolean {
    return this.roles.includes('api') || this.roles.includes('gateway');
  }

  /** The boards that the teams' modules define exist before the first request. */
  private async makeBoards(): Promise<void> {
    const boards = this.part(BoardCatalog);
    this.registry.assertRulesExist();
    for (const { id, definition } of this.registry.boards) {
      if (!isDeepStrictEqual(boards.byId(id)?.definition, definition)) {
        await this.part(BoardRegistry).put(id, definition);
      }
    }
    await boards.refresh();
    this.registry.assertBoardsExist((id) => boards.byId(id) !== undefined);
  }

  private async makeFirstKey(): Promise<void> {
    const keys = this.part(ApiKeyStore);
    const given = this.environment.BOOTSTRAP_ADMIN_KEY;
    if (given !== undefined) {
      if (await keys.setBootstrapKey(given)) return;
      this.log.warn(
        'BOOTSTRAP_ADMIN_KEY is a secret that was revoked: it opens nothing. Set the one that followed it, or a new one.',
      );
      return;
    }
    if (this.environment.NODE_ENV === 'production' || (await keys.hasAdminKey())) return;
    const made = `lk_${randomBytes(24).toString('base64url')}`;
    await keys.setBootstrapKey(made);
    this.log.warn(`No BOOTSTRAP_ADMIN_KEY is set: the development admin key is ${made}`);
  }
}
