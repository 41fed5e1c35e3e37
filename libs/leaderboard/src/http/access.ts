import { ANONYMOUS, type Identity } from '@laddercast/identity';
import type { KeyScope } from '@laddercast/ledger';
import { createParamDecorator, SetMetadata, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** Who may call a route: `probes` are asked for no identity, and may send what they like. */
export type Callers = 'probes' | 'anyone' | 'identified' | { scope: KeyScope };

export const CALLERS = 'laddercast:callers';

/** A request whose caller was looked at. */
export interface IdentifiedRequest extends FastifyRequest {
  identity?: Identity;
}

/** Lets anyone call a route, or all of a controller. Who sends a key or a token is identified all the same. */
export const Public = (): ClassDecorator & MethodDecorator => SetMetadata(CALLERS, 'anyone' satisfies Callers);

/**
 * Lets only API keys that hold this scope call a route, or all of a controller: `moderate` implies `read`, and keys with
 * `admin` may do everything.
 */
export const RequiresScope = (scope: KeyScope): ClassDecorator & MethodDecorator =>
  SetMetadata(CALLERS, { scope } satisfies Callers);

/** For what restarts processes, and must never be refused. */
export const ForProbes = (): ClassDecorator & MethodDecorator => SetMetadata(CALLERS, 'probes' satisfies Callers);

/** The caller's {@link Identity}, `anonymous` on a public route without key or token. */
export const CurrentIdentity = createParamDecorator((_: unknown, context: ExecutionContext): Identity =>
  identityOf(context.switchToHttp().getRequest()),
);

export const identityOf = ({ identity }: IdentifiedRequest): Identity => identity ?? ANONYMOUS;
