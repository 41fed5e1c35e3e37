import { ANONYMOUS, Authenticator, malformedCredentials, type Identity } from '@laddercast/commands';
import { createParamDecorator, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

interface IdentifiedRequest extends FastifyRequest {
  identity?: Identity;
}

/** Finds out who asks, before anything else; what they may do is each handler's to say. */
@Injectable()
export class IdentityGuard implements CanActivate {
  constructor(private readonly authenticator: Authenticator) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (context.getType() !== 'http') return true;
    const request = context.switchToHttp().getRequest<IdentifiedRequest>();
    const { authorization } = request.headers;
    request.identity =
      authorization === undefined ? ANONYMOUS : await this.authenticator.authenticate(bearerOf(authorization));
    return true;
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
