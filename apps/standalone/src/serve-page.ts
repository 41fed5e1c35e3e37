import { fileURLToPath } from 'node:url';
import { Environment } from '@laddercast/platform';
import fastifyStatic from '@fastify/static';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';

const PUBLIC_DIRECTORY = fileURLToPath(new URL('../public/', import.meta.url));

/** Of the live page's files. @param imageHosts whose images the page may show beside its own */
function pageHeaders(imageHosts: string[]): Record<string, string> {
  const images = imageHosts.map((host) => `https://${host}`);
  return {
    'Content-Security-Policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      ["img-src 'self' data:", ...images].join(' '),
      "connect-src 'self' ws: wss:",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
    ].join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-cache',
  };
}

/** Serves the live page at `/`, and what the page has to know of its settings as the module `/page-settings.js`. */
export async function servePage(app: NestFastifyApplication): Promise<void> {
  const imageHosts = app
    .get(Environment)
    .PAGE_IMAGE_HOSTS.split(',')
    .filter((host) => host !== '');
  const headers = pageHeaders(imageHosts);
  const settings = `export const IMAGE_HOSTS = ${JSON.stringify(imageHosts)};\n`;
  app
    .getHttpAdapter()
    .getInstance()
    .get('/page-settings.js', (_request, reply) =>
      reply.headers(headers).type('text/javascript; charset=utf-8').send(settings),
    );
  await app.register(fastifyStatic as never, {
    root: PUBLIC_DIRECTORY,
    // Only the files that are there: everything else stays with the API and its problems.
    wildcard: false,
    setHeaders: (reply: { header(name: string, value: string): void }) => {
      for (const [name, value] of Object.entries(headers)) reply.header(name, value);
    },
  });
}
