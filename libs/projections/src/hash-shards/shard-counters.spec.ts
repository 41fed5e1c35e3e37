import { beforeEach, describe, expect, it } from 'vitest';
import { CountersOfReplica, ShardCounters } from './shard-counters.js';

describe('the counters of shards that were read', () => {
  let ofMaster: ShardCounters;
  let ofReplica: CountersOfReplica;

  beforeEach(() => {
    ofMaster = new ShardCounters();
    ofReplica = new CountersOfReplica(ofMaster);
  });

  it('never fall', () => {
    for (const counter of [3, 5, 4]) ofMaster.note('a', counter);
    expect([ofMaster.of('a'), ofMaster.of('b')]).toEqual([5, 0]);
  });

  it('on a replica are the least that a master has, and not the other way round', () => {
    ofReplica.note('a', 3);
    ofMaster.note('b', 4);
    expect([ofMaster.of('a'), ofReplica.of('b')]).toEqual([3, 0]);
  });

  it('of the master are those of its replica, too, once they are taken over', () => {
    for (let shard = 0; shard < 100; shard += 1) ofMaster.note(`s${shard}`, shard + 1);
    ofReplica.note('s7', 50);
    ofReplica.raiseTo(ofMaster);
    for (let shard = 0; shard < 100; shard += 1) {
      const counter = shard === 7 ? 50 : shard + 1;
      expect([ofReplica.of(`s${shard}`), ofMaster.of(`s${shard}`)]).toEqual([counter, counter]);
    }
  });
});
