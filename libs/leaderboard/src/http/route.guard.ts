import { LadderError } from '@laddercast/domain';
import { assertIdentified, assertScope } from '@laddercast/identity';
import { Inject, Injectable, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import { ROLES, type Role } from '../roles.js';
import { identityOf, type IdentifiedRequest } from './access.js';
import { unknownParameters } from './query-pipe.js';
import { rulesOf, type RouteRules } from './route-rules.js';

/**
 * Stands before every controller of the process, also those of teams: a route needs an identity unless it is marked
 * {@link Public}, and takes no query parameter that its handler does not name.
 */
@Injectable()
export class RouteGuard implements CanActivate {
  /** By controller and handler, which may be inherited. Bounded by their number. */
  private readonly rules = new Map<object, Map<object, RouteRules>>();

  constructor(@Inject(ROLES) private readonly roles: readonly Role[]) {}

  canActivate(context: ExecutionContext): boolean {
    if (context.getType() !== 'http') return true;
    const { callers, parameters } = this.rulesFor(context.getClass(), context.getHandler());
    if (callers === 'probes') return true;
    // Nobody is identified there.
    if (!this.roles.includes('api')) throw new LadderError('NOT_FOUND', 'This process serves no API.');
    const request = context.switchToHttp().getRequest<IdentifiedRequest>();
    if (callers === 'identified') assertIdentified(identityOf(request));
    else if (callers !== 'anyone') assertScope(identityOf(request), callers.scope);
    if (parameters !== null) refuseOthers(request.query as object, parameters);
    return true;
  }

  private rulesFor(controller: Type<object>, handler: ReturnType<ExecutionContext['getHandler']>): RouteRules {
    const known = this.rules.get(controller)?.get(handler);
    if (known) return known;
    const rules = rulesOf(controller, handler as (...values: never[]) => unknown);
    this.rules.set(controller, (this.rules.get(controller) ?? new Map<object, RouteRules>()).set(handler, rules));
    return rules;
  }
}

function refuseOthers(query: object, known: ReadonlySet<string>): void {
  const others = Object.keys(query).filter((name) => !known.has(name));
  if (others.length > 0) throw unknownParameters(others);
}
