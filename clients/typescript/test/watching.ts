import { createLadder, type Change, type Ladder, type LadderOptions, type LiveList, type Watch } from '../src/index.js';
import type { TopOptions } from '../src/index.js';
import { FakeHttp } from './fake-http.js';
import { FakeSockets, row, snapshot } from './fake-sockets.js';
import { settled, SteppedClock } from './stepped-clock.js';

/** A client on a clock that stands still, with sockets that the test plays. */
export class Watching {
  readonly clock = new SteppedClock();
  readonly http = new FakeHttp(this.clock);
  readonly sockets = new FakeSockets(this.clock);
  /** What every random draw gives. */
  random = 1;
  readonly problems: { code: string; fatal: boolean }[] = [];
  readonly lists: { list: LiveList; change: Change }[] = [];
  private readonly ladders: Ladder[] = [];

  ladderOf(options: Partial<LadderOptions> = {}): Ladder {
    const ladder = createLadder({
      url: 'http://ladder.test',
      fetch: this.http.fetch,
      WebSocket: this.sockets.WebSocket,
      clock: this.clock,
      random: () => this.random,
      onProblem: ({ code }, { fatal }) => this.problems.push({ code, fatal }),
      ...options,
    });
    this.ladders.push(ladder);
    return ladder;
  }

  watchTop(ladder: Ladder, options: TopOptions = {}): Watch {
    return ladder
      .board('blitz')
      .watchTop({ limit: 10, ...options }, (list, change) => this.lists.push({ list, change }));
  }

  /** A client that watches a list, and has its first snapshot. */
  async watching(options: Partial<LadderOptions> = {}, watch: TopOptions = {}): Promise<Ladder> {
    const ladder = this.ladderOf(options);
    this.watchTop(ladder, watch);
    await settled();
    this.sockets.last.accept();
    this.sockets.last.say(snapshot('1', 5, [row('ada', 1, 30), row('bob', 2, 20)]));
    this.sockets.last.heard();
    return ladder;
  }

  close(): void {
    for (const ladder of this.ladders) ladder.close();
  }
}
