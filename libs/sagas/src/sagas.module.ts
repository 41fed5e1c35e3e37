import { EventLogProjectorModule } from '@laddercast/event-log';
import { LedgerModule } from '@laddercast/ledger';
import { ProjectionsModule } from '@laddercast/projections';
import { Module } from '@nestjs/common';
import { SagaServer } from './saga-server.js';
import { sagas } from './sagas.js';
import { TeamSagas } from './team-sagas.js';

/** The sagas, and the server that runs them. */
@Module({
  imports: [LedgerModule, EventLogProjectorModule, ProjectionsModule],
  controllers: [...sagas],
  providers: [SagaServer, TeamSagas],
  exports: [SagaServer],
})
export class SagasModule {}
