import { LadderError } from '@laddercast/domain';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ReplicaWatch, type MasterGuard, type ReplicaFault, type ReplicaState } from './replica-watch.js';

const away = (): LadderError => new LadderError('PROJECTION_UNAVAILABLE', 'It does not answer.');

/** A server's memory at a place of its stream: how many changes its list shows, and the mark of the one lane. */
interface Held {
  shown: number;
  mark: number | null;
}

/** A master with its stream, a replica that follows it, and what PostgreSQL knows of the lane. */
class Servers {
  run = 'run 1';
  stream: Held[] = [{ shown: 0, mark: 0 }];
  committed = 0;
  /** The most that was ever shown. */
  most = 0;
  /** What was read there or on a replica, as shards count it; and what may not be less on a replica: see ShardCounters. */
  readFromMaster = 0;
  leastOfReplica = 0;
  isMasterThere = true;
  isReplicaThere = true;
  isWhole = true;
  replica = { run: this.run, stream: this.stream, offset: 0 };

  get held(): Held {
    return this.stream.at(-1)!;
  }

  get shownByReplica(): number {
    return this.replica.stream[this.replica.offset]!.shown;
  }

  /** A change, and its mark; where the marks are behind no mark is moved. */
  write(): void {
    const { mark } = this.held;
    const shown = this.held.shown + 1;
    this.most = Math.max(this.most, shown);
    this.stream.push({ shown, mark });
    if ((mark ?? -1) < this.committed) return;
    this.stream.push({ shown, mark: shown });
    this.committed = shown;
  }

  /** The replica applies so much more of the stream that it follows. */
  replicate(changes = Infinity): void {
    const { replica } = this;
    replica.offset = Math.min(replica.stream.length - 1, replica.offset + changes);
  }

  follow(offset = this.stream.length - 1): void {
    this.replica = { run: this.run, stream: this.stream, offset };
  }

  /** FLUSHALL: its replicas are told of it. */
  flush(): void {
    this.stream.push({ shown: 0, mark: null });
  }

  /** Another master, which has lost so much of the end of the stream. */
  failOver(lost: number): void {
    this.run = `run ${Number(this.run.slice(4)) + 1}`;
    this.stream = this.stream.slice(0, Math.max(1, this.stream.length - lost));
  }

  /** What is missing comes back from PostgreSQL, and counts anew, beyond what was lost. */
  recover(): void {
    const shown = this.most + 1;
    this.most = shown;
    this.committed = shown;
    this.stream.push({ shown, mark: this.held.mark }, { shown, mark: shown });
    this.isWhole = true;
  }

  readonly place = async () => {
    if (!this.isMasterThere) throw away();
    return { run: this.run, offset: this.stream.length - 1 };
  };

  readonly state = async (): Promise<ReplicaState> => {
    if (!this.isReplicaThere) throw away();
    const { run, stream, offset } = this.replica;
    return { run, offset, marks: [stream[offset]!.mark] };
  };

  readonly guard: MasterGuard = (() => {
    const servers = this as Servers;
    return {
      get positions() {
        return [servers.committed];
      },
      assertWhole() {
        if (!servers.isWhole) throw away();
      },
      async prove() {
        if (!servers.isMasterThere) throw away();
        if ((servers.held.mark ?? 0) < servers.committed) servers.isWhole = false;
        servers.guard.assertWhole();
      },
    };
  })();
}

let servers: Servers;
let watch: ReplicaWatch;
let told: (ReplicaFault | null)[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'], now: 1_000_000 });
  begin();
});
afterEach(() => {
  vi.useRealTimers();
});

function begin(): void {
  servers = new Servers();
  told = [];
  watch = new ReplicaWatch(servers.place, servers.state, servers.guard, {
    onChange: (fault) => told.push(fault),
    onAnew: () => (servers.leastOfReplica = Math.max(servers.leastOfReplica, servers.readFromMaster)),
  });
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
/** What the replica shows; null where it is not to be read. */
const read = (sinceMs = -Infinity) => watch.read(sinceMs, async () => servers.shownByReplica);

describe('a replica that is read', () => {
  it('says as of when it is at least: the last look at the master whose place it has reached', async () => {
    servers.write();
    servers.replicate();
    await watch.sample();
    const firstMs = Date.now();
    await pass(500);
    servers.write();
    await watch.sample();
    const asOf: number[] = [];
    const note = async (ms: number): Promise<number> => asOf.push(ms);
    await watch.read(-Infinity, note);
    servers.replicate();
    await watch.read(-Infinity, note);
    expect(asOf).toEqual([firstMs, firstMs + 500]);
  });

  it('is asked for nothing that the master had later', async () => {
    servers.replicate();
    await watch.sample();
    const sinceMs = performance.now() + 1;
    expect(await read(sinceMs)).toBeNull();
    await pass(500);
    await watch.sample();
    expect(await read(sinceMs)).toBe(0);
  });

  it('is not read before anything is known of its master, nor while that is not whole', async () => {
    expect(await read()).toBeNull();
    await watch.sample();
    expect(await read()).toBe(0);
    servers.isWhole = false;
    expect(await read()).toBeNull();
    await watch.sample();
    servers.isWhole = true;
    expect(await read()).toBeNull();
    await watch.sample();
    expect(await read()).toBe(0);
  });

  it('goes on where the master is away, and stays as of when it was seen last', async () => {
    servers.write();
    servers.replicate();
    await watch.sample();
    const seenMs = Date.now();
    servers.isMasterThere = false;
    for (let looks = 0; looks < 200; looks += 1) {
      await pass(500);
      await watch.sample();
    }
    expect(await watch.read(-Infinity, async (asOfMs) => asOfMs)).toBe(seenMs);
  });

  it('is behind when no look at the master of the last minute is as old as what it has', async () => {
    await watch.sample();
    for (let looks = 0; looks < 120; looks += 1) {
      expect(await read(), `look ${looks}`).toBe(0);
      await pass(500);
      servers.write();
      await watch.sample();
    }
    expect(await read()).toBeNull();
    expect(told.at(-1)).toBe('behind');
    servers.replicate();
    expect(await read()).toBe(120);
    expect(told).toEqual([null, 'behind', null]);
  });

  it('is not read under another run than that of the master, from whichever side that begins', async () => {
    servers.write();
    servers.replicate();
    await watch.sample();
    expect(await read()).toBe(1);
    servers.failOver(0);
    await watch.sample();
    expect(await read()).toBeNull();
    expect(told.at(-1)).toBe('another run');
    servers.follow();
    expect(await read()).toBe(1);
    servers.failOver(0);
    servers.follow();
    expect(await read()).toBeNull();
    await watch.sample();
    expect(await read()).toBe(1);
  });

  it('is not read with less than it had shown, also of the same run', async () => {
    servers.write();
    await watch.sample();
    servers.write();
    servers.replicate();
    expect(await read()).toBe(2);
    servers.follow(2);
    expect(await read()).toBeNull();
    servers.replicate();
    expect(await read()).toBe(2);
  });

  it('is not read once it has heard of a loss, before anybody has noticed that', async () => {
    servers.write();
    servers.replicate();
    await watch.sample();
    servers.flush();
    servers.replicate();
    expect(servers.isWhole).toBe(true);
    expect(await read()).toBeNull();
    expect(told.at(-1)).toBe('lost');
  });

  it('is not read where the mark of a lane is gone in which nothing was applied yet', async () => {
    await watch.sample();
    servers.flush();
    servers.replicate();
    expect(await read()).toBeNull();
    expect(told.at(-1)).toBe('lost');
  });

  it('counts no reading during which it lost something, or changed its master', async () => {
    servers.write();
    servers.replicate();
    await watch.sample();
    const during = (happens: () => void) =>
      watch.read(-Infinity, async () => {
        happens();
        return servers.shownByReplica;
      });
    expect(
      await during(() => {
        servers.flush();
        servers.replicate();
      }),
    ).toBeNull();
    begin();
    servers.write();
    servers.replicate();
    await watch.sample();
    expect(
      await during(() => {
        servers.failOver(0);
        servers.follow();
      }),
    ).toBeNull();
  });

  it('that does not answer holds nobody up for a second afterwards', async () => {
    let asked = 0;
    const counted = () => {
      asked += 1;
      return servers.state();
    };
    watch = new ReplicaWatch(servers.place, counted, servers.guard);
    await watch.sample();
    servers.isReplicaThere = false;
    expect(await read()).toBeNull();
    servers.isReplicaThere = true;
    await pass(990);
    expect(await read()).toBeNull();
    expect(asked).toBe(1);
    await pass(20);
    expect(await read()).toBe(0);
  });

  it('passes on what is no fault of the replica, and reads on', async () => {
    await watch.sample();
    const refusal = new LadderError('RANK_STYLE_NOT_KEPT', 'Dense ranks are not kept.');
    await expect(watch.read(-Infinity, () => Promise.reject(refusal))).rejects.toBe(refusal);
    expect(await watch.read(-Infinity, () => Promise.reject(away()))).toBeNull();
    expect(await read()).toBe(0);
  });
});

/** What happens between two readings. */
const anyStep = fc.oneof(
  { weight: 6, arbitrary: fc.constant('write' as const) },
  { weight: 6, arbitrary: fc.nat(6).map((changes) => ({ changes })) },
  { weight: 6, arbitrary: fc.constant('look' as const) },
  { weight: 3, arbitrary: fc.constantFrom('master', 'recover') },
  { weight: 1, arbitrary: fc.nat(8).map((back) => ({ back })) },
  { weight: 1, arbitrary: fc.nat(8).map((lost) => ({ lost })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('flush', 'follow', 'master away', 'master back', 'replica away', 'replica back'),
  },
);

describe('whatever happens to a master and its replica', () => {
  it('nobody is shown less than before, or a part of a list', async () => {
    let ofReplica = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 20, maxLength: 80 }), async (steps) => {
        begin();
        let shown = 0;
        let fromMasterMs = -Infinity;
        const committedAt = new Map<number, number>();
        for (const step of steps) {
          await pass(1);
          if (step === 'look') committedAt.set(Date.now(), servers.committed);
          await happen(step);
          const near = await watch.read(fromMasterMs, async (asOfMs) => {
            // All that was known to be applied by then.
            expect(servers.shownByReplica).toBeGreaterThanOrEqual(committedAt.get(asOfMs)!);
            if (servers.shownByReplica < servers.leastOfReplica) throw away();
            servers.leastOfReplica = servers.shownByReplica;
            servers.readFromMaster = Math.max(servers.readFromMaster, servers.shownByReplica);
            return servers.shownByReplica;
          });
          if (near !== null) ofReplica += 1;
          if (step === 'master' && near === null && servers.isMasterThere) {
            await servers.guard.prove().catch(() => undefined);
            // Less than was read there before is a loss, too.
            if (servers.held.shown < servers.readFromMaster) servers.isWhole = false;
            if (servers.isWhole) {
              expect(servers.held.shown).toBeGreaterThanOrEqual(shown);
              shown = servers.held.shown;
              servers.readFromMaster = shown;
              await pass(1);
              fromMasterMs = performance.now();
            }
          }
          if (near === null) continue;
          expect(near).toBeGreaterThanOrEqual(shown);
          shown = near;
        }
      }),
      { numRuns: 500 },
    );
    expect(ofReplica).toBeGreaterThan(1000);
  });
});

async function happen(step: typeof anyStep extends fc.Arbitrary<infer Step> ? Step : never): Promise<void> {
  if (typeof step === 'object') {
    if ('changes' in step) return servers.replicate(step.changes);
    if ('back' in step) return servers.follow(Math.max(0, servers.stream.length - 1 - step.back));
    return servers.failOver(step.lost);
  }
  if (step === 'look') return watch.sample();
  if (step === 'write' && servers.isWhole) return servers.write();
  if (step === 'recover') {
    await servers.guard.prove().catch(() => undefined);
    if (!servers.isWhole) servers.recover();
  }
  if (step === 'flush') servers.flush();
  if (step === 'follow') servers.follow();
  if (step.startsWith('master ')) servers.isMasterThere = step === 'master back';
  if (step.startsWith('replica ')) servers.isReplicaThere = step === 'replica back';
}
