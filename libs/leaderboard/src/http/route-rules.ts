import type { Type } from '@nestjs/common';
import { PATH_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import { RouteConfig, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants.js';
import type { FastifyRequest } from 'fastify';
import { CALLERS, type Callers } from './access.js';
import { QueryPipe } from './query-pipe.js';

/** What holds for a route whatever its handler does. */
export interface RouteRules {
  callers: Callers;
  /** The query parameters that the handler names; null: a {@link QueryPipe} knows them. */
  parameters: ReadonlySet<string> | null;
}

type Handler = (...values: never[]) => unknown;
interface HandlerArgument {
  data?: unknown;
  pipes: readonly unknown[];
}

/**
 * The rules of a handler: who may call it is said by the decorator on it, else on its controller, else it is for whom we
 * know.
 * @throws Error when it takes the whole query and nothing says what is known of it
 */
export function rulesOf(controller: Type<object>, handler: Handler): RouteRules {
  const callers = [handler, controller].map((one) => Reflect.getMetadata(CALLERS, one) as Callers | undefined);
  const query = queryArgumentsOf(controller, handler);
  const named = query.flatMap(({ data }) => (typeof data === 'string' ? [data] : []));
  const whole = query.filter(({ data }) => typeof data !== 'string');
  if (whole.some(({ pipes }) => !pipes.some(isQueryPipe))) {
    throw new Error(
      `${controller.name}.${handler.name} takes @Query() as it comes: use @Query(QueryPipe) with a class that says ` +
        `which parameters there are, or @Query('name').`,
    );
  }
  return {
    callers: callers.find((one) => one !== undefined) ?? 'identified',
    parameters: whole.length > 0 ? null : new Set(named),
  };
}

function queryArgumentsOf(controller: Type<object>, handler: Handler): HandlerArgument[] {
  const all = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, handler.name) ?? {}) as Record<
    string,
    HandlerArgument
  >;
  return Object.entries(all)
    .filter(([key]) => key.startsWith(`${RouteParamtypes.QUERY}:`))
    .map(([, argument]) => argument);
}

const isQueryPipe = (pipe: unknown): boolean =>
  pipe instanceof QueryPipe ||
  pipe === QueryPipe ||
  (typeof pipe === 'function' && pipe.prototype instanceof QueryPipe);

/**
 * Tells Fastify which of its routes are controllers' whose callers are to be identified: its hooks run before Nest knows
 * the controller. To be called before the routes are made.
 * @throws Error for a handler whose rules cannot be told
 */
export function noteControllers(app: NestFastifyApplication): void {
  const scanner = new MetadataScanner();
  for (const module of app.get(ModulesContainer, { strict: false }).values()) {
    for (const { metatype } of module.controllers.values()) {
      const controller = metatype as Type<object>;
      const prototype = controller.prototype as Record<string, Handler>;
      for (const name of scanner.getAllMethodNames(prototype)) {
        const handler = prototype[name]!;
        if (!Reflect.hasMetadata(PATH_METADATA, handler)) continue;
        if (rulesOf(controller, handler).callers === 'probes') continue;
        const config = (Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler) ?? {}) as object;
        RouteConfig({ ...config, identifies: true })(prototype, name, { value: handler });
      }
    }
  }
}

/** Whether a request goes to a controller that identifies its callers; pages, documents and probes do not. */
export const identifiesCallers = ({ routeOptions }: FastifyRequest): boolean =>
  (routeOptions.config as { identifies?: boolean } | undefined)?.identifies === true;
