import 'reflect-metadata';
import { LeaderboardModule, startApp } from '@laddercast/leaderboard';
import { Module } from '@nestjs/common';

const roles = ['projector'] as const;

await startApp({
  name: 'projector',
  roles,
  module: (environment) => {
    @Module({ imports: [LeaderboardModule.forRoot({ environment, roles })] })
    class ProjectorApp {}
    return ProjectorApp;
  },
});
