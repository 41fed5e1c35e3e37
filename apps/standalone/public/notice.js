import { DEMO_BOARD } from './address.js';
import { problemDetail } from './messages.js';

const byId = (id) => document.getElementById(id);

/** What stands where the table would, when there is nothing to show in it. */
export const notice = {
  /** `command` is a line to type, `key` and `who` offer to enter a key, or to say who one is. */
  show({ title, text = '', command = '', key = false, who = false }) {
    byId('notice').hidden = false;
    byId('notice-title').textContent = title;
    byId('notice-text').textContent = text;
    byId('notice-command').hidden = command === '';
    byId('notice-command').firstElementChild.textContent = command;
    byId('notice-key').hidden = !key;
    byId('notice-who').hidden = !who;
  },

  hide() {
    byId('notice').hidden = true;
  },

  /** What the reader was asked a key for. */
  get text() {
    return byId('notice-text').textContent;
  },
};

/** Why there is no list, in the words of the refusal, with what helps. */
export function refusalNotice(problem, view) {
  const key = problem.status === 401 || problem.status === 403;
  const hint = key && view === 'friends' ? ' In development, npm start prints a key.' : '';
  return { title: problem.title, text: problemDetail(problem) + hint, key };
}

/** Why there is no board. */
export function boardNotice(problem, board) {
  if (problem.status !== 404) return { title: problem.title, text: problemDetail(problem) };
  const title = `There is no board “${board}” yet`;
  if (board !== DEMO_BOARD) return { title, text: 'It shows here as soon as it is made.' };
  const text = 'Fill it with 127 years of football, and watch it here while it runs:';
  return { title, text, command: 'npm run demo' };
}

/** Why a list is empty, and how it fills. `scope` is its label, null for everybody; `patch` of raw scores, else null. */
export function emptyNotice({ view, scope, patch, player, isOver, isDemo }) {
  if (view === 'guilds') {
    const command = 'PUT /v1/guilds/{guild}/members/{player}';
    return { title: 'No guilds yet', text: 'A guild shows here once a member has a score.', command };
  }
  if (view === 'friends') {
    const title = `${player} and friends have no entries here`;
    return { title, text: 'Friends are added with', command: friendCommand(player) };
  }
  if (isOver) return { title: 'Nobody played', text: 'No score was counted here before the end.' };
  const text = 'Scores show here the moment they are submitted.';
  if (patch !== null) return { title: `No run on patch ${patch} yet`, text };
  if (scope !== null) return { title: `Nobody in ${scope} yet`, text };
  return { title: 'No entries yet', text, command: isDemo ? 'npm run demo' : '' };
}

export function friendCommand(player) {
  return `PUT /v1/players/${encodeURIComponent(player)}/friends/{other}`;
}

/** For somebody who stands alone among friends. */
export function friendsHint(player) {
  const code = document.createElement('code');
  code.textContent = friendCommand(player);
  return ['No friend has an entry here. Friends are added with ', code];
}
