import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A Lua file of `lua/`, ready to be called by its hash. */
export interface RedisScript {
  name: string;
  body: string;
  sha1: string;
  /** The keys that its header declares; `more` when any number of them may follow. */
  keys: { count: number; more: boolean };
}

/** One call of a script. All keys lie in one slot. */
export interface ScriptCall {
  script: RedisScript;
  keys: string[];
  arguments: (string | number | Buffer)[];
}

const LUA_FOLDER = new URL('./lua/', import.meta.url);
const INCLUDE = /^-- include ([a-z-]+)$/gm;
const DECLARED_KEY = /^-- KEYS\[(\d+)(\.\.\.)?\] /gm;

/** The text of a Lua file with its includes in place. The header's lines are its contract: `KEYS[n]`, `ARGV[n]`, returns. */
export function readScriptText(name: string): string {
  const text = readFileSync(new URL(`${name}.lua`, LUA_FOLDER), 'utf8');
  return text.replace(INCLUDE, (_line, include: string) =>
    readFileSync(new URL(`include/${include}.lua`, LUA_FOLDER), 'utf8').trimEnd(),
  );
}

function loadScript(name: string): RedisScript {
  const body = readScriptText(name);
  const declared = [...body.matchAll(DECLARED_KEY)];
  const more = declared.some(([, , ellipsis]) => ellipsis !== undefined);
  return {
    name,
    body,
    sha1: createHash('sha1').update(body).digest('hex'),
    keys: { count: declared.length - (more ? 1 : 0), more },
  };
}

/** Every script of the projection, one atomic step each. */
export const redisScripts = {
  advanceMark: loadScript('advance-mark'),
  applyEntries: loadScript('apply-entries'),
  checkEntries: loadScript('check-entries'),
  closeCheckpoint: loadScript('close-checkpoint'),
  countBetter: loadScript('count-better'),
  countCheckpoint: loadScript('count-checkpoint'),
  countCheckpointValues: loadScript('count-checkpoint-values'),
  countWithoutPlayer: loadScript('count-without-player'),
  dropCounter: loadScript('drop-counter'),
  extendExpiry: loadScript('extend-expiry'),
  forgetPlayer: loadScript('forget-player'),
  leaseTokens: loadScript('lease-tokens'),
  moveShard: loadScript('move-shard'),
  noteParts: loadScript('note-parts'),
  openCheckpoint: loadScript('open-checkpoint'),
  publishSketch: loadScript('publish-sketch'),
  publishSnapshot: loadScript('publish-snapshot'),
  rangeAcknowledge: loadScript('range-acknowledge'),
  rangeAround: loadScript('range-around'),
  rangeBegin: loadScript('range-begin'),
  rangeClaim: loadScript('range-claim'),
  rangeCount: loadScript('range-count'),
  rangeEpoch: loadScript('range-epoch'),
  rangePending: loadScript('range-pending'),
  rangePlaces: loadScript('range-places'),
  rangeRestore: loadScript('range-restore'),
  rangeRows: loadScript('range-rows'),
  rangeSettle: loadScript('range-settle'),
  rangeWrite: loadScript('range-write'),
  readAround: loadScript('read-around'),
  readCheckpointPlayer: loadScript('read-checkpoint-player'),
  readCheckpointRows: loadScript('read-checkpoint-rows'),
  readDeltas: loadScript('read-deltas'),
  readEntries: loadScript('read-entries'),
  readKeys: loadScript('read-keys'),
  readMarks: loadScript('read-marks'),
  readPlayers: loadScript('read-players'),
  readRows: loadScript('read-rows'),
  removeStrays: loadScript('remove-strays'),
  restoreCounter: loadScript('restore-counter'),
  restoreValues: loadScript('restore-values'),
  retireShard: loadScript('retire-shard'),
} as const;

/**
 * A call of a script.
 * @throws Error when the number of keys is not what the script's header declares
 */
export function callOf(script: RedisScript, keys: string[], args: ScriptCall['arguments']): ScriptCall {
  const { count, more } = script.keys;
  if (more ? keys.length < count : keys.length !== count) {
    throw new Error(`${script.name}.lua takes ${count}${more ? ' or more' : ''} keys, not ${keys.length}.`);
  }
  return { script, keys, arguments: args };
}
