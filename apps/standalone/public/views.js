import { BumpView } from './charts/bump-view.js';
import { RaceView } from './charts/race-view.js';
import { PlayerView } from './player/player-view.js';
import { shownName } from './words.js';

const byId = (id) => document.getElementById(id);

/**
 * What lies over the board: a player, the top ten over time, the race. The part of the address behind `#` says which is open:
 * `#player=ada`, `#top-ten`, `#race`.
 */
export class Views {
  #player;
  #others;
  #poolOf;

  /**
   * `source()` gives what the views need of the moment; `onFollow(id, name)` hears that somebody is to be followed, and `poolOf()`
   * gives the rating pool that players are shown in, null: none.
   */
  constructor({ service, source, onFollow, poolOf }) {
    const onClose = () => this.#address('');
    this.#poolOf = poolOf;
    this.#player = new PlayerView({ service, source, onFollow, onClose });
    this.#others = {
      'top-ten': new BumpView({ service, source, onClose }),
      race: new RaceView({ service, source, onClose }),
    };
    byId('bump-open').addEventListener('click', () => this.#open('top-ten'));
    byId('race-open').addEventListener('click', () => this.#open('race'));
  }

  /** The address of a player, beside what else the page shows. */
  hrefOf(playerId) {
    return `${location.search}#player=${encodeURIComponent(playerId)}`;
  }

  /** Opens a player by the name that is known; `pool` where it is another than that of the page. */
  openPlayer(playerId, name, pool = this.#poolOf()) {
    this.#address(`#player=${encodeURIComponent(playerId)}`);
    this.#player.open(playerId, name, { pool });
  }

  /** Opens what the address says, and closes what it does not. */
  follow() {
    const asked = new URLSearchParams(location.hash.slice(1));
    // Links of older versions say `rating`.
    const playerId = asked.get('player') ?? asked.get('rating');
    const other = Object.keys(this.#others).find((name) => asked.has(name));
    if (playerId) this.#player.open(playerId, shownName({ playerId }), { pool: this.#poolOf() });
    else if (this.#player.isOpen) this.#player.close();
    if (other) this.#others[other].open();
    else for (const view of Object.values(this.#others)) view.close();
  }

  #open(name) {
    byId('options').open = false;
    this.#address(`#${name}`);
    this.#others[name].open();
  }

  #address(hash) {
    if (location.hash === hash) return;
    const address = `${location.pathname}${location.search}${hash}`;
    history[hash === '' ? 'replaceState' : 'pushState'](null, '', address);
  }
}
