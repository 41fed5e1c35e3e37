import { Chart } from '../charts/chart.js';
import { spreadChart, spreadOf } from '../charts/spread.js';
import { problemOf, say, sayProblem } from '../messages.js';
import { Face } from '../table/face.js';
import { endedLabel } from '../window-words.js';
import { count, countAbout, dateAndTime, isolated, shownName } from '../words.js';
import { endsIn, historyOf, pastWindows, runsOf, standingOf } from './player-facts.js';
import { RatingCard } from './rating-card.js';

const STATES = { counted: 'Counted', held: 'Held for review', voided: 'Taken back' };

const byId = (id) => document.getElementById(id);
const tenths = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/**
 * A player as a spectator wants to know it: its place, its best, the windows it won, how rank and score came about, where it is
 * among all, and its rating where there is a pool.
 */
export class PlayerView {
  #service;
  #source;
  #rating;
  #charts;
  #face = new Face();
  #turn = 0;
  #player = null;

  /**
   * `source()` gives `{ board, title, definition, window, windowLabel, scope, book, scores, me }` of the moment; `onFollow(id, name)`
   * hears that somebody is to be followed, `onClose()` that the view is closed.
   */
  constructor({ service, source, onFollow, onClose }) {
    this.#service = service;
    this.#source = source;
    this.#rating = new RatingCard({ service });
    const chart = (name) => new Chart(byId(`player-${name}-figure`), { height: 150 });
    this.#charts = {
      ranks: chart('ranks'),
      scores: chart('scores'),
      windows: chart('windows'),
      spread: chart('spread'),
    };
    byId('player-name').before(this.#face.avatar);
    byId('player-name').after(this.#face.flag);
    byId('player-dialog').addEventListener('close', () => {
      this.#leave();
      onClose();
    });
    byId('player-follow').addEventListener('click', () => {
      const { id, name } = this.#player;
      byId('player-dialog').close();
      onFollow(id, name);
    });
  }

  get isOpen() {
    return byId('player-dialog').open;
  }

  close() {
    byId('player-dialog').close();
  }

  /** Opens for a player; `pool` is that of its rating, as the service describes it, null where there is none. */
  open(playerId, name, { pool }) {
    this.#leave();
    this.#player = { id: playerId, name };
    const { title, windowLabel, me } = this.#source();
    byId('player-name').textContent = name;
    byId('player-where').textContent = `${isolated(title)} · ${windowLabel}`;
    byId('player-follow').hidden = me === playerId;
    byId('player-figures').replaceChildren(...['Rank', 'Score'].map((term) => figure(term, '…')));
    say(byId('place-message'), '');
    if (!byId('player-dialog').open) byId('player-dialog').showModal();
    void this.#fill(playerId, this.#turn);
    if (pool) this.#rating.show(pool, playerId);
  }

  #leave() {
    this.#turn += 1;
    this.#rating.leave();
    this.#face.show({ avatarUrl: null, region: null }, '');
    for (const [name, chart] of Object.entries(this.#charts)) {
      chart.clear();
      byId(`player-${name}`).hidden = true;
    }
    byId('player-runs').hidden = true;
  }

  async #fill(playerId, turn) {
    const source = this.#source();
    const { board, window, scope, definition, book } = source;
    const list = { board, window: window.id, scope };
    try {
      const past = pastWindows(book, window.kind);
      const [standing, history, ends, runs] = await Promise.all([
        standingOf(this.#service, list, playerId),
        historyOf(this.#service, list, playerId),
        endsIn(this.#service, { board, windows: past }, playerId),
        runsOf(this.#service, { ...list, hasRuns: Boolean(definition.runs) }, playerId),
      ]);
      if (turn !== this.#turn) return;
      this.#tell({ standing, history, ends }, source);
      this.#showHistory(history ?? [], source);
      this.#showWindows(ends, source);
      this.#showRuns(runs, source);
      if (standing !== null) await this.#showSpread(standing.entry, source, turn);
    } catch (error) {
      if (turn === this.#turn) sayProblem(byId('place-message'), problemOf(error));
    }
  }

  #tell({ standing, history, ends }, { scores, scope }) {
    if (standing === null) say(byId('place-message'), 'No entry here yet. It appears with the first score.');
    else this.#nameAs(standing.entry);
    const played = ends.filter(({ rank }) => rank !== null);
    const won = played.filter(({ rank }) => rank === 1).length;
    const ranks =
      scope === 'global' ? [standing?.entry.rank, ...(history ?? []).map(({ rank }) => rank)].filter(Boolean) : [];
    const shown = [
      ...(standing === null ? [] : placeFigures(standing, scores)),
      ...(ranks.length > 1 ? [figure('Best rank', count(Math.min(...ranks)))] : []),
      ...(played.length > 0 ? [figure('Won', count(won), `of ${count(played.length)} played`)] : []),
      ...(played.length > 0 ? [figure('Best finish', count(Math.min(...played.map(({ rank }) => rank))))] : []),
    ];
    byId('player-figures').hidden = shown.length === 0;
    byId('player-figures').replaceChildren(...shown);
  }

  #nameAs(entry) {
    const name = shownName(entry);
    this.#face.show(entry.player, name);
    this.#player.name = name;
    byId('player-name').textContent = name;
  }

  #showHistory(points, { scores }) {
    const ranked = points.filter(({ rank }) => rank !== null);
    const when = (time) => dateAndTime(time * 1000);
    this.#draw(
      'ranks',
      ranked.length < 2
        ? null
        : {
            ...overTime(ranked, ({ rank }) => rank, when),
            writeY: count,
            isRanks: true,
            words: `From ${count(ranked[0].rank)} to ${count(ranked.at(-1).rank)} since ${when(ranked[0].time)}.`,
            table: {
              caption: 'Rank over time',
              head: ['When', 'Rank', 'Of'],
              rows: ranked.map(({ time, rank, total }) => [when(time), count(rank), count(total)]),
            },
          },
    );
    this.#draw(
      'scores',
      points.length < 2
        ? null
        : {
            ...overTime(points, ({ score }) => score, when),
            writeY: scores.brief,
            words: `From ${scores.short(points[0].score)} to ${scores.short(points.at(-1).score)} since ${when(points[0].time)}.`,
            table: {
              caption: 'Score over time',
              head: ['When', 'Score'],
              rows: points.map(({ time, score }) => [when(time), scores.exact(score)]),
            },
          },
    );
  }

  #showWindows(ends, { scores }) {
    const played = ends.filter(({ rank }) => rank !== null);
    if (played.length < 2) return;
    const label = (at) => (ends[at] ? endedLabel(ends[at].window) : '');
    const best = played.reduce((least, one) => (one.rank < least.rank ? one : least));
    this.#draw('windows', {
      x: ends.map((_, at) => at),
      lines: [{ name: this.#player.name, values: ends.map(({ rank }) => rank), colour: '--accent' }],
      writeX: label,
      writeY: count,
      isRanks: true,
      words: `Best: rank ${count(best.rank)} in ${endedLabel(best.window)}.`,
      table: {
        caption: 'Window by window',
        head: ['Window', 'Rank', 'Of', 'Score'],
        rows: ends.map(({ rank, total, score }, at) =>
          rank === null ? [label(at), '–', '', ''] : [label(at), count(rank), count(total), scores.exact(score)],
        ),
      },
    });
  }

  #showRuns(runs, { scores }) {
    byId('player-runs').hidden = !runs?.length;
    const rows = (runs ?? []).map(({ achievedAt, score, state }) => {
      const row = document.createElement('tr');
      for (const text of [dateAndTime(achievedAt), score === null ? '–' : scores.short(score), STATES[state] ?? state])
        row.append(Object.assign(document.createElement('td'), { textContent: text }));
      row.cells[1].className = 'number';
      return row;
    });
    byId('player-runs-rows').replaceChildren(...rows);
  }

  async #showSpread(entry, { board, window, scope, definition, scores }, turn) {
    const spread = await spreadOf(this.#service, { board, window: window.id, scope, order: definition.order }).catch(
      () => null,
    );
    if (turn !== this.#turn || spread === null) return;
    this.#draw('spread', spreadChart(spread, { scores, mine: entry.score, name: this.#player.name }));
  }

  /** A picture of what there is; null: nothing. */
  #draw(name, shown) {
    byId(`player-${name}`).hidden = shown === null;
    if (shown !== null) this.#charts[name].show(shown);
  }
}

function placeFigures({ entry, total, estimate }, scores) {
  return [
    figure('Rank', countAbout(entry.rank, estimate), `of ${countAbout(total, estimate)}`),
    figure('Score', scores.short(entry.score), '', scores.exact(entry.score)),
    ...(total > 1 ? [figure('Better than', `${tenths.format(entry.percentile)}\u202f%`)] : []),
  ];
}

function overTime(points, valueOf, when) {
  return {
    x: points.map(({ time }) => time),
    lines: [{ name: '', values: points.map(valueOf), colour: '--accent' }],
    writeX: when,
    isTime: true,
  };
}

function figure(term, text, beside = '', title = '') {
  const group = document.createElement('div');
  const value = Object.assign(document.createElement('dd'), { title: title === text ? '' : title });
  value.append(text);
  if (beside) value.append(' ', Object.assign(document.createElement('small'), { textContent: beside }));
  group.append(Object.assign(document.createElement('dt'), { textContent: term }), value);
  return group;
}
