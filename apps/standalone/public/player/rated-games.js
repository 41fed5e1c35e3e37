/** A player's games as its card tells them, as plain data: nothing here knows of the document. */

import { shownName } from '../words.js';

/** What a game was to one of its players; null: it moved nobody, or not this player. */
export function ratedGame(game, playerId) {
  const own = game.players.find((player) => player.playerId === playerId);
  const change = game.rated?.players?.find((player) => player.playerId === playerId);
  if (!own || !change) return null;
  const others = game.players.filter((player) => !isOfSide(player, own));
  const { before, after, expected } = change;
  return {
    gameId: game.gameId,
    against: others.map(shownName),
    result: resultOf(own, others),
    before,
    after,
    expected,
  };
}

/** `won`, `drew`, `lost` against one side, or the place among several; with the score where both have one. */
export function resultOf(own, others) {
  const sides = new Set(others.map(({ team, playerId }) => (team === null ? `player ${playerId}` : `team ${team}`)));
  if (own.status !== 'played') return own.status;
  const played = others.filter(({ status }) => status === 'played');
  const best = Math.min(...played.map(({ place }) => place));
  if (sides.size > 1) {
    const ahead = new Set(played.filter(({ place }) => place < own.place).map(sideOf)).size;
    return `${ahead + 1} of ${sides.size + 1}`;
  }
  const word = own.place < best ? 'won' : own.place === best ? 'drew' : 'lost';
  const other = others[0]?.score ?? null;
  return own.score === null || other === null ? word : `${word} ${own.score}:${other}`;
}

/**
 * When each of these games was played, in Unix seconds: by the date that whoever sent it wrote into its metadata, where all
 * of them have one, since old games may be sent with other times.
 */
export function timesOf(games) {
  const dates = games.map(({ metadata }) => Date.parse(typeof metadata?.date === 'string' ? metadata.date : ''));
  const useDates = dates.every((date) => !Number.isNaN(date));
  return games.map(({ playedAt }, at) => (useDates ? dates[at] : Date.parse(playedAt)) / 1000);
}

const sideOf = ({ team, playerId }) => (team === null ? `player ${playerId}` : `team ${team}`);

const isOfSide = (player, own) => sideOf(player) === sideOf(own);
