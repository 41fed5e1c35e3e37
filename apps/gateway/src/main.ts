import 'reflect-metadata';
import { LeaderboardModule, startApp } from '@laddercast/leaderboard';
import { Module } from '@nestjs/common';

const roles = ['gateway'] as const;

await startApp({
  name: 'gateway',
  roles,
  module: (environment) => {
    @Module({ imports: [LeaderboardModule.forRoot({ environment, roles })] })
    class GatewayApp {}
    return GatewayApp;
  },
});
