import { createHash } from 'node:crypto';
import { noteRankAnswer } from '@laddercast/commands';
import type { RankAccuracy } from '@laddercast/domain';
import { BoardCatalog } from '@laddercast/ledger';
import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { map, tap, type Observable } from 'rxjs';

/** Boards that tick slower than this may be kept by shared caches for one tick. */
const SHARED_CACHE_FROM_MS = 1000;

/** The envelope's time; it stands before anything that a client may have written. */
const AS_OF = /"asOf":"[^"]*"/;

/** HEAD is told what GET would be, but the body. */
const READ_METHODS = ['GET', 'HEAD'];

/** ETag, If-None-Match and Cache-Control of reads. The tag covers all of an answer but `asOf`. */
@Injectable()
export class ConditionalGetInterceptor implements NestInterceptor {
  private readonly represented = new WeakMap<object, { tag: string; text: string }>();

  constructor(private readonly boards: BoardCatalog) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest<{ Params: { board: string } }>>();
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    if (!READ_METHODS.includes(request.method)) return next.handle().pipe(tap(noteAccuracy));
    return next.handle().pipe(
      map((body: object) => {
        noteAccuracy(body);
        const { tag, text } = this.represent(body);
        void reply
          .header('Content-Type', 'application/json; charset=utf-8')
          .header('ETag', tag)
          .header('Cache-Control', this.cacheControl(request))
          // With CORS_ORIGINS the answer depends on the origin, too.
          .header('Vary', reply.hasHeader('Vary') ? 'Authorization, Origin' : 'Authorization');
        if (!matchesTag(request.headers['if-none-match'], tag)) return text;
        void reply.status(304);
        return undefined;
      }),
    );
  }

  /** The JSON of an answer and its tag; made once for an answer that several get. */
  private represent(body: object): { tag: string; text: string } {
    const known = this.represented.get(body);
    if (known) return known;
    const text = JSON.stringify(body);
    const tagged = text.replace(AS_OF, '');
    const made = { text, tag: `"${createHash('sha1').update(tagged).digest('base64url')}"` };
    this.represented.set(body, made);
    return made;
  }

  private cacheControl(request: FastifyRequest<{ Params: { board: string } }>): string {
    const board = this.boards.byId(request.params.board);
    const anonymous = request.headers.authorization === undefined;
    if (
      !board ||
      !anonymous ||
      board.definition.visibility !== 'public' ||
      board.definition.push.intervalMs < SHARED_CACHE_FROM_MS
    ) {
      return 'no-cache';
    }
    return `public, max-age=${Math.floor(board.definition.push.intervalMs / 1000)}`;
  }
}

/** Counts answers that say what their ranks are worth. */
function noteAccuracy(body: object): void {
  if ('accuracy' in body) noteRankAnswer('list', body as { accuracy: RankAccuracy; errorBound?: number });
}

/** Whether If-None-Match names the tag (RFC 9110, section 13.1.2: compared weakly). */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  return (ifNoneMatch ?? '').split(',').some((candidate) => [tag, `W/${tag}`, '*'].includes(candidate.trim()));
}
