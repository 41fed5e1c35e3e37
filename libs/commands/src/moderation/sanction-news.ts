import { inTime } from '@laddercast/platform';
import { Announcements } from '@laddercast/projections';
import { Injectable } from '@nestjs/common';

const WITHIN_MS = 500;

/** Tells all processes of a sanction as soon as it is committed, so that none goes by the one before. */
@Injectable()
export class SanctionNews {
  constructor(private readonly announcements: Announcements) {}

  /** Never fails: where Redis is away the log tells them, as it does anyway. */
  async tell(playerId: string): Promise<void> {
    const announced = this.announcements.announce({
      kind: 'players',
      ids: [playerId],
      isGuild: false,
      ofSanctions: true,
    });
    await inTime(announced, WITHIN_MS, 'Redis does not answer').catch(() => undefined);
  }
}
