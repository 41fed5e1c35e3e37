// Real: the built service in one process, the documents that it serves, and the linters of both formats.
import { Parser } from '@asyncapi/parser';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RestClient } from './rest-client.js';

describe('the documents for machines', () => {
  let service: RunningStandalone;
  let anyone: RestClient;

  beforeAll(async () => {
    service = await startStandalone();
    anyone = new RestClient(service.url);
  });
  afterAll(() => service?.stop());

  it('describe HTTP by the recommended rules of redocly', async () => {
    const { text } = await anyone.get('/openapi.json');
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: text, absoluteRef: `${service.url}/openapi.json`, config });
    expect(
      problems.map(({ severity, ruleId, location, message }) => {
        return `${severity} ${ruleId} ${location[0]?.pointer}: ${message}`;
      }),
    ).toEqual([]);
  });

  it('describe WebSockets by the rules of the AsyncAPI parser', async () => {
    const { text } = await anyone.get('/asyncapi.json');
    // Without its advice to declare the latest version of the format: that would shut out who reads 3.0.
    const parser = new Parser({ ruleset: { extends: [], rules: { 'asyncapi-latest-version': 'off' } } });
    const diagnostics = await parser.validate(text);
    expect(diagnostics.map(({ code, path, message }) => `${code} #/${path.join('/')}: ${message}`)).toEqual([]);
  });

  it('come with Swagger UI, for everyone and from here alone', async () => {
    const page = await anyone.get('/docs');
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    const addresses = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address!);
    expect(addresses).toContain('./docs/swagger-ui-bundle.js');
    for (const address of addresses) {
      expect(address).toMatch(/^\.\/docs\//);
      expect((await anyone.get(address.slice(1))).status, address).toBe(200);
    }
  });

  it('are of one version', async () => {
    const openApi = await anyone.get('/openapi.json');
    const asyncApi = await anyone.get('/asyncapi.json');
    expect(asyncApi.headers['content-type']).toMatch(/^application\/json/);
    expect(asyncApi.body).toMatchObject({ asyncapi: '3.0.0', info: { version: openApi.body.info.version } });
  });

  it('open folded in Swagger', async () => {
    const { text } = await anyone.get('/docs/swagger-ui-init.js');
    expect(/"docExpansion": "(\w+)"/.exec(text)?.[1]).toBe('none');
  });
});
