/** The service says every five seconds that it is there: two of these missed, and a second for the way. */
const QUIET_AFTER_MS = 11_000;
/** What the service knows is of some moments ago; this long ago it lags. */
const BEHIND_AFTER_MS = 15_000;
/** Rows that nothing was heard of for so long are dim. */
const OLD_AFTER_MS = 8000;
const TICK_MS = 1000;

/**
 * How far what is on the page can be taken for the present: from the state of the connection, from when something came last,
 * and from the moment that the service says it knows all lists of. `onChange({ name, seconds, asOf, isOld })` hears it every
 * second, and when it changes: `name` is `connecting`, `live`, `quiet`, `behind`, `reconnecting`, `stopped`, `unauthorized`;
 * `seconds` since when nothing came, or how far behind the service is; `asOf` the newest moment that was told of, ISO or null.
 */
export class Freshness {
  #clock;
  #now;
  #onChange;
  #connection = 'stopped';
  #heardAt = null;
  #hasPing = false;
  #isAnswered = false;
  #asOf = null;
  #pingAsOf = null;
  #timer = null;

  /** `clock` tells the time of the service, `now()` that of the reader, both Unix ms. */
  constructor({ clock, onChange, now = () => performance.now() }) {
    this.#clock = clock;
    this.#now = now;
    this.#onChange = onChange;
  }

  /** The connection is in another state. */
  connection(name) {
    this.#connection = name;
    if (name === 'live') {
      this.#hasPing = false;
      this.#isAnswered = false;
      this.#pingAsOf = null;
      this.#heardAt = this.#now();
    }
    clearInterval(this.#timer);
    this.#timer = name === 'stopped' || name === 'unauthorized' ? null : setInterval(() => this.#tell(), TICK_MS);
    this.#tell();
  }

  /** A frame came, as text. */
  heard(text) {
    this.#heardAt = this.#now();
    this.#isAnswered = true;
    // Other frames come to the lists anyway, and are not read twice.
    if (!/^\{\s*"type":\s*"ping"/.test(text)) return;
    this.#hasPing = true;
    const { asOf } = JSON.parse(text);
    if (Number.isNaN(Date.parse(asOf))) return;
    this.#pingAsOf = asOf;
    this.listed(asOf);
    this.#tell();
  }

  /** A list was shown that is of this moment. */
  listed(asOf) {
    if (asOf && !(Date.parse(asOf) < Date.parse(this.#asOf ?? ''))) this.#asOf = asOf;
  }

  /** Another list: what was told of the one before says nothing of it. */
  forget() {
    this.#asOf = null;
  }

  /** What there is to say now. */
  get present() {
    const silenceMs = this.#heardAt === null ? 0 : this.#now() - this.#heardAt;
    // A service that sends no pings may well be quiet, once it has answered.
    const isQuiet = this.#connection === 'live' && silenceMs > QUIET_AFTER_MS && (this.#hasPing || !this.#isAnswered);
    const lagMs = this.#pingAsOf === null ? 0 : this.#clock.now() - Date.parse(this.#pingAsOf) - silenceMs;
    const isBehind = this.#connection === 'live' && !isQuiet && lagMs > BEHIND_AFTER_MS;
    const name = isQuiet ? 'quiet' : isBehind ? 'behind' : this.#connection;
    // Where nothing is to come, nothing is missed.
    const isAway = isQuiet || !['live', 'stopped'].includes(this.#connection);
    return {
      name,
      seconds: Math.floor((isBehind ? lagMs : silenceMs) / 1000),
      asOf: this.#asOf,
      isOld: isBehind || (isAway && this.#asOf !== null && silenceMs > OLD_AFTER_MS),
    };
  }

  #tell() {
    this.#onChange(this.present);
  }
}
