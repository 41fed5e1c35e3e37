/**
 * One request of the client that looks at answers while another loads the service.
 * @throws Error when the answer is not 2xx
 */
export async function ask({ url, key }, { method = 'GET', path, body }) {
  const answer = await fetch(new URL(path, url), {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return { body: JSON.parse(text), text };
}

/** @throws Error that shows the answer, when it is not as it has to be */
export function expectAnswer(isRight, what, answer) {
  if (!isRight) throw new Error(`A wrong answer (${what}): ${JSON.stringify(answer)}`);
}
