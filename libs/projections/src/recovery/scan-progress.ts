import type { ScanReached } from '@laddercast/ledger';
import type { ScannedPage } from './ledger-scan.js';

type Place = Omit<ScanReached, 'proof'>;

/** Beyond every window. */
const THE_END: Place = { windowUid: 2 ** 31 - 1, isGuild: true, id: '' };

/** Knows how far a scan over windows is whose pages may end in another order than they began in. */
export class ScanProgress {
  private begun = 0;
  private ended = 0;
  private readonly early = new Map<number, Place>();

  /** @param place what an earlier scan reached; null: this is the first */
  constructor(public place: Place | null) {}

  /** After which row of the window the scan goes on; null: at its first, `done`: it is behind already. */
  after(windowUid: number): { isGuild: boolean; id: string } | null | 'done' {
    if (this.place === null || windowUid > this.place.windowUid) return null;
    return windowUid < this.place.windowUid ? 'done' : this.place;
  }

  /** A page is begun: its number. */
  begin(): number {
    this.begun += 1;
    return this.begun;
  }

  /** All rows of a page are written. */
  end(turn: number, windowUid: number, { isGuild, rows }: ScannedPage): void {
    const last = rows.at(-1);
    this.early.set(turn, last ? { windowUid, isGuild, id: last.id } : { windowUid, isGuild, id: '' });
    for (let next = this.early.get(this.ended + 1); next !== undefined; next = this.early.get(this.ended + 1)) {
      this.ended += 1;
      this.early.delete(this.ended);
      this.place = next;
    }
  }

  /** Every window is written. */
  finish(): void {
    this.place = THE_END;
  }
}
