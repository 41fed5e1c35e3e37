import { isUtf8 } from 'node:buffer';
import { LadderError, validationFailed } from '@laddercast/domain';
import { SUBSCRIPTION_ID_LENGTH_MAX } from './client-messages.js';

/** The messages of clients, by `type`; each has a handler in the gateway. */
export const CLIENT_MESSAGES = ['subscribe', 'resume', 'unsubscribe', 'authenticate'] as const;

/** A message that the adapter refused, with the reason, for the handler that answers it. */
export interface RefusedMessage {
  id: string | undefined;
  error: LadderError;
}

/** A frame of a client as the Nest adapter wants it: `event` names the handler. */
export type ParsedFrame =
  | { event: (typeof CLIENT_MESSAGES)[number]; data: Record<string, unknown> }
  | { event: 'refused'; data: RefusedMessage };

/** Reads a frame. A faulty one becomes a `refused` message, so that each frame is answered. */
export function parseFrame(frame: Buffer | ArrayBuffer | Buffer[] | string, bytesMax: number): ParsedFrame {
  const text =
    Buffer.isBuffer(frame) || typeof frame === 'string' ? frame : Buffer.concat([frame].flat().map(toBuffer));
  if (Buffer.byteLength(text) > bytesMax) {
    return refused(undefined, new LadderError('PAYLOAD_TOO_LARGE', `A message may have at most ${bytesMax} bytes.`));
  }
  // Text frames come as strings, whose UTF-8 was checked; bytes are those of binary frames.
  if (typeof text !== 'string' && !isUtf8(text)) {
    return refused(undefined, new LadderError('MALFORMED_JSON', 'The message is not UTF-8; send it in a text frame.'));
  }
  let message: unknown;
  try {
    message = JSON.parse(text.toString());
  } catch {
    return refused(undefined, new LadderError('MALFORMED_JSON', 'A message must be one JSON object in a text frame.'));
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    return refused(undefined, validationFailed([{ pointer: '', message: 'must be an object' }]));
  }
  const data = message as Record<string, unknown>;
  const event = CLIENT_MESSAGES.find((known) => known === data.type);
  if (event) return { event, data };
  const fault = { pointer: '/type', message: `must be one of ${CLIENT_MESSAGES.join(', ')}` };
  return refused(idOf(data), validationFailed([fault]));
}

/** The id to name in an answer; undefined when the message has none that could be a subscription's. */
export function idOf(data: Record<string, unknown>): string | undefined {
  if (typeof data.id !== 'string' || data.id === '') return undefined;
  return [...data.id].length <= SUBSCRIPTION_ID_LENGTH_MAX ? data.id : undefined;
}

const refused = (id: string | undefined, error: LadderError): ParsedFrame => ({
  event: 'refused',
  data: { id, error },
});

const toBuffer = (part: Buffer | ArrayBuffer): Buffer => (Buffer.isBuffer(part) ? part : Buffer.from(part));
