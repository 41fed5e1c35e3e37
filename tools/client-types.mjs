import openapiTS, { astToString } from 'openapi-typescript';

const folder = 'clients/typescript/src/generated';
const header = (/** @type {string} */ source) => `// Generated from ${source} by npm run generate.\n\n`;

/** The calls that the client has a method for: of these alone the parameters are in the types. */
const operations = [
  ...['submitScore', 'submitScores', 'getBoard', 'getEntries', 'getPlayer', 'getRankOfScore', 'getWindows'],
  ...['getGuilds', 'getFriendsBoard', 'getFollowsBoard', 'getCircleBoard', 'lookupPlayers'],
];

/**
 * The types of the client, made from what the service says of itself.
 * @param {{ openApi: any, asyncApi: any, ERRORS: Record<string, { retriable: boolean }> }} service its documents, and the
 *   table of errors
 * @returns {Promise<{ path: string, text: string }[]>} as `pagesOf` of generate.mjs
 */
export async function clientPages({ openApi, asyncApi, ERRORS }) {
  return [
    { path: `${folder}/rest-api.ts`, text: header('/openapi.json') + (await typesOf(onlyUsed(openApi))) },
    { path: `${folder}/live-api.ts`, text: header('/asyncapi.json') + (await typesOf(asOpenApi(asyncApi))) },
    { path: `${folder}/errors.ts`, text: header('libs/domain/src/errors.ts') + errorCodes(ERRORS) },
  ];
}

const typesOf = async (/** @type {any} */ document) =>
  astToString(await openapiTS(structuredClone(document), { emptyObjectsUnknown: true }));

/** Without the calls that the client leaves to `call`, and without refusals: those have one type for all. */
function onlyUsed(/** @type {any} */ { paths, ...document }) {
  /** @type {Record<string, Record<string, unknown>>} */
  const used = {};
  const missing = new Set(operations);
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, { description: _description, ...operation }] of Object.entries(item)) {
      if (!missing.delete(operation.operationId)) continue;
      const { 200: answer } = operation.responses;
      (used[path] ??= {})[method] = { ...operation, responses: { 200: { ...answer, headers: undefined } } };
    }
  }
  if (missing.size > 0) throw new Error(`/openapi.json has no ${[...missing].join(', ')}.`);
  return JSON.parse(JSON.stringify({ ...document, paths: used, components: { schemas: document.components.schemas } }));
}

const asOpenApi = (/** @type {any} */ { info, components: { schemas } }) => ({
  openapi: '3.1.0',
  info: { title: info.title, version: info.version },
  paths: {},
  components: { schemas },
});

function errorCodes(/** @type {Record<string, { retriable: boolean }>} */ errors) {
  const quoted = (/** @type {string[]} */ codes) => codes.map((code) => `  '${code}',`).join('\n');
  const codes = Object.keys(errors).sort();
  const retriable = codes.filter((code) => errors[code]?.retriable);
  return `/** Every code of a refusal. */
export type ErrorCode =
${codes.map((code) => `  | '${code}'`).join('\n')};

/** The codes of refusals after which the very same request can succeed later. */
export const RETRIABLE: readonly string[] = [
${quoted(retriable)}
];
`;
}

/**
 * The documents of the service, by its code: it is wired without anything being started.
 * @param {{ Module: any, NestFactory: any, FastifyAdapter: any, ApiModule: any, LeaderboardModule: any,
 *   loadEnvironment: (settings: object) => object, openApiDocument: (app: any) => object,
 *   buildAsyncApi: (version: string) => object, CONTRACT_VERSION: string }} code
 */
export async function documentsOf(code) {
  const settings = { DATABASE_URL: 'postgres://nowhere/none', REDIS_URL: 'redis://nowhere' };
  const environment = code.loadEnvironment({ ...settings, BOOTSTRAP_ADMIN_KEY: 'nobody-will-be-asked' });
  class Described {}
  const imports = [code.LeaderboardModule.forRoot({ environment, roles: ['api'] }), code.ApiModule];
  code.Module({ imports })(Described);
  const options = { preview: true, logger: false, abortOnError: false };
  const app = await code.NestFactory.create(Described, new code.FastifyAdapter(), options);
  return { openApi: code.openApiDocument(app), asyncApi: code.buildAsyncApi(code.CONTRACT_VERSION) };
}
