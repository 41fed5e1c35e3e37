import type { Environment } from '@laddercast/platform';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';

const PREFLIGHT_SECONDS = 7200;

/** Lets the pages of CORS_ORIGINS call the API. Tokens are sent by the page itself: there are no cookies to guard. */
export function allowOrigins(app: NestFastifyApplication, { CORS_ORIGINS }: Environment): void {
  if (CORS_ORIGINS === '') return;
  app.enableCors({
    origin: CORS_ORIGINS === '*' ? '*' : CORS_ORIGINS.split(','),
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'Prefer', 'If-Match', 'If-None-Match'],
    exposedHeaders: [
      'ETag',
      // The client takes the service's time from it.
      'Date',
      'Retry-After',
      'RateLimit',
      'RateLimit-Policy',
      'WWW-Authenticate',
      'Allow',
      'Content-Disposition',
    ],
    maxAge: PREFLIGHT_SECONDS,
    // Who asks with OPTIONS and is no browser is told the same; the strict answer to it is no problem document.
    strictPreflight: false,
  });
}
