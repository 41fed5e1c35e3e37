import { TOPICS } from '@laddercast/event-log';
import type { LogSaga, SagaBatch, SagaTopic } from '@laddercast/extension';
import { assertGroupName } from '@laddercast/sagas';
import { beforeEach, describe, expect, it } from 'vitest';

export interface LogSagaConformanceOptions<Topic extends SagaTopic> {
  /** Another instance on the same state at each call: as after a restart. */
  saga: () => LogSaga<Topic>;
  /** As its first events find it; awaited before each test. */
  reset: () => Promise<void> | void;
  /** All that the saga brings about, to be compared. */
  state: () => Promise<unknown> | unknown;
  /** At least two batches that change the state, in the order of the log: positions only grow, lane by lane. */
  batches: readonly SagaBatch<Topic>[];
}

/** Declares the tests that every `LogSaga` must pass: events come at least once, and a redelivery may come late. */
export function logSagaConformance<Topic extends SagaTopic>(options: LogSagaConformanceOptions<Topic>): void {
  const { saga, reset, state, batches } = options;
  const present = async (): Promise<unknown> => structuredClone(await state());
  const hand = async (to: LogSaga<Topic>, some: readonly SagaBatch<Topic>[]): Promise<void> => {
    for (const batch of some) await to.handle(deepFrozen(batch));
  };
  /** What comes of everything, once and in order. */
  const expected = async (): Promise<unknown> => {
    await hand(saga(), batches);
    const wanted = await present();
    await reset();
    return wanted;
  };

  describe('a saga of the log', () => {
    beforeEach(() => reset());

    it('is a consumer group that can be run, and reads topics that there are', () => {
      const { group, topics } = saga();
      expect(() => assertGroupName(group)).not.toThrow();
      expect(topics.length).toBeGreaterThan(0);
      for (const topic of topics) expect(TOPICS).toContain(topic);
    });

    it('is shown batches that change something, in the order of the log', async () => {
      expect(batches.length).toBeGreaterThanOrEqual(2);
      const positions = new Map<number, number>();
      for (const { lane, events } of batches) {
        for (const { position, topic } of events) {
          expect(saga().topics).toContain(topic);
          expect(position).toBeGreaterThan(positions.get(lane) ?? 0);
          positions.set(lane, position);
        }
      }
      const before = await present();
      await hand(saga(), batches);
      expect(await present()).not.toEqual(before);
    });

    it('comes to the same when each batch comes twice', async () => {
      const wanted = await expected();
      const one = saga();
      for (const batch of batches) await hand(one, [batch, batch]);
      expect(await present()).toEqual(wanted);
    });

    it('comes to the same when it dies after its work and before the offset, at any batch', async () => {
      const wanted = await expected();
      for (let at = 0; at < batches.length; at += 1) {
        await reset();
        await hand(saga(), batches.slice(0, at + 1));
        await hand(saga(), batches.slice(at));
        expect(await present()).toEqual(wanted);
      }
    });

    it('comes to the same when older batches come once more after newer ones', async () => {
      const wanted = await expected();
      for (let at = 0; at < batches.length; at += 1) {
        await reset();
        const one = saga();
        await hand(one, batches);
        await hand(one, batches.slice(0, at + 1));
        expect(await present()).toEqual(wanted);
      }
    });

    it('comes to the same when batches are cut in other places, down to single events', async () => {
      const wanted = await expected();
      const single = batches.flatMap((batch) => batch.events.map((event) => ({ ...batch, events: [event] })));
      await hand(saga(), single);
      expect(await present()).toEqual(wanted);
    });

    it('comes to the same when the log is another and comes from its beginning', async () => {
      const wanted = await expected();
      await hand(saga(), batches);
      await hand(
        saga(),
        batches.map((batch) => ({ ...batch, incarnation: `${batch.incarnation}, another` })),
      );
      expect(await present()).toEqual(wanted);
    });
  });
}

/** Other groups get the same objects: who changes one is told. */
function deepFrozen<T>(value: T): T {
  const copy = structuredClone(value);
  const freeze = (one: unknown): void => {
    if (typeof one !== 'object' || one === null) return;
    Object.freeze(one);
    Object.values(one).forEach(freeze);
  };
  freeze(copy);
  return copy;
}
