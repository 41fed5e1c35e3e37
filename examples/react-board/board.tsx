import { memo, useMemo } from 'react';
import { formatScore, type Entry, type Ladder, type ScoreFormat } from '@laddercast/client';
import { useTop } from './use-top.js';

/** How often rows were drawn: the test looks at it. */
export const drawn = { rows: 0 };

const Row = memo(function Row({ entry, format }: { entry: Entry; format: ScoreFormat }) {
  drawn.rows += 1;
  return (
    <tr data-player={entry.playerId}>
      <td>{entry.rank}</td>
      <td>{entry.displayName ?? entry.playerId}</td>
      <td>{formatScore(format, entry.score, 'en')}</td>
    </tr>
  );
});

/** A live top ten. What players are called is text, never markup. */
export function Board({ ladder, id, format }: { ladder: Ladder; id: string; format: ScoreFormat }) {
  const board = useMemo(() => ladder.board(id), [ladder, id]);
  const { list, problem } = useTop(board, { limit: 10 });
  if (problem) return <p role="alert">{problem.message}</p>;
  if (list === null) return <p>…</p>;
  return (
    <table>
      <caption>{list.total} players</caption>
      <tbody>
        {list.entries.map((entry) => (
          <Row key={entry.entryId ?? entry.playerId} entry={entry} format={format} />
        ))}
      </tbody>
    </table>
  );
}
