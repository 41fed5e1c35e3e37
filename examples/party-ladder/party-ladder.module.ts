import { LeaderboardModule } from '@laddercast/leaderboard';
import { Module } from '@nestjs/common';
import { partyPoints } from './party-points.js';

/** Rating pools of party games: everything that this team adds to the service. */
@Module({ imports: [LeaderboardModule.forFeature({ ratingAlgorithms: [partyPoints] })] })
export class PartyLadderModule {}
