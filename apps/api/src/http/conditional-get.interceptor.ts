import { createHash } from 'node:crypto';
import { BoardCatalog } from '@laddercast/ledger';
import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { map, type Observable } from 'rxjs';

/** Boards that tick slower than this may be kept by shared caches for one tick. */
const SHARED_CACHE_FROM_MS = 1000;

/** HEAD is told what GET would be, but the body. */
const READ_METHODS = ['GET', 'HEAD'];

/** ETag, If-None-Match and Cache-Control of reads. The tag covers all of an answer but `asOf`. */
@Injectable()
export class ConditionalGetInterceptor implements NestInterceptor {
  constructor(private readonly boards: BoardCatalog) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest<{ Params: { board: string } }>>();
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    if (!READ_METHODS.includes(request.method)) return next.handle();
    return next.handle().pipe(
      map((body: object) => {
        const tag = `"${createHash('sha1')
          .update(JSON.stringify({ ...body, asOf: undefined }))
          .digest('base64url')}"`;
        void reply
          .header('ETag', tag)
          .header('Cache-Control', this.cacheControl(request))
          .header('Vary', 'Authorization');
        if (!matchesTag(request.headers['if-none-match'], tag)) return body;
        void reply.status(304);
        return undefined;
      }),
    );
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

/** Whether If-None-Match names the tag (RFC 9110, section 13.1.2: compared weakly). */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  return (ifNoneMatch ?? '').split(',').some((candidate) => [tag, `W/${tag}`, '*'].includes(candidate.trim()));
}
