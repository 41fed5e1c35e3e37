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

const LUA_FOLDER = new URL('../lua/', import.meta.url);
const INCLUDE = /^-- include ([a-z-]+)$/gm;
const DECLARED_KEY = /^-- KEYS\[(\d+)(\.\.\.)?\] /gm;

/** The text of a Lua file with its includes in place. The header's lines are its contract: `KEYS[n]`, `ARGV[n]`, returns. */
export function readScriptText(path: string): string {
  const text = readFileSync(new URL(`${path}.lua`, LUA_FOLDER), 'utf8');
  return text.replace(INCLUDE, (_line, include: string) =>
    readFileSync(new URL(`include/${include}.lua`, LUA_FOLDER), 'utf8').trimEnd(),
  );
}

/** @param path its folder in `lua/`, and its name */
function loadScript(path: string): RedisScript {
  const body = readScriptText(path);
  const declared = [...body.matchAll(DECLARED_KEY)];
  const more = declared.some(([, , ellipsis]) => ellipsis !== undefined);
  return {
    name: path.slice(path.lastIndexOf('/') + 1),
    body,
    sha1: createHash('sha1').update(body).digest('hex'),
    keys: { count: declared.length - (more ? 1 : 0), more },
  };
}

/** Every script of the projection, one atomic step each. */
export const redisScripts = {
  advanceMark: loadScript('shard/advance-mark'),
  applyEntries: loadScript('shard/apply-entries'),
  checkEntries: loadScript('shard/check-entries'),
  closeCheckpoint: loadScript('checkpoint/close-checkpoint'),
  countBetter: loadScript('shard/count-better'),
  countCheckpoint: loadScript('checkpoint/count-checkpoint'),
  countCheckpointValues: loadScript('checkpoint/count-checkpoint-values'),
  countWithoutPlayer: loadScript('shard/count-without-player'),
  dropCounter: loadScript('shard/drop-counter'),
  extendExpiry: loadScript('shard/extend-expiry'),
  forgetPlayer: loadScript('shard/forget-player'),
  leaseTokens: loadScript('live/lease-tokens'),
  moveShard: loadScript('repair/move-shard'),
  openCheckpoint: loadScript('checkpoint/open-checkpoint'),
  publishSketch: loadScript('live/publish-sketch'),
  publishSnapshot: loadScript('live/publish-snapshot'),
  rangeAcknowledge: loadScript('range/range-acknowledge'),
  rangeAround: loadScript('range/range-around'),
  rangeBegin: loadScript('range/range-begin'),
  rangeClaim: loadScript('range/range-claim'),
  rangeCount: loadScript('range/range-count'),
  rangeEpoch: loadScript('range/range-epoch'),
  rangePending: loadScript('range/range-pending'),
  rangePlaces: loadScript('range/range-places'),
  rangeRestore: loadScript('range/range-restore'),
  rangeRows: loadScript('range/range-rows'),
  rangeSettle: loadScript('range/range-settle'),
  rangeWrite: loadScript('range/range-write'),
  readAround: loadScript('shard/read-around'),
  readCheckpointPlayer: loadScript('checkpoint/read-checkpoint-player'),
  readCheckpointRows: loadScript('checkpoint/read-checkpoint-rows'),
  readDeltas: loadScript('live/read-deltas'),
  readEntries: loadScript('shard/read-entries'),
  readKeys: loadScript('shard/read-keys'),
  readMarks: loadScript('shard/read-marks'),
  readPlayers: loadScript('shard/read-players'),
  readRows: loadScript('shard/read-rows'),
  removeStrays: loadScript('repair/remove-strays'),
  restoreCounter: loadScript('repair/restore-counter'),
  restoreValues: loadScript('repair/restore-values'),
  retireShard: loadScript('shard/retire-shard'),
  takeNumber: loadScript('live/take-number'),
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
