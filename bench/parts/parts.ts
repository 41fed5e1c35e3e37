import type { Parts } from '../command-line/options.js';
import * as acts from './acts.js';
import * as batch from './batch.js';
import * as commits from './commits.js';
import * as games from './games.js';
import * as live from './live.js';
import * as memory from './memory.js';
import * as projection from './projection.js';
import * as ranks from './ranks.js';
import * as reads from './reads.js';
import * as retax from './retax.js';
import * as scale from './scale.js';
import * as scopes from './scopes.js';
import * as sockets from './sockets.js';
import * as startup from './startup.js';
import * as submit from './submit.js';
import * as watched from './watched.js';

/** What `npm run bench` measures, in this order. */
export const parts: Parts = {
  submit,
  batch,
  commits,
  scale,
  games,
  reads,
  projection,
  live,
  sockets,
  watched,
  startup,
  memory,
  ranks,
  scopes,
  retax,
  acts,
};
