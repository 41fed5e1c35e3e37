import { guildIdOf, nations, parts } from './nations.mjs';

const CALLS_AT_ONCE = 16;
/** Every nation is friends with those that it played most often. */
const RIVALS = 5;

/**
 * Tells the service about the nations: names and continents, the part of its continent as each one's guild, and rivals as
 * friends. Doing it again changes nothing.
 * @param onProgress called with how many calls are done, and of how many
 */
export async function prepareCircles(client, matches, { onProgress }) {
  const teams = [...new Set(matches.flatMap(({ home, away }) => [home.team, away.team]))];
  const known = teams.filter((team) => nations.has(team));
  const guilds = parts.filter((part) => known.some((team) => nations.get(team).part === part));
  const path = (team) => `/v1/players/${encodeURIComponent(team)}`;
  const waves = [
    guilds.map((part) => ['PUT', `/v1/guilds/${guildIdOf(part)}`, { displayName: part }]),
    known.map((team) => ['PUT', path(team), { displayName: team, region: nations.get(team).continent }]),
    known.map((team) => ['PUT', `/v1/guilds/${guildIdOf(nations.get(team).part)}/members/${encodeURIComponent(team)}`]),
    rivalsOf(matches).map(([one, other]) => ['PUT', `${path(one)}/friends/${encodeURIComponent(other)}`]),
  ];
  const total = waves.reduce((sum, wave) => sum + wave.length, 0);
  let done = 0;
  for (const wave of waves) {
    let next = 0;
    const worker = async () => {
      while (next < wave.length) {
        await client.call(...wave[next++]);
        done += 1;
        onProgress(done, total);
      }
    };
    await Promise.all(Array.from({ length: CALLS_AT_ONCE }, worker));
  }
  return { nations: known.length, guilds: guilds.length };
}

/** Pairs of nations of which one played the other more often than almost anybody else; each pair once. */
export function rivalsOf(matches) {
  const meetings = new Map();
  const meet = (team, other) => {
    const opponents = meetings.get(team) ?? new Map();
    opponents.set(other, (opponents.get(other) ?? 0) + 1);
    meetings.set(team, opponents);
  };
  for (const { home, away } of matches) {
    meet(home.team, away.team);
    meet(away.team, home.team);
  }
  const pairs = new Map();
  for (const [team, opponents] of meetings) {
    const most = [...opponents].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, RIVALS);
    for (const [other] of most) {
      const pair = [team, other].sort();
      pairs.set(pair.join('/'), pair);
    }
  }
  return [...pairs.values()];
}
