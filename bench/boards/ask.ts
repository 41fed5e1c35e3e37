import type { Call, Target } from '../load/requests.js';

/**
 * One request of the client that looks at answers while another loads the service; the answer is parsed as the caller
 * expects it by the contract.
 * @throws Error when the answer is not 2xx
 */
export async function ask<Body>(
  { url, key }: Target,
  { method, path, body }: Call,
): Promise<{ body: Body; text: string }> {
  const answer = await fetch(new URL(path, url), {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return { body: JSON.parse(text) as Body, text };
}

/** @throws Error that shows the answer, when it is not as it has to be */
export function expectAnswer(isRight: boolean, what: string, answer: unknown): void {
  if (!isRight) throw new Error(`A wrong answer (${what}): ${JSON.stringify(answer)}`);
}
