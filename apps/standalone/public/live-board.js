import { LiveConnection } from './live-connection.js';
import { WindowBook } from './window-book.js';

/** A board as it was opened: its definition, its windows, and the connection that its lists come by. */
export class LiveBoard {
  definition = null;
  book = null;
  live = null;
  #token = null;
  #turn = 0;
  #options;

  /**
   * `getKey()` gives the reader's key or null; `onState(state)` hears the connection, `onFrame(text)` each frame, and
   * `onWindows()` that a window began, froze, ended, or has its final standings.
   */
  constructor({ rest, clock, getKey, onState, onFrame, onWindows }) {
    this.#options = { rest, clock, getKey, onState, onFrame, onWindows };
  }

  /** Reads a board, and leaves the one before; false when another was asked for meanwhile. @throws ProblemError */
  async open(board) {
    this.close();
    const turn = ++this.#turn;
    const { rest, clock, onWindows } = this.#options;
    const book = new WindowBook({ read: (page) => rest.windows(board, page), clock, onChange: onWindows });
    try {
      const [definition] = await Promise.all([rest.board(board), book.open()]);
      if (turn !== this.#turn) return false;
      this.definition = definition;
      this.book = book;
      return true;
    } catch (error) {
      if (turn !== this.#turn) return false;
      throw error;
    } finally {
      if (this.book !== book) book.close();
    }
  }

  /** Goes live, with the reader's key where it is needed; a connection that is right already stays. */
  connect({ withKey }) {
    const { getKey, onState, onFrame } = this.#options;
    const token = withKey || this.isPrivate ? getKey() : null;
    if (this.live !== null && token === this.#token) return this.live;
    this.disconnect();
    this.#token = token;
    const url = new URL('/v1/live', location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    const openSocket = (...address) => {
      const socket = new WebSocket(...address);
      socket.addEventListener('message', ({ data }) => live === this.live && onFrame(data));
      return socket;
    };
    const live = new LiveConnection({
      ...{ url: url.href, token, openSocket },
      onState: (state) => live === this.live && onState(state),
    });
    this.live = live;
    live.start();
    return live;
  }

  disconnect() {
    const { live } = this;
    this.live = null;
    live?.stop();
  }

  close() {
    this.#turn += 1;
    this.book?.close();
    this.book = null;
    this.disconnect();
  }

  get isPrivate() {
    return this.definition?.visibility === 'private';
  }
}
