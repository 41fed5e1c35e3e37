import { Authenticator, malformedCredentials } from '@laddercast/identity';
import { LadderError } from '@laddercast/domain';
import { identityOf, type IdentifiedRequest } from '@laddercast/leaderboard';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { RequestMeter } from './request-meter.js';

/** Finds out who asks, and how often, before the body is read; what they may do the route says, and its handler. */
@Injectable()
export class Callers {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly meter: RequestMeter,
  ) {}

  /**
   * Sets the identity of a request with credentials, and counts it. null: at once, since nothing had to be asked.
   * @throws UNAUTHENTICATED, RATE_LIMITED, IDENTITY_UNAVAILABLE, LEDGER_UNAVAILABLE, all by the promise
   */
  identify(request: IdentifiedRequest, reply: FastifyReply): Promise<void> | null {
    const [, token] = BEARER.exec(request.headers.authorization!) ?? [];
    const known = token === undefined ? null : this.authenticator.known(token);
    if (known === null) return this.identifyLater(token, request, reply);
    request.identity = known;
    return this.meter.identified(known, request, reply);
  }

  private async identifyLater(
    token: string | undefined,
    request: IdentifiedRequest,
    reply: FastifyReply,
  ): Promise<void> {
    try {
      if (token === undefined) {
        throw malformedCredentials('Authorization must be "Bearer <API key or player token>".');
      }
      request.identity = await this.authenticator.authenticate(token);
    } catch (error) {
      if (error instanceof LadderError && error.code === 'UNAUTHENTICATED') await this.meter.failed(request, reply);
      else this.meter.doubted(request);
      throw error;
    }
    await this.meter.identified(request.identity, request, reply);
  }
}

/** Counts what only the query and the body tell: how much a request asks for. */
@Injectable()
export class CostGuard implements CanActivate {
  constructor(private readonly meter: RequestMeter) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (context.getType() !== 'http') return true;
    const http = context.switchToHttp();
    const request = http.getRequest<IdentifiedRequest>();
    const counted = this.meter.read(identityOf(request), request, http.getResponse<FastifyReply>());
    return counted === null ? true : counted.then(() => true);
  }
}

const BEARER = /^Bearer +(\S+)$/i;
