import type { INestApplicationContext } from '@nestjs/common';
import type { Role } from '../roles.js';
import { MetricsCollection } from './metrics-collection.js';
import { MetricsKeeper } from './metrics-keeper.js';
import { MetricsServer } from './metrics-server.js';
import { sourcesOfProcess } from './metrics-sources.js';

/** What a process says at `GET /metrics`: of itself, and in turn with the others of the installation. */
export class ProcessMetrics {
  /** null in a gateway, which opens neither the ledger nor the log. */
  private readonly keeper: MetricsKeeper | null;
  private readonly server: MetricsServer;

  constructor(app: INestApplicationContext, roles: readonly Role[]) {
    this.keeper = roles.includes('api') || roles.includes('projector') ? new MetricsKeeper(app) : null;
    this.server = new MetricsServer(
      new MetricsCollection([...sourcesOfProcess(app, roles), ...(this.keeper?.sources ?? [])]),
    );
  }

  /** To be called once the application is initialised. */
  start(): void {
    this.keeper?.start();
  }

  /** @returns the port that it listens on, which is chosen where 0 was asked for */
  listen(port: number, host: string): Promise<number> {
    return this.server.listen(port, host);
  }

  async stop(): Promise<void> {
    await Promise.all([this.server.close(), this.keeper?.stop()]);
  }
}
