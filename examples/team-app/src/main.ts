import { startService } from '@laddercast/leaderboard';
import { TrailModule } from './trail.module.js';

await startService({ name: 'trail', modules: [TrailModule] });
