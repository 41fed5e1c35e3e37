import {
  firstLayouts,
  firstVersions,
  versionBeyond,
  versionsAfter,
  withBoardDefaults,
  type StoredWindow,
} from '@laddercast/domain';
import type { EditionKind } from '@laddercast/ledger';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EMPTY_BOARD, MemoryList } from '../../test/snapshot-ports.js';
import { boardVersionOf } from './board-version.js';
import type { ResolvedList } from './list-resolver.js';

const STARTS_AT_MS = Date.UTC(2026, 10, 20);
const KEPT_MS = 600_000;

/** A reading of a season, as the resolver finds it at a time. */
function readingAt(
  resolved: ResolvedList,
  window: StoredWindow,
  kind: EditionKind | null,
  listVersion: number,
  atMs: number,
): number {
  const asOfMs = kind === 'frozen' ? window.freezeAtMs! : window.endsAtMs!;
  const edition = kind && { uid: 1, windowUid: window.uid, kind, asOfMs, version: 4711, number: 1 };
  const version = kind === 'frozen' ? versionBeyond(resolved.list, asOfMs) : listVersion;
  return boardVersionOf({ ...resolved, window, edition }, version, atMs);
}

describe('boardVersion', () => {
  it('of a season never falls, whatever its state and however late its first run was', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 64 }),
        fc.integer({ min: 0, max: 9_000 }),
        fc.integer({ min: 0, max: 600_000 }),
        fc.integer({ min: 0, max: 500 }),
        (shards, firstRunMs, recoveredMs, changes) => {
          const definition = withBoardDefaults({
            ...EMPTY_BOARD.definition,
            graceSeconds: 0,
            keepEndedSeconds: 600,
            sharding: { by: 'hash', count: shards },
          });
          const board = { ...EMPTY_BOARD, definition, layouts: firstLayouts(definition) };
          const { resolved } = new MemoryList(board);
          const [freezeAtMs, endsAtMs] = [STARTS_AT_MS + 5_000, STARTS_AT_MS + 10_000];
          const window: StoredWindow = { ...resolved.window, startsAtMs: STARTS_AT_MS, endsAtMs, freezeAtMs };
          // A counter begins with its first change, and anew when Redis lost it, beyond what it had by then.
          const counter = (atMs: number): number => {
            if (atMs < STARTS_AT_MS + firstRunMs) return 0;
            const lostMs = endsAtMs + recoveredMs;
            return versionBeyond(resolved.list, atMs < lostMs ? STARTS_AT_MS + firstRunMs : lostMs) + changes;
          };
          const seen: number[] = [];
          for (let atMs = STARTS_AT_MS; atMs < endsAtMs + KEPT_MS; atMs += 1_000) {
            const kind = atMs >= freezeAtMs && atMs < endsAtMs ? 'frozen' : null;
            seen.push(readingAt(resolved, window, kind, counter(atMs), atMs));
          }
          seen.push(readingAt(resolved, window, 'final', 0, endsAtMs + KEPT_MS));
          expect(seen).toEqual([...seen].sort((a, b) => a - b));
        },
      ),
    );
  });

  it('of kept standings is below that of the running list, so that a reader of both can go on to the present', () => {
    const { resolved } = new MemoryList(EMPTY_BOARD);
    const window: StoredWindow = { ...resolved.window, endsAtMs: STARTS_AT_MS };
    expect(readingAt(resolved, window, 'kept', 0, STARTS_AT_MS)).toBe(4711);
    expect(versionBeyond(new MemoryList(EMPTY_BOARD).resolved.list, STARTS_AT_MS)).toBeGreaterThan(4711);
  });

  it.each([
    ['after a freeze', STARTS_AT_MS + 5_000],
    ['long before its freeze', STARTS_AT_MS + 9_000_000],
  ])('of a season that ended %s is below all that is read of its name once its board was reset', (_, freezeAtMs) => {
    const { definition } = EMPTY_BOARD;
    const board = { ...EMPTY_BOARD, layouts: firstLayouts(definition, firstVersions(STARTS_AT_MS - 1_000)) };
    const { resolved } = new MemoryList(board);
    const endsAtMs = STARTS_AT_MS + 10_000;
    const window: StoredWindow = { ...resolved.window, startsAtMs: STARTS_AT_MS, endsAtMs, freezeAtMs };
    const ended = readingAt(resolved, window, null, versionBeyond(resolved.list, endsAtMs), endsAtMs);
    const { shards, versions } = resolved.list;
    expect(versionsAfter({ shards, versions }, endsAtMs, endsAtMs).base).toBeGreaterThanOrEqual(ended);
  });
});
