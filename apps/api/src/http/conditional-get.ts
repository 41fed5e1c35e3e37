import { hash } from 'node:crypto';
import { noteRankAnswer } from '@laddercast/commands';
import { validationFailed, type RankAccuracy } from '@laddercast/domain';
import type { BoardCatalog } from '@laddercast/ledger';
import { identityOf } from '@laddercast/leaderboard';
import type { EntryDetails } from '@laddercast/queries';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Boards that tick slower than this may be kept by shared caches for one tick. */
const SHARED_CACHE_FROM_MS = 1000;

/** The envelope's time; it stands before anything that a client may have written. */
const AS_OF = /"asOf":"[^"]*"/;

/** HEAD is told what GET would be, but the body. */
const READ_METHODS = ['GET', 'HEAD'];

/** Marks a route, or all of a controller, whose answers to GET carry an ETag and Cache-Control. */
export const ConditionalGet =
  (): ClassDecorator & MethodDecorator =>
  (target: object, _name?: unknown, descriptor?: PropertyDescriptor): void => {
    const methods = descriptor
      ? [descriptor]
      : Object.values(Object.getOwnPropertyDescriptors((target as { prototype: object }).prototype));
    for (const method of methods) RouteConfig({ conditionalGet: true })(target, '', method);
  };

/** To be called before routes are made. An interceptor would cost a tenth of a read: Nest makes streams of each answer then. */
export function answerConditionally(server: FastifyInstance, boards: BoardCatalog, details: EntryDetails): void {
  const conditional = new ConditionalAnswers(boards, details);
  server.addHook('onRoute', (route) => {
    if ((route.config as { conditionalGet?: boolean } | undefined)?.conditionalGet !== true) return;
    route.preSerialization = (request, reply, body, done) => {
      const answer = (): void => done(null, conditional.of(request, reply, body));
      const identity = identityOf(request);
      // Not every read has looked whether its player is shadowed.
      if (identity.kind === 'player') void details.sanctionOf(identity.playerId).then(answer, done);
      else answer();
    };
  });
}

type BoardRequest = FastifyRequest<{ Params: { board: string } }>;

/** ETag, If-None-Match and Cache-Control of reads. The tag covers all of an answer but `asOf`. */
class ConditionalAnswers {
  private readonly represented = new WeakMap<object, { tag: string; text: string }>();

  constructor(
    private readonly boards: BoardCatalog,
    private readonly details: EntryDetails,
  ) {}

  /** What is sent in place of a body. */
  of(request: FastifyRequest, reply: FastifyReply, body: unknown): unknown {
    if (reply.statusCode !== 200 || typeof body !== 'object' || body === null) return body;
    noteAccuracy(body);
    if (!READ_METHODS.includes(request.method)) return body;
    const { tag, text } = this.represent(body);
    void reply
      .header('Content-Type', 'application/json; charset=utf-8')
      .header('ETag', tag)
      .header('Cache-Control', this.cacheControl(request as BoardRequest))
      // With CORS_ORIGINS the answer depends on the origin, too.
      .header('Vary', reply.hasHeader('Vary') ? 'Authorization, Origin' : 'Authorization');
    if (!matchesTag(request.headers['if-none-match'], tag)) {
      void reply.serializer(asItIs);
      return text;
    }
    void reply.status(304).serializer(nothing);
    return null;
  }

  /** The JSON of an answer and its tag; made once for an answer that several get. */
  private represent(body: object): { tag: string; text: string } {
    const known = this.represented.get(body);
    if (known) return known;
    const text = JSON.stringify(body);
    const tagged = text.replace(AS_OF, '');
    const made = { text, tag: `"${hash('sha1', tagged, 'base64url')}"` };
    this.represented.set(body, made);
    return made;
  }

  private cacheControl(request: BoardRequest): string {
    const identity = identityOf(request);
    // Its lists have a row that nobody else's have.
    if (identity.kind === 'player' && this.details.isShadowed(identity.playerId)) return 'private, no-store';
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

const asItIs = (text: unknown): string => text as string;
/** Fastify sends no body then. */
const nothing = (): string => undefined as unknown as string;

/** Whether If-None-Match names the tag (RFC 9110, section 13.1.2: compared weakly). */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  return (ifNoneMatch ?? '').split(',').some((candidate) => [tag, `W/${tag}`, '*'].includes(candidate.trim()));
}

/**
 * Whether what a PUT makes must not be there yet (RFC 9110, section 13.1.2).
 * @throws VALIDATION_FAILED
 */
export function mustBeNew(ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  throw validationFailed([{ pointer: '', message: 'the If-None-Match header of a PUT can only be *' }]);
}
