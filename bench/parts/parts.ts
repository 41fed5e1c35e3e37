import * as batch from './batch.js';
import * as live from './live.js';
import * as memory from './memory.js';
import * as projection from './projection.js';
import * as ranks from './ranks.js';
import * as reads from './reads.js';
import * as scopes from './scopes.js';
import * as sockets from './sockets.js';
import * as startup from './startup.js';
import * as submit from './submit.js';
import * as watched from './watched.js';

/**
 * What `npm run bench` measures, in this order. A part exports
 * - `description`: one line of the help,
 * - `options`: those of its own, `{ name: { type: 'string' | 'boolean', help, default?, parse?(text) } }`; parts may share one,
 * - `logs`: the logs it is measured with when none is asked for; `['postgres']` when it exports none,
 * - `onlyByName`: true when it is left out of a run of all parts,
 * - `oneApiProcess`: true when it looks into one api process, and takes no `--api-processes`,
 * - `run(context)`: measures, and returns the text of its tables.
 *
 * The context is `{ service, installation, database, end() }` of `startInstallation`, freshly started on empty services;
 * `step(text)`, `options` (values by name), `rounds`, `keep(figures)` for `--json`, and `renew(settings?)`, which starts
 * everything anew from a clean state and resolves with the new context.
 */
export const parts = { submit, batch, reads, projection, live, sockets, watched, startup, memory, ranks, scopes };
