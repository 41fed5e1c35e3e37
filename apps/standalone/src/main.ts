import 'reflect-metadata';
import { LeaderboardModule, startApp } from '@laddercast/leaderboard';
import { Module } from '@nestjs/common';
import { ApiModule } from '../../api/src/api.module.js';
import { prepareHttp } from '../../api/src/http/prepare-http.js';
import { servePage } from './serve-page.js';

const roles = ['api', 'projector', 'gateway'] as const;

await startApp({
  name: 'standalone',
  roles,
  module: (environment) => {
    @Module({ imports: [LeaderboardModule.forRoot({ environment, roles }), ApiModule] })
    class StandaloneApp {}
    return StandaloneApp;
  },
  prepare: async (app) => {
    prepareHttp(app);
    await servePage(app);
  },
});
