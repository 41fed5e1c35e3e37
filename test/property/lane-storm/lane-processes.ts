import { withBoardDefaults, type BoardDefinition } from '@laddercast/domain';
import { createTestDatabase, openTcpProxy, type TcpProxy, type TestDatabase } from '@laddercast/testing';
import { expect } from 'vitest';
import { LedgerNode } from '../../integration/nodes/ledger-node.js';

export const LANES = 2;
/** Sums, so that a run that is lost or counted twice is seen for ever. */
const BOARDS: Record<string, object> = {
  plain: { windows: ['alltime', 'daily'] },
  // Committed in two trips, with rows of more kinds.
  counted: { windows: ['alltime', { rolling: '24h' }], limits: { attemptsMax: 1_000_000 } },
};
export const BOARD_IDS = Object.keys(BOARDS);

/**
 * The ledgers of three processes: two own the lanes, and one hands everything over. Each reaches PostgreSQL, and each owner is
 * reached, through a proxy.
 */
export class LaneProcesses {
  readonly nodes: LedgerNode[] = [];
  readonly ways: { postgres: TcpProxy[]; owner: TcpProxy[] } = { postgres: [], owner: [] };

  private constructor(
    private readonly testDatabase: TestDatabase,
    /** What looks at everything, and is in nobody's way. */
    readonly plain: LedgerNode,
  ) {}

  static async begin(): Promise<LaneProcesses> {
    const testDatabase = await createTestDatabase();
    const processes = new LaneProcesses(testDatabase, new LedgerNode(testDatabase.url));
    await processes.start();
    return processes;
  }

  private async start(): Promise<void> {
    const { plain, nodes, ways } = this;
    await plain.start();
    for (const id of BOARD_IDS) await this.define(id);
    for (const owns of [true, true, false]) {
      const url = new URL(this.testDatabase.url);
      const proxy = await openTcpProxy(url.hostname, Number(url.port));
      url.port = String(proxy.port);
      const node = new LedgerNode(url.href);
      ways.postgres.push(proxy);
      nodes.push(node);
      await node.start();
      await node.ledger.start(owns);
    }
    const doors = await plain.database.query<{ holder: string; port: number }>('SELECT holder, port FROM lane_writers');
    for (const { holder, port } of doors) {
      const link = await openTcpProxy('127.0.0.1', port);
      ways.owner.push(link);
      await plain.database.query('UPDATE lane_writers SET port = $1 WHERE holder = $2', [link.port, holder]);
    }
    const ports = new Set(ways.owner.map(({ port }) => port));
    const byLinks = ({ owners, lanes }: LedgerNode): number =>
      lanes.all.filter((lane) => owners.own.includes(lane) || ports.has(owners.ownerOf(lane)?.port ?? 0)).length;
    for (const node of nodes) await expect.poll(() => byLinks(node), { interval: 50 }).toBe(LANES);
  }

  define(id: string, more: Partial<BoardDefinition> = {}): Promise<unknown> {
    const definition = { order: 'desc', operator: 'sum', ...BOARDS[id], ...more } as BoardDefinition;
    return this.plain.registry.put(id, withBoardDefaults(definition));
  }

  async end(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
    await this.plain.stop();
    await Promise.all([...this.ways.postgres, ...this.ways.owner].map((proxy) => proxy.close()));
    await this.testDatabase.drop();
  }
}
