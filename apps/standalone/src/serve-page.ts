import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';

const PUBLIC_DIRECTORY = fileURLToPath(new URL('../public/', import.meta.url));

const PAGE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' ws: wss:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
};

/** Serves the live page at `/`. */
export async function servePage(app: NestFastifyApplication): Promise<void> {
  await app.register(fastifyStatic as never, {
    root: PUBLIC_DIRECTORY,
    // Only the files that are there: everything else stays with the API and its problems.
    wildcard: false,
    setHeaders: (reply: { header(name: string, value: string): void }) => {
      for (const [name, value] of Object.entries(PAGE_HEADERS)) reply.header(name, value);
    },
  });
}
