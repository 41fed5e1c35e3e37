import { connect, type Socket } from 'node:net';

const headEnd = Buffer.from('\r\n\r\n');

/** The status of an answer, and all of it. */
type OnAnswer = (status: number, text: () => string) => void;

/**
 * One connection that sends requests as they are and takes whole answers, one at a time: next to nothing beside what is
 * measured, where node:http would take a third of a core.
 */
export class WireConnection {
  readonly #socket: Socket;
  #received: Buffer | null = null;
  #waiting: OnAnswer | null = null;

  /** @param onIdle called with the connection when it is open, and after each answer */
  constructor(
    url: string,
    private readonly onIdle: (connection: WireConnection) => void,
    private readonly onFailure: (error: Error) => void,
  ) {
    const { hostname, port } = new URL(url);
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.on('connect', () => onIdle(this));
    this.#socket.on('data', (bytes) => this.#take(bytes));
    this.#socket.on('error', onFailure);
    this.#socket.on('close', () => {
      if (this.#waiting !== null) onFailure(new Error('The connection was closed before the answer.'));
    });
  }

  send(request: Buffer, onAnswer: OnAnswer): void {
    this.#waiting = onAnswer;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    this.#received = this.#received === null ? bytes : Buffer.concat([this.#received, bytes]);
    const answer = parseAnswer(this.#received);
    if (answer === null) return;
    if ('error' in answer) return this.onFailure(new Error(answer.error));
    const onAnswer = this.#waiting;
    if (onAnswer === null) return this.onFailure(new Error('An answer came that nobody asked for.'));
    this.#waiting = null;
    this.#received = null;
    onAnswer(answer.status, answer.text);
    this.onIdle(this);
  }
}

/** A whole answer, or why it cannot be read. */
export type Answer = { status: number; text: () => string } | { error: string };

/** The answer; null while it is not whole. */
export function parseAnswer(bytes: Buffer): Answer | null {
  const end = bytes.indexOf(headEnd);
  if (end === -1) return null;
  const head = bytes.toString('latin1', 0, end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) return { error: `An answer without content-length:\n${head}` };
  const whole = end + headEnd.length + Number(length);
  if (bytes.length < whole) return null;
  if (bytes.length > whole) return { error: 'More than the answer came.' };
  return { status: Number(head.slice(9, 12)), text: () => bytes.toString('utf8', end + headEnd.length) };
}
