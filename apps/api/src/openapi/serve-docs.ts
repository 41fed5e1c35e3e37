import { buildAsyncApi } from '@laddercast/realtime';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SwaggerModule } from '@nestjs/swagger';
import { CONTRACT_VERSION, openApiDocument } from './open-api.js';

/** Nothing from elsewhere is loaded, not even the document that `/docs?url=…` would name. */
const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Serves /openapi.json, Swagger UI at /docs and /asyncapi.json, to everyone. */
export function serveDocs(app: NestFastifyApplication): void {
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onRoute', (route) => {
    if (!route.url.startsWith('/docs')) return;
    route.onRequest = (_request, reply, done) => {
      void reply.header('Content-Security-Policy', DOCS_POLICY);
      done();
    };
  });
  // Made for the first who asks: at the start they would take a tenth of it.
  SwaggerModule.setup('docs', app, () => openApiDocument(app), {
    jsonDocumentUrl: 'openapi.json',
    raw: ['json'],
    customSiteTitle: 'Laddercast API',
    // The badge of the default would send the address to a validator elsewhere.
    swaggerOptions: { validatorUrl: null, displayRequestDuration: true, docExpansion: 'none' },
  });
  let asyncApi: string | null = null;
  server.get('/asyncapi.json', (_request, reply) => {
    asyncApi ??= JSON.stringify(buildAsyncApi(CONTRACT_VERSION));
    return reply.type('application/json; charset=utf-8').send(asyncApi);
  });
}
