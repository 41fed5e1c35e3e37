import { ERRORS, type ErrorCode, type Problem } from '@laddercast/domain';
import { SignJWT } from 'jose';
import request, { type Response } from 'supertest';
import { expect } from 'vitest';

export type Headers = Record<string, string>;

/** Talks to a running service as one caller. */
export class RestClient {
  constructor(
    private readonly url: string,
    private readonly token?: string,
  ) {}

  as(token: string | undefined): RestClient {
    return new RestClient(this.url, token);
  }

  get(path: string, headers: Headers = {}): Promise<Response> {
    return this.send('GET', path, undefined, headers);
  }

  post(path: string, body?: unknown, headers: Headers = {}): Promise<Response> {
    return this.send('POST', path, body, headers);
  }

  put(path: string, body?: unknown, headers: Headers = {}): Promise<Response> {
    return this.send('PUT', path, body, headers);
  }

  delete(path: string, headers: Headers = {}): Promise<Response> {
    return this.send('DELETE', path, undefined, headers);
  }

  /** A string is sent as it is, anything else as JSON. */
  async send(method: string, path: string, body: unknown, headers: Headers = {}): Promise<Response> {
    const call = request(this.url)[method.toLowerCase() as 'get'](path);
    if (this.token !== undefined) void call.set('Authorization', `Bearer ${this.token}`);
    void call.set(headers);
    if (body === undefined) return call;
    if (!('Content-Type' in headers)) void call.set('Content-Type', 'application/json');
    return call.send(typeof body === 'string' ? body : JSON.stringify(body));
  }

  /** Makes a board that takes anybody's runs by `best`, higher is better. */
  async makeBoard(id: string, definition: object = {}): Promise<string> {
    const response = await this.put(`/v1/boards/${id}`, { order: 'desc', operator: 'best', ...definition });
    expect(response.status, response.text).toBe(201);
    return id;
  }

  /** An API key's secret. */
  async makeKey(...scopes: string[]): Promise<string> {
    const response = await this.post('/v1/admin/api-keys', { name: 'test', scopes });
    expect(response.status, response.text).toBe(201);
    return (response.body as { secret: string }).secret;
  }
}

/** A player's token; `life` in seconds, negative for one that is over. */
export function playerToken(jwtSecret: string, player: string, life = 3600): Promise<string> {
  const expiresAt = Math.floor(Date.now() / 1000) + life;
  return new SignJWT({})
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(player)
    .setExpirationTime(expiresAt)
    .sign(new TextEncoder().encode(jwtSecret));
}

const TRACE = /\n\s+at |node_modules|\.[jt]s:\d+|Error:/;

/** What every error has to be: RFC 9457, with the code's own status (or one that is given) and title, and nothing of the inside. */
export function expectProblem(response: Response, code: ErrorCode, status: number = ERRORS[code].status): Problem {
  expect(response.text).toContain(`"code":"${code}"`);
  expect(response.status).toBe(status);
  expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
  expect(response.headers['cache-control']).toBe('no-store');
  const problem = response.body as Problem;
  expect(problem).toMatchObject({
    type: `urn:laddercast:problem:${code}`,
    title: ERRORS[code].title,
    status,
    code,
  });
  expect(problem.detail).toMatch(/\S/);
  expect(problem.instance).toMatch(/^\//);
  expect(response.text).not.toMatch(TRACE);
  return problem;
}
