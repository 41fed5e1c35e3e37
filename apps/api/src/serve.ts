import 'reflect-metadata';
import { startApp, LeaderboardModule } from '@laddercast/leaderboard';
import { Module } from '@nestjs/common';
import { ApiModule } from './api.module.js';
import { prepareHttp } from './http/prepare-http.js';

const roles = ['api'] as const;

await startApp({
  name: 'api',
  roles,
  module: (environment) => {
    @Module({ imports: [LeaderboardModule.forRoot({ environment, roles }), ApiModule] })
    class ApiApp {}
    return ApiApp;
  },
  prepare: prepareHttp,
});
