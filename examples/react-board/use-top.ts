import { useCallback, useRef, useSyncExternalStore } from 'react';
import type { LadderBoard, LadderProblem, LiveList, TopOptions, Watch } from '@laddercast/client';

/** What a component shows: the list, null before the first; and why it has ended, if it has. */
export interface Top {
  list: LiveList | null;
  problem: LadderProblem | null;
}

const NOTHING: Top = { list: null, problem: null };

/**
 * The first places of a board, live. Between two deltas every call gives the same object, and rows that did not change are
 * the same objects as before: `memo` keeps them from being drawn again.
 * @param board the same object in each call, as from `useMemo`
 */
export function useTop(board: LadderBoard, { limit, window, scope, rankStyle }: TopOptions = {}): Top {
  const shown = useRef<Top>(NOTHING);
  const subscribe = useCallback(
    (changed: () => void) => {
      const show = (top: Top): void => {
        shown.current = top;
        changed();
      };
      if (shown.current !== NOTHING) show(NOTHING);
      const onProblem = (problem: LadderProblem, { fatal }: { fatal: boolean }): void => {
        if (fatal) show({ ...shown.current, problem });
      };
      const watch: Watch = board.watchTop({ limit, window, scope, rankStyle, onProblem }, (list) =>
        show({ list, problem: null }),
      );
      return () => watch.close();
    },
    [board, limit, window, scope, rankStyle],
  );
  return useSyncExternalStore(
    subscribe,
    () => shown.current,
    () => NOTHING,
  );
}
