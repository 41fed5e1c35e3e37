// Real: the built service in one process, with its PostgreSQL and Redis. docs/modelling.md is what is sent to it.
import { readFileSync } from 'node:fs';
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { playerToken, RestClient } from './rest-client.js';

interface Step {
  method: string;
  path: string;
  /** The player whose token is sent; undefined: the admin's key. */
  player: string | undefined;
  body: unknown;
  status: number;
  /** What the answer has, among other things; undefined: anything. */
  answer: object | undefined;
}

interface Example {
  title: string;
  steps: Step[];
}

const FIRST_LINE = /^(GET|PUT|POST|DELETE) (\/\S+)(?: as (\S+))?$/;
const ANSWER = /^→ (\d{3})(.*)$/s;

/** The examples of a page: under each second heading the steps of its `http` block. */
function examplesOf(page: string): Example[] {
  return page.split(/^## /m).flatMap((section) => {
    const [, block] = /^```http\n(.*?)^```$/ms.exec(section) ?? [];
    if (block === undefined) return [];
    return [{ title: section.split('\n')[0]!, steps: block.trim().split(/\n\n+/).map(stepOf) }];
  });
}

function stepOf(text: string): Step {
  const [first, ...rest] = text.split('\n');
  const [, method, path, player] = FIRST_LINE.exec(first!) ?? [];
  const at = rest.findIndex((line) => line.startsWith('→ '));
  const [, status, answer] = ANSWER.exec(rest.slice(at).join('\n')) ?? [];
  if (!method || !path || at < 0 || !status) throw new Error(`This is no step of an example:\n${text}`);
  const json = (part: string): object | undefined => (part.trim() === '' ? undefined : (JSON.parse(part) as object));
  return {
    method,
    path,
    player,
    body: json(rest.slice(0, at).join('\n')),
    status: Number(status),
    answer: json(answer!),
  };
}

const PAGE = readFileSync(new URL('../../docs/modelling.md', import.meta.url), 'utf8');
const EXAMPLES = examplesOf(PAGE);

describe('docs/modelling.md', () => {
  let service: RunningStandalone;
  let admin: RestClient;

  beforeAll(async () => {
    service = await startStandalone();
    admin = new RestClient(service.url, service.adminKey);
  });
  afterAll(() => service?.stop());

  it('has an example of each kind of game, and every block of it is one', () => {
    expect(EXAMPLES.map(({ title }) => title.split(':')[0])).toEqual([
      'A racer',
      'A shooter',
      'A quiz',
      'A clicker',
      'A speedrun',
      'A league of guilds',
    ]);
    expect(PAGE.match(/^```/gm)).toHaveLength(2 * EXAMPLES.length);
  });

  it.each(EXAMPLES.map((example) => [example.title, example.steps] as const))(
    '%s: is answered as it says',
    async (_title, steps) => {
      for (const { method, path, player, body, status, answer } of steps) {
        const client = player === undefined ? admin : admin.as(await playerToken(service.jwtSecret, player));
        const ask = () => client.send(method, path, body, { Prefer: 'wait=10' });
        const what = `${method} ${path}`;
        if (method === 'GET') {
          // Guilds and boards that a pool feeds follow a moment later.
          await expect
            .poll(
              async () => {
                const read = await ask();
                return { status: read.status, body: read.body as unknown };
              },
              { timeout: 20_000 },
            )
            .toMatchObject({ status, ...(answer === undefined ? {} : { body: answer }) });
          continue;
        }
        const sent = await ask();
        expect({ what, status: sent.status, text: sent.text }).toMatchObject({ what, status });
        if (answer !== undefined) expect(sent.body, what).toMatchObject(answer);
      }
    },
  );

  it('would notice an answer that is another', () => {
    const [step] = examplesOf('## A game: x\n\n```http\nGET /v1/boards\n→ 200 { "boards": [{ "id": "a" }] }\n```\n')[0]!
      .steps;
    expect(() => expect({ boards: [{ id: 'b' }] }).toMatchObject(step!.answer!)).toThrow();
    expect(() => examplesOf('## A game: x\n\n```http\nGET v1/boards\n→ 200\n```\n')).toThrow('no step of an example');
  });
});
