import { isCleanText } from './ids.js';

/** What rows of lists show of a player beside its name, where they are asked for it. */
export interface PlayerFace {
  avatarUrl: string | null;
  region: string | null;
  attributes: Readonly<Record<string, string>>;
}

/** The face of a player of whom nothing is known. */
export const NO_FACE: PlayerFace = Object.freeze({ avatarUrl: null, region: null, attributes: Object.freeze({}) });

/** The longest address of an avatar, in UTF-16 units. */
export const AVATAR_URL_LENGTH_MAX = 512;

/** What is wrong with the address of an avatar, or null when it is fine. */
export function faultOfAvatarUrl(text: string): string | null {
  if (text.length > AVATAR_URL_LENGTH_MAX) return `must be at most ${AVATAR_URL_LENGTH_MAX} characters`;
  const isAddress = isCleanText(text) && /^https?:\/\/[^\s"<>\\^`{|}]+$/i.test(text) && URL.canParse(text);
  return isAddress ? null : 'must be an http or https address';
}

/** Whether two faces show the same. */
export const isSameFace = (a: PlayerFace | undefined, b: PlayerFace | undefined): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b);
