import type { LedgerEntry, SqlRunner } from '@laddercast/ledger';

/** Players' own entries in a table of the test's own, as the ledger answers them: in whatever window they are asked for. */
export class TestOwnEntries implements SqlRunner {
  readonly entries = new Map<string, LedgerEntry>();

  async query<Row>(_sql: string, [, players]: readonly unknown[] = []): Promise<Row[]> {
    return (players as string[]).flatMap((playerId, index) => {
      const entry = this.entries.get(playerId);
      return entry ? [{ at: index + 1, playerId, ...entry } as Row] : [];
    });
  }
}
