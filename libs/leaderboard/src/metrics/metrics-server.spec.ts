import { freePort } from '@laddercast/testing';
import { Logger } from '@nestjs/common';
import { Gauge, register } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MetricsServer } from './metrics-server.js';

describe('the metrics of a process', () => {
  let url: string;
  let server: MetricsServer;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    new Gauge({ name: 'readable', help: 'Is there.' }).set(1);
    server = new MetricsServer();
    const port = await freePort();
    await server.listen(port, '127.0.0.1');
    url = `http://127.0.0.1:${port}`;
  });
  afterAll(async () => {
    await server.close();
    register.removeSingleMetric('unreadable');
    register.removeSingleMetric('readable');
  });

  const read = (path: string): Promise<Response> => fetch(`${url}${path}`, { signal: AbortSignal.timeout(2000) });

  it('are there for Prometheus, and nothing else is', async () => {
    const answer = await read('/metrics');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(await answer.text()).toContain('readable 1');
    expect((await read('/')).status).toBe(404);
  });

  it('are answered 500 while one of them cannot be read, and come back after that', async () => {
    let fails = true;
    const unreadable = new Gauge({
      name: 'unreadable',
      help: 'Fails.',
      collect: () => {
        if (fails) throw new Error('the inside of it');
      },
    });
    const answer = await read('/metrics');
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain('the inside of it');
    fails = false;
    unreadable.set(7);
    expect(await (await read('/metrics')).text()).toContain('unreadable 7');
  });
});
