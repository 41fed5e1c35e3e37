import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { describeOperation, HEADERS, type OperationDescription } from './describe-operation.js';
import { ADMINISTRATION } from './operations/administration.js';
import { BOARD_TEMPLATES } from './operations/board-templates.js';
import { BOARDS } from './operations/boards.js';
import { CIRCLES } from './operations/circles.js';
import { FLAGS } from './operations/flags.js';
import { HISTORY } from './operations/history.js';
import { LAYOUTS } from './operations/layouts.js';
import { MODERATION } from './operations/moderation.js';
import { PEOPLE } from './operations/people.js';
import { PATCHES } from './operations/patches.js';
import { POOLS } from './operations/pools.js';
import { RANKS } from './operations/ranks.js';
import { RECOVERY } from './operations/recovery.js';
import { RUNS } from './operations/runs.js';
import { SCORES } from './operations/scores.js';
import { STANDINGS } from './operations/standings.js';
import { WINDOWS } from './operations/windows.js';
import { BOARD_TEMPLATE_SCHEMAS } from './board-template-schemas.js';
import { FLAG_SCHEMAS } from './flag-schemas.js';
import { PATCH_SCHEMAS } from './patch-schemas.js';
import { POOL_SCHEMAS } from './pool-schemas.js';
import { RECOVERY_SCHEMAS } from './recovery-schemas.js';
import { SCHEMAS } from './schemas.js';

/** Of the public contract, not of the release. */
export const CONTRACT_VERSION = '1.0.0';

const OPERATIONS: Record<string, OperationDescription> = {
  ...SCORES,
  ...RUNS,
  ...RANKS,
  ...HISTORY,
  ...BOARDS,
  ...BOARD_TEMPLATES,
  ...WINDOWS,
  ...STANDINGS,
  ...PEOPLE,
  ...CIRCLES,
  ...PATCHES,
  ...POOLS,
  ...ADMINISTRATION,
  ...MODERATION,
  ...LAYOUTS,
  ...RECOVERY,
  ...FLAGS,
};

const DESCRIPTION = `Leaderboards that are exact, durable and live.

All bodies are JSON, all times RFC 3339 UTC with milliseconds. Scores are finite IEEE doubles, never rounded. Unknown body
fields and query parameters are refused, and so is what is not built yet (422 \`NOT_SUPPORTED\`). Every error is RFC 9457
problem+json with a stable \`code\`; a wrong method is answered 405 with \`Allow\`. Every answer has an
\`X-Request-Id\`: the one of the request, where that is 1-128 letters, digits or \`_.:+=@/-\`, else a new one.

How often a caller may ask is limited over all processes: keys and players by who they are, everybody else by address (429
\`RATE_LIMITED\` with \`Retry-After\`; a batch counts each of its submissions or games, look-ups and standings one for every 25 that are asked for). \`RateLimit\` and \`RateLimit-Policy\` say with
each answer what is left. A body may be 2 MiB large and 64 deep, without a Content-Encoding. Changes are pushed over a WebSocket at
\`/v1/live\`, described by \`/asyncapi.json\`.`;

const CONFIG = new DocumentBuilder()
  .setOpenAPIVersion('3.1.0')
  .setTitle('Laddercast')
  .setVersion(CONTRACT_VERSION)
  .setDescription(DESCRIPTION)
  .addServer('/', 'The service that this document comes from.')
  .addTag('Scores', 'Submitting: durable before answered, counted once.')
  .addTag('Runs', 'Every run of boards that keep them: what was accepted, and what of it counts.')
  .addTag('Ranks', 'Reading: lists, players, exact ranks.')
  .addTag('Boards', 'What a board ranks, and how.')
  .addTag('Players', 'What is known of players beside their scores, and their guilds.')
  .addTag('Circles', 'Who is whose friend, who follows whom, and named circles.')
  .addTag('Ratings', 'Rating pools: games in, ratings out, each change explained.')
  .addTag('Administration', 'For operators: needs the scope admin, or moderate where that is said.')
  .addTag('Health', 'For whatever restarts processes.')
  .addBearerAuth(
    {
      type: 'http',
      description:
        "An API key (scopes scores:write, read, moderate, admin), or a player's JWT (sub, exp; HS256, or RS256 and ES256 by a key set).",
    },
    'bearer',
  )
  .build();

/**
 * The OpenAPI 3.1 document of the routes that the application has. Addresses come from the controllers, bodies and errors
 * from the descriptions under operations/; routes of other modules are left as Nest describes them.
 * @throws Error when a description has no route
 */
export function openApiDocument(app: INestApplication): OpenAPIObject {
  const document = SwaggerModule.createDocument(app, CONFIG, { operationIdFactory: idOfHandler });
  const undescribed = new Set(Object.keys(OPERATIONS));
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item as Record<string, { operationId: string }>)) {
      const { operationId } = operation;
      const about = OPERATIONS[operationId];
      if (!about) continue;
      Object.assign(item, { [method]: describeOperation(operationId, path, about) });
      undescribed.delete(operationId);
    }
  }
  if (undescribed.size > 0) throw new Error(`No route has the operation ids ${[...undescribed].join(', ')}.`);
  const components = document.components ?? {};
  return {
    ...document,
    info: { ...document.info, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } as never },
    components: {
      ...components,
      schemas: {
        ...components.schemas,
        ...SCHEMAS,
        ...PATCH_SCHEMAS,
        ...BOARD_TEMPLATE_SCHEMAS,
        ...POOL_SCHEMAS,
        ...RECOVERY_SCHEMAS,
        ...FLAG_SCHEMAS,
      },
      headers: HEADERS,
    },
  } as OpenAPIObject;
}

/** For routes that name no operation id: `HealthController.ready` is `healthReady`. */
function idOfHandler(controller: string, method: string): string {
  const noun = controller.replace(/Controller$/, '');
  return noun.charAt(0).toLowerCase() + noun.slice(1) + method.charAt(0).toUpperCase() + method.slice(1);
}
