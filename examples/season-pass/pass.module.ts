import { Module } from '@nestjs/common';
import { PassRegistry } from './pass-registry.js';

/** The team's own part of the world; it knows nothing of leaderboards. */
@Module({ providers: [PassRegistry], exports: [PassRegistry] })
export class PassModule {}
