import { WindowBook } from './window-book.js';

/** A board as it was opened: its definition, its windows, and the client that its lists come by. */
export class LiveBoard {
  definition = null;
  book = null;
  live = null;
  #service;
  #onState;
  #onWindows;
  #onRedefined;
  #turn = 0;

  /**
   * `onState(state)` hears the live connection in use, `onWindows()` that a window began, froze, ended, or has its final standings,
   * `onRedefined()` that the board is defined otherwise than it was when it was opened.
   */
  constructor({ service, onState, onWindows, onRedefined }) {
    this.#service = service;
    this.#onState = onState;
    this.#onWindows = onWindows;
    this.#onRedefined = onRedefined;
  }

  /** Reads a board, and leaves the one before; false when another was asked for meanwhile. @throws LadderProblem */
  async open(board) {
    this.close();
    const turn = ++this.#turn;
    const service = this.#service;
    const read = (page) => {
      if (this.book !== null) void this.#lookAgain(board, turn);
      return service.windows(board, page);
    };
    const book = new WindowBook({ read, clock: service, onChange: this.#onWindows });
    try {
      const [definition] = await Promise.all([service.board(board), book.open()]);
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

  /** Its windows are looked at anew: so is the board itself. */
  async #lookAgain(board, turn) {
    // What cannot be read now is read with the next look.
    const definition = await this.#service.board(board).catch(() => null);
    if (definition === null || turn !== this.#turn) return;
    if (JSON.stringify(definition) !== JSON.stringify(this.definition)) this.#onRedefined();
  }

  /** The client to watch lists by: with the reader's key where it is needed. It connects with the first list. */
  connect({ withKey }) {
    const live = withKey || this.isPrivate ? this.#service.own : this.#service.open;
    if (live === this.live) return live;
    this.live = live;
    this.#onState(live.live);
    return live;
  }

  /** What happens to its connection is heard no more. */
  disconnect() {
    this.live = null;
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
