import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { buildAsyncApi } from '@laddercast/realtime';

const isTimestamp = (text: string): boolean => new Date(text).toISOString() === text;

const validators = compileMessages();

/** Validates a message of either side against the AsyncAPI document. @throws with what does not fit */
export function assertMatchesAsyncApi(message: { type: string }): void {
  const validate = validators.get(message.type);
  if (!validate) throw new Error(`The AsyncAPI document knows no message "${message.type}".`);
  if (validate(message)) return;
  throw new Error(`${JSON.stringify(message).slice(0, 300)} does not match: ${JSON.stringify(validate.errors)}`);
}

function compileMessages(): Map<string, ValidateFunction> {
  const document = JSON.parse(JSON.stringify(buildAsyncApi('0'))) as {
    components: { messages: Record<string, { payload: { $ref: string } }> };
  };
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { 'date-time': isTimestamp } });
  ajv.addSchema({ $id: 'live', ...document } as object);
  return new Map(
    Object.entries(document.components.messages).map(([name, { payload }]) => [
      name,
      ajv.compile({ $ref: `live${payload.$ref}` }),
    ]),
  );
}
