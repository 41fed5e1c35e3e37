import { unknownFields } from '@laddercast/commands';
import { validationFailed } from '@laddercast/domain';
import { applyDecorators, Injectable, UseGuards, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';

/** For routes that take no body: none, an empty one and `{}` pass, any other is refused. */
@Injectable()
class NoBodyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { body } = context.switchToHttp().getRequest<FastifyRequest>();
    if (body === undefined) return true;
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw validationFailed([{ pointer: '', message: 'must be empty, or {}' }]);
    }
    const faults = unknownFields(body);
    if (faults.length > 0) throw validationFailed(faults);
    return true;
  }
}

/** Marks a route that takes no body: one that is sent all the same is refused, not ignored. */
export const TakesNothing = (): MethodDecorator =>
  applyDecorators(UseGuards(NoBodyGuard), RouteConfig({ takesNothing: true }));

/** Whether the route of a request {@link TakesNothing}. */
export const takesNothing = ({ routeOptions }: FastifyRequest): boolean =>
  (routeOptions.config as { takesNothing?: boolean }).takesNothing === true;
