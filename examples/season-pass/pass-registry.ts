import { Injectable } from '@nestjs/common';

/** Somebody who bought a season pass. */
export interface PassHolder {
  playerId: string;
  /** The name of the holder's captain: what the board shows. */
  captain: string;
}

/** The passes that were sold. In memory here; a real one asks the shop. */
@Injectable()
export class PassRegistry {
  private readonly holders = new Map<string, PassHolder>();
  private readonly used = new Set<string>();

  sell(holder: PassHolder): void {
    this.holders.set(holder.playerId, holder);
  }

  /** Whoever holds no pass is not noted. */
  async noteUse(playerId: string): Promise<void> {
    if (this.holders.has(playerId)) this.used.add(playerId);
  }

  async hasUsed(playerId: string): Promise<boolean> {
    return this.used.has(playerId);
  }

  async holderOf(playerId: string): Promise<PassHolder | undefined> {
    return this.holders.get(playerId);
  }
}
