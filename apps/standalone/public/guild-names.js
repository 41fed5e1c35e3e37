const GUILDS_MAX = 500;

/** What guilds are called: from the lists that were shown, else from the first of the board's guilds. */
export class GuildNames {
  #names = new Map();
  #service;

  constructor({ service }) {
    this.#service = service;
  }

  /** Takes the names of rows that are guilds. */
  learn(rows) {
    for (const { playerId, displayName } of rows) if (displayName) this.#names.set(playerId, displayName);
  }

  /** The id, as long as the name is not known. */
  of(guildId) {
    return this.#names.get(guildId) ?? guildId;
  }

  /** Looks for a name that is not known; whether it was found. Never fails. */
  async find(guildId, { board, window }) {
    if (this.#names.has(guildId)) return false;
    const answer = await this.#service.guilds(board, { window, limit: GUILDS_MAX }).catch(() => null);
    this.learn(answer?.entries ?? []);
    return this.#names.has(guildId);
  }
}
