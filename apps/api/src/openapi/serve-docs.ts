import { buildAsyncApi } from '@laddercast/realtime';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SwaggerModule } from '@nestjs/swagger';
import { CONTRACT_VERSION, openApiDocument } from './open-api.js';

/** Serves /openapi.json, Swagger UI at /docs and /asyncapi.json, to everyone. Nothing of it comes from elsewhere. */
export function serveDocs(app: NestFastifyApplication): void {
  SwaggerModule.setup('docs', app, openApiDocument(app), {
    jsonDocumentUrl: 'openapi.json',
    raw: ['json'],
    customSiteTitle: 'Laddercast API',
    // The badge of the default would send the address to a validator elsewhere.
    swaggerOptions: { validatorUrl: null, persistAuthorization: true, displayRequestDuration: true },
  });
  const asyncApi = JSON.stringify(buildAsyncApi(CONTRACT_VERSION));
  const server = app.getHttpAdapter().getInstance();
  server.get('/asyncapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(asyncApi));
}
