// Real: the types of the client as they are committed, and the documents of the service, by its code.
import { ERRORS } from '@laddercast/domain';
import { LeaderboardModule } from '@laddercast/leaderboard';
import { loadEnvironment } from '@laddercast/platform';
import { buildAsyncApi } from '@laddercast/realtime';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { beforeAll, describe, expect, it } from 'vitest';
import { ApiModule } from '../../apps/api/src/api.module.js';
import { CONTRACT_VERSION, openApiDocument } from '../../apps/api/src/openapi/open-api.js';
import { repositoryRoot } from './source-tree.js';

interface Page {
  path: string;
  text: string;
}

interface Documents {
  openApi: { components: { schemas: Record<string, { properties: Record<string, object> }> } };
  asyncApi: object;
}

/** The generators are plain Node scripts: this is what they promise. */
interface ClientTypes {
  documentsOf(code: Record<string, unknown>): Promise<Documents>;
  clientPages(service: Record<string, unknown>): Promise<Page[]>;
}
interface ClientVectors {
  vectorPages(): Page[];
}
interface Generator {
  stalePages(root: string, pages: Page[]): Page[];
}

const load = async <Script>(name: string): Promise<Script> =>
  (await import(/* @vite-ignore */ new URL(`../../tools/${name}`, import.meta.url).href)) as Script;
const { clientPages, documentsOf } = await load<ClientTypes>('client-types.mjs');
const { vectorPages } = await load<ClientVectors>('client-vectors.mjs');
const { stalePages } = await load<Generator>('generate.mjs');

const stalePaths = (pages: Page[]): string[] => stalePages(repositoryRoot, pages).map(({ path }) => path);

describe('the types of the client', () => {
  let documents: Documents;
  beforeAll(async () => {
    const ofNest = { Module, NestFactory, FastifyAdapter };
    const ofService = {
      ApiModule,
      LeaderboardModule,
      loadEnvironment,
      openApiDocument,
      buildAsyncApi,
      CONTRACT_VERSION,
    };
    documents = await documentsOf({ ...ofNest, ...ofService });
  });

  it('are as the service describes itself; if not, run npm run generate', async () => {
    expect(stalePaths(await clientPages({ ...documents, ERRORS }))).toEqual([]);
  });

  it('are stale once a body has another field, or there is another error', async () => {
    const { openApi, asyncApi } = structuredClone(documents);
    openApi.components.schemas['RankedEntry']!.properties['shoeSize'] = { type: 'number' };
    const errors = { ...ERRORS, TEAPOT: { status: 418, title: 'A teapot', retriable: false } };
    expect(stalePaths(await clientPages({ openApi, asyncApi, ERRORS: errors }))).toEqual([
      'clients/typescript/src/generated/rest-api.ts',
      'clients/typescript/src/generated/errors.ts',
    ]);
  });

  it('cannot be made without a call that the client has a method for', async () => {
    const openApi = { ...documents.openApi, paths: {} };
    await expect(clientPages({ ...documents, openApi, ERRORS })).rejects.toThrow('getEntries');
  });
});

describe('the histories for clients', () => {
  it('are as the model of a board makes them; if not, run npm run generate', () => {
    expect(stalePaths(vectorPages())).toEqual([]);
  });
});
