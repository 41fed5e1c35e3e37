import { metrics } from '@laddercast/platform';
import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MetricsCollection, type MetricsSource } from './metrics-collection.js';

/** A source whose readings the test ends as it likes. */
class SlowSource implements MetricsSource {
  name = 'slow';
  readings: ((error?: Error) => void)[] = [];
  clears = 0;

  read(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.readings.push((error) => (error ? reject(error) : resolve()));
    });
  }

  clear(): void {
    this.clears += 1;
  }
}

const ageOf = async (source: string): Promise<number | undefined> => {
  const { values } = await metrics.collectionAgeSeconds.get();
  return values.find(({ labels }) => labels.source === source)?.value;
};

describe('the gauges that are computed for a scrape', () => {
  let source: SlowSource;
  let read: number;
  let collection: MetricsCollection;

  beforeEach(() => {
    Logger.overrideLogger(false);
    vi.useFakeTimers({ toFake: ['performance'] });
    source = new SlowSource();
    read = 0;
    const quick: MetricsSource = { name: 'quick', read: () => (read += 1) };
    collection = new MetricsCollection([source, quick], 50);
  });
  afterEach(() => {
    vi.useRealTimers();
    metrics.collectionAgeSeconds.reset();
  });

  it('are waited for no longer than said, and a store that hangs holds up no other', async () => {
    const scraped = collection.collect();
    await scraped;
    expect(read).toBe(1);
    expect(source.readings).toHaveLength(1);
  });

  it('are read once at a time, however often they are asked for', async () => {
    for (let scrape = 0; scrape < 3; scrape += 1) {
      await collection.collect();
      vi.advanceTimersByTime(1500);
    }
    expect(source.readings).toHaveLength(1);
    expect(read).toBe(3);
    source.readings[0]!();
    await collection.collect();
    vi.advanceTimersByTime(60_000);
    void collection.collect();
    expect(source.readings).toHaveLength(2);
  });

  it('are left out at the start, and once no reading has succeeded for a minute', async () => {
    expect(source.clears).toBe(1);
    await collection.collect();
    source.readings[0]!(new Error('away'));
    vi.advanceTimersByTime(59_000);
    await collection.collect();
    expect(source.clears).toBe(1);
    expect(await ageOf('slow')).toBeCloseTo(59, 0);
    vi.advanceTimersByTime(2000);
    await collection.collect();
    expect(source.clears).toBe(2);
    expect(await ageOf('quick')).toBe(0);
  });

  it('are neither read nor said while another process says them', async () => {
    let clears = 0;
    const elsewhere = {
      ...source,
      name: 'elsewhere',
      isOurs: () => false,
      read: () => (read += 100),
      clear: () => (clears += 1),
    };
    const others = new MetricsCollection([elsewhere], 50);
    await others.collect();
    expect(read).toBe(0);
    expect(clears).toBe(2);
    expect(await ageOf('elsewhere')).toBeUndefined();
    elsewhere.isOurs = () => true;
    await others.collect();
    expect(read).toBe(100);
    expect(await ageOf('elsewhere')).toBe(0);
  });

  it('are read again no sooner than after four times what it took', async () => {
    void collection.collect();
    vi.advanceTimersByTime(3000);
    source.readings[0]!();
    await collection.collect();
    vi.advanceTimersByTime(11_000);
    await collection.collect();
    expect(source.readings).toHaveLength(1);
    vi.advanceTimersByTime(2000);
    void collection.collect();
    expect(source.readings).toHaveLength(2);
  });
});
