import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareBench } from '../../tools/build.mjs';
import { closedLoop, loadFully, loadPaced } from './generator.js';
import { readRequests, writeRequests } from './requests.js';
import { parseAnswer } from './wire.js';

describe('what loads the service', () => {
  const seen: string[] = [];
  let answerStatus = 200;
  let waitMs = 0;
  let folder: string;
  let file: string;
  let url: string;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (text) => (body += text));
    request.on('end', async () => {
      if (body !== '') seen.push((JSON.parse(body) as { submissionId: string }).submissionId);
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      const text = '{"ok":true}';
      response.writeHead(answerStatus, { 'content-length': text.length }).end(text);
    });
  });

  beforeAll(async () => {
    // Our own client is a program of its own.
    await prepareBench();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    folder = mkdtempSync(join(tmpdir(), 'ladder-load-'));
    file = join(folder, 'requests');
    const body = (index: number) => ({ submissionId: `é-${index}` });
    const requests = Array.from({ length: 100_000 }, (_, index) => ({ method: 'POST', path: '/x', body: body(index) }));
    writeRequests(file, requests, { url, key: 'secret' });
  });

  afterAll(() => {
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  });

  it('reads back the requests that were written', () => {
    const requests = readRequests(file);
    expect(requests).toHaveLength(100_000);
    expect(requests[99_999]!.toString()).toMatch(/^POST \/x HTTP\/1\.1\r\n(.*\r\n)*authorization: Bearer secret\r\n/);
    expect(requests[99_999]!.toString()).toMatch(/content-length: 27\r\n\r\n\{"submissionId":"é-99999"\}$/);
  });

  it.each([
    ['wrk, or what stands in for it', loadFully],
    ['our own client', closedLoop],
  ])('sends each request once, in order: %s', async (_, load) => {
    seen.length = 0;
    const found = await load({ url, file, connections: 4, seconds: 1 });
    expect(found.count).toBeGreaterThan(100);
    expect(seen.length).toBeGreaterThanOrEqual(found.count);
    expect(seen.length).toBeLessThanOrEqual(found.count + 4);
    expect(new Set(seen).size).toBe(seen.length);
    expect(found.p99).toBeGreaterThanOrEqual(found.p50);
  });

  it('sends so many a second when paced, all of which are answered', async () => {
    seen.length = 0;
    const found = await loadPaced({ url, file, connections: 8, seconds: 1, rate: 200 });
    expect(found.count).toBe(200);
    expect(seen).toHaveLength(200);
  });

  it('counts from when a request should have been sent', async () => {
    waitMs = 50;
    // One connection answers 20 a second: of 40 a second, each waits longer than the one before.
    const found = await loadPaced({ url, file, connections: 1, seconds: 1, rate: 40 });
    waitMs = 0;
    expect(found.count).toBe(40);
    expect(found.max).toBeGreaterThan(700);
  });

  it('leaves out the times of the first quarter, in which the client is not warm', async () => {
    seen.length = 0;
    waitMs = 900;
    const load = loadPaced({ url, file, connections: 20, seconds: 2, rate: 20 });
    await expect.poll(() => seen.length).toBeGreaterThan(0);
    waitMs = 0;
    const found = await load;
    expect(found.count).toBe(40);
    expect(found.max).toBeLessThan(900);
  });

  it('fails for an answer that is no success', async () => {
    answerStatus = 503;
    await expect(loadFully({ url, file, connections: 2, seconds: 1 })).rejects.toThrow(/errors|503/);
    await expect(loadPaced({ url, file, connections: 2, seconds: 1, rate: 10 })).rejects.toThrow('503');
    answerStatus = 200;
  });
});

describe('an answer on the wire', () => {
  const parse = (text: string) => parseAnswer(Buffer.from(text));

  it('is whole when all of its body is there', () => {
    expect(parse('HTTP/1.1 201 Created\r\nContent-Length: 2\r\n')).toBeNull();
    expect(parse('HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{')).toBeNull();
    const answer = parse('HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}');
    expect(answer).toMatchObject({ status: 201 });
    expect(answer !== null && 'text' in answer && answer.text()).toBe('{}');
  });

  it('is refused where its length is not said, or more comes', () => {
    const chunked = parse('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    expect(chunked).toEqual({ error: expect.stringContaining('without content-length') });
    const long = parse('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{}');
    expect(long).toEqual({ error: expect.stringContaining('More than the answer') });
  });
});
