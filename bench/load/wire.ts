import { connect } from 'node:net';

const headEnd = Buffer.from('\r\n\r\n');

/**
 * One connection that sends requests as they are and takes whole answers, one at a time: next to nothing beside what is
 * measured, where node:http would take a third of a core.
 */
export class WireConnection {
  #socket;
  #received = null;
  #waiting = null;

  /** @param onIdle called with the connection when it is open, and after each answer */
  constructor(url, onIdle, onFailure) {
    const { hostname, port } = new URL(url);
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.onIdle = onIdle;
    this.onFailure = onFailure;
    this.#socket.on('connect', () => onIdle(this));
    this.#socket.on('data', (bytes) => this.#take(bytes));
    this.#socket.on('error', onFailure);
    this.#socket.on('close', () => {
      if (this.#waiting !== null) onFailure(new Error('The connection was closed before the answer.'));
    });
  }

  /** @param onAnswer called with the status and the whole answer */
  send(request, onAnswer) {
    this.#waiting = onAnswer;
    this.#socket.write(request);
  }

  close() {
    this.#socket.destroy();
  }

  #take(bytes) {
    this.#received = this.#received === null ? bytes : Buffer.concat([this.#received, bytes]);
    const answer = parseAnswer(this.#received);
    if (answer === null) return;
    if (answer.error) return this.onFailure(new Error(answer.error));
    const onAnswer = this.#waiting;
    this.#waiting = null;
    this.#received = null;
    onAnswer(answer.status, answer.text);
    this.onIdle(this);
  }
}

/** `{ status, text }` of a whole answer, `{ error }` of one that cannot be read, null while it is not whole. */
export function parseAnswer(bytes) {
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
