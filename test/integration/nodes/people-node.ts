import { RecomputeGuildTotalsHandler } from '@laddercast/commands';
import { PostgresEventLog, type LogSubscription } from '@laddercast/event-log';
import {
  BoardScopeMigration,
  EntryReemission,
  GuildRegistry,
  GuildTotals,
  LaneQueue,
  PlayerRegistry,
  type SqlRunner,
} from '@laddercast/ledger';
import { GuildSaga } from '@laddercast/sagas';
import type { CommandBus } from '@nestjs/cqrs';
import { LedgerNode } from './ledger-node.js';

/** The ledger of one process with its players and guilds, by hand; the log is the outbox. */
export class PeopleNode extends LedgerNode {
  readonly work = new LaneQueue(this.database, this.lanes, this.notifier);
  readonly reemission = new EntryReemission(this.scopes);
  readonly totals = new GuildTotals(this.database, this.lanes, this.scopes, this.notifier);
  readonly players = new PlayerRegistry(this.database, this.work, this.reemission);
  readonly guilds = new GuildRegistry(this.database, this.work, this.scopes, this.reemission, this.totals);
  readonly scopeMigration = new BoardScopeMigration(this.database, this.lanes, this.reemission, this.totals);
  readonly failures: unknown[] = [];
  readonly log = new PostgresEventLog(this.database, {
    lanes: this.lanes,
    log: (level, message) => {
      if (level === 'error' || level === 'warn') this.failures.push(message);
    },
  });
  private subscription: LogSubscription | null = null;

  /** Adds up guilds from here on, as a projector does. */
  async follow(): Promise<void> {
    const handler = new RecomputeGuildTotalsHandler(this.totals);
    const commands = { execute: (command: unknown) => handler.execute(command as never) } as unknown as CommandBus;
    const saga = new GuildSaga(commands, this.scopes);
    this.subscription = await this.log.consume('guild', ['entry-changed'], (batch) => saga.addUp(batch));
  }

  /** Resolves once everything that is committed has been added up, what that wrote included. */
  async settled(): Promise<void> {
    for (;;) {
      const lag = await this.log.lag('guild');
      if (lag.every(({ events }) => events === 0)) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  override async stop(): Promise<void> {
    await this.subscription?.stop();
    await this.log.close();
    await this.notifier.settled();
    await super.stop();
  }
}

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  Plans?: PlanNode[];
}

/** Runs statements, and lists every table that the planner would read from one end to the other for them. */
export async function tablesScanned(sql: SqlRunner, work: (sql: SqlRunner) => Promise<unknown>): Promise<string[]> {
  const scanned: string[] = [];
  const collect = (node: PlanNode): void => {
    if (node['Node Type'] === 'Seq Scan') scanned.push(node['Relation Name']!);
    for (const child of node.Plans ?? []) collect(child);
  };
  await work({
    query: async <Row>(statement: string, values: unknown[] = []): Promise<Row[]> => {
      const [row] = await sql.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
        `EXPLAIN (FORMAT JSON) ${statement}`,
        values,
      );
      collect(row!['QUERY PLAN'][0]!.Plan);
      return sql.query<Row>(statement, values);
    },
  });
  return scanned;
}
