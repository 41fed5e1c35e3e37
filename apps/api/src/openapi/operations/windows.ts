import { ExportParameters, PageParameters, WindowsParameters } from '../../http/parameters.js';
import type { OperationDescription } from '../describe-operation.js';
import { CACHE_HEADERS, NOT_MODIFIED } from './ranks.js';

const running = {
  id: 'daily:2026-11-20',
  kind: 'daily',
  state: 'running',
  startsAt: '2026-11-20T00:00:00.000Z',
  endsAt: '2026-11-21T00:00:00.000Z',
  resetsAt: '2026-11-21T00:00:00.000Z',
  freezeAt: null,
  isFrozen: false,
  version: null,
  entries: null,
};
const settled = {
  ...running,
  id: 'daily:2026-11-19',
  state: 'settled',
  startsAt: '2026-11-19T00:00:00.000Z',
  endsAt: '2026-11-20T00:00:00.000Z',
  resetsAt: null,
  version: 48213,
  entries: 1042,
};
const exported = {
  rank: 17,
  ordinal: 17,
  playerId: 'ada',
  displayName: 'Ada',
  score: 1520,
  columns: { moves: 31 },
  achievedAt: '2026-11-20T18:00:00.000Z',
  scopes: ['region:EU'],
  metadata: { replay: 'r-77' },
};

export const WINDOWS = {
  getWindows: {
    tag: 'Boards',
    summary: 'List the windows of a board',
    description:
      'Running ones in the order of the definition, then seasons to come, then ended ones, the last to end first. A window that ' +
      'has ended is `ended` while late runs may still enter it and until its final standings are written, then `settled`; a ' +
      'window that nobody ever used is not kept.',
    callers: 'reader',
    query: WindowsParameters,
    headers: ['If-None-Match'],
    answers: {
      200: {
        description: 'One page.',
        schema: 'WindowsPage',
        headers: CACHE_HEADERS,
        example: { board: 'blitz', windows: [running, settled], next: 'ended:1795132800000000.17' },
      },
      304: NOT_MODIFIED,
    },
    errors: ['FORBIDDEN', 'BOARD_NOT_FOUND'],
  },
  getEditions: {
    tag: 'Boards',
    summary: 'List the editions of an ended window',
    description:
      'Final standings never change: an act that voids or restores a run, or takes a player out of the ranks, makes the next ' +
      'edition within 60 s, and reads answer from it. The newest first; the first one of the window has no acts. `reason` and ' +
      '`acts` (of the audit log) are for keys with the scope moderate.',
    callers: 'reader',
    query: PageParameters,
    headers: ['If-None-Match'],
    answers: {
      200: {
        description: 'One page.',
        schema: 'EditionsPage',
        headers: CACHE_HEADERS,
        example: {
          board: 'blitz',
          window: {
            ...{ id: 'daily:2026-11-19', startsAt: '2026-11-19T00:00:00.000Z', endsAt: '2026-11-20T00:00:00.000Z' },
            ...{ resetsAt: null, edition: 2 },
          },
          editions: [
            { edition: 2, at: '2026-11-20T18:00:04.120Z', reason: 'score by a modified client', acts: [4711] },
            { edition: 1, at: '2026-11-20T00:00:00.310Z', reason: null, acts: [] },
          ],
          next: null,
        },
      },
      304: NOT_MODIFIED,
    },
    errors: [
      'FORBIDDEN',
      'BOARD_NOT_FOUND',
      'WINDOW_NOT_FOUND',
      'EDITION_NOT_FOUND',
      'SNAPSHOT_GONE',
      'PROJECTION_BEHIND',
    ],
  },
  exportWindow: {
    tag: 'Boards',
    summary: 'Read a whole list as a file',
    description:
      'Every entry of a window, or of one scope of it, the best first, as it was at one moment: of an ended window its final ' +
      'standings, of a running one what is durable when the export begins. CSV is that of RFC 4180 with a header, lines ending ' +
      'in CRLF: `rank` (in the style of the board), `ordinal`, `playerId`, `displayName`, `score`, one `columns.<name>` for each ' +
      'column of the board, `achievedAt`, `scopes` (a JSON array), `metadata` (JSON), on boards that keep runs `verified`, and ' +
      '`proof` where everyone sees it; null is empty. Text is written ' +
      'as it was submitted; with `guard=formulas`, for spreadsheets, text that begins with `=`, `+`, `-`, `@`, a tab or a ' +
      'carriage return gets a single quote before it, and numbers never do. NDJSON has one object a line. Players who are not listed are left out for all but ' +
      'admins; the ranks of the others stay. A window that is frozen is written as it stood then, but for admins. A file that ' +
      'breaks off ends without the last chunk of its transfer coding. A process writes four files at a time, one of them for ' +
      'callers without identity; 503 beyond that. Of a window that is settled there are no lists of patches: `scope=patch:…` is 422 ' +
      '`NOT_SUPPORTED` there.',
    callers: 'reader',
    query: ExportParameters,
    answers: {
      200: {
        description: 'The file.',
        headers: ['Content-Disposition', 'Cache-Control', 'Vary'],
        text: {
          'text/csv':
            'rank,ordinal,playerId,displayName,score,columns.moves,achievedAt,scopes,metadata\r\n' +
            '17,17,ada,Ada,1520,31,2026-11-20T18:00:00.000Z,"[""region:EU""]","{""replay"":""r-77""}"\r\n',
          'application/x-ndjson': `${JSON.stringify(exported)}\n`,
        },
      },
    },
    errors: [
      'FORBIDDEN',
      'BOARD_NOT_FOUND',
      'WINDOW_NOT_FOUND',
      'SCOPE_NOT_FOUND',
      'SNAPSHOT_GONE',
      'EDITION_NOT_FOUND',
      'NOT_SUPPORTED',
      'OVERLOADED',
      'PROJECTION_BEHIND',
    ],
    errorsAt: { 404: ['PATCH_UNKNOWN'] },
  },
} satisfies Record<string, OperationDescription>;
