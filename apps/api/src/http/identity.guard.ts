import { ANONYMOUS, Authenticator, malformedCredentials, type Identity } from '@laddercast/commands';
import { LadderError } from '@laddercast/domain';
import { createParamDecorator, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RequestMeter } from './request-meter.js';

interface IdentifiedRequest extends FastifyRequest {
  identity?: Identity;
}

/** Finds out who asks, and how often, before anything else; what they may do is each handler's to say. */
@Injectable()
export class IdentityGuard implements CanActivate {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly meter: RequestMeter,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (context.getType() !== 'http') return true;
    const http = context.switchToHttp();
    const request = http.getRequest<IdentifiedRequest>();
    const reply = http.getResponse<FastifyReply>();
    request.identity = await this.identityOf(request, reply);
    await this.meter.identified(request.identity, request, reply);
    return true;
  }

  private async identityOf(request: FastifyRequest, reply: FastifyReply): Promise<Identity> {
    const { authorization } = request.headers;
    if (authorization === undefined) return ANONYMOUS;
    try {
      return await this.authenticator.authenticate(bearerOf(authorization));
    } catch (error) {
      if (error instanceof LadderError && error.code === 'UNAUTHENTICATED') await this.meter.failed(request, reply);
      throw error;
    }
  }
}

function bearerOf(authorization: string): string {
  const match = /^Bearer +(\S+)$/i.exec(authorization);
  if (!match) throw malformedCredentials('Authorization must be "Bearer <API key or player token>".');
  return match[1]!;
}

/** The caller's {@link Identity}. */
export const CurrentIdentity = createParamDecorator(
  (_: unknown, context: ExecutionContext): Identity =>
    context.switchToHttp().getRequest<IdentifiedRequest>().identity ?? ANONYMOUS,
);
