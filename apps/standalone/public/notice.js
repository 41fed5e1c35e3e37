import { DEMO_BOARD } from './address.js';
import { problemDetail } from './messages.js';
import { endedLabel } from './window-words.js';
import { dateAndTime, isolated } from './words.js';

/** What the page itself says of a key that the live connection was refused with. */
export const KEY_REFUSED = 'KEY_REFUSED';

const byId = (id) => document.getElementById(id);

/** What stands where the table would, when there is nothing to show in it. */
export const notice = {
  /**
   * `choices` are links to what there is instead, `[{ label, href, window }]`; `detail` and `command` are for developers, and
   * folded away; `key` and `who` offer to enter a key, or to say who one is.
   */
  show({ title, text = '', choices = [], detail = '', command = '', key = false, who = false }) {
    byId('notice').hidden = false;
    byId('notice-title').textContent = title;
    byId('notice-text').textContent = text;
    byId('notice-choices').hidden = choices.length === 0;
    byId('notice-choices').replaceChildren(...choices.map(linkOf));
    byId('notice-developers').hidden = detail === '' && command === '';
    byId('notice-detail').textContent = detail;
    byId('notice-command').hidden = command === '';
    byId('notice-command').firstElementChild.textContent = command;
    byId('notice-key').hidden = !key;
    byId('notice-who').hidden = !who;
  },

  hide() {
    // A list that moves asks for it all the time.
    if (!byId('notice').hidden) byId('notice').hidden = true;
  },

  /** What the reader was asked a key for, as the service said it. */
  get text() {
    return byId('notice-detail').textContent || byId('notice-text').textContent;
  },
};

function linkOf({ label, href, window }) {
  const link = Object.assign(document.createElement('a'), { textContent: label, href });
  link.dataset.window = window;
  return link;
}

/** Why there is no list, with what helps; what the service says of it is for developers where it is about keys. */
export function refusalNotice(problem, view) {
  if (problem.status !== 401 && problem.status !== 403) return { title: problem.title, text: problemDetail(problem) };
  const isFriends = view === 'friends';
  const hint = isFriends ? ' In development, npm start prints a key.' : '';
  return {
    title: isFriends ? 'Friends are for those who are signed in' : 'This board is not public',
    text: problem.code === KEY_REFUSED ? problemDetail(problem) : 'Whoever runs it can give you a key.',
    detail: problem.code === KEY_REFUSED ? '' : `${problemDetail(problem)}${hint}`,
    key: true,
  };
}

/** Why there is no board. */
export function boardNotice(problem, board) {
  if (problem.status !== 404) return { title: problem.title, text: problemDetail(problem) };
  const title = `There is no board “${isolated(board)}” yet`;
  const text = 'It shows here as soon as it is made.';
  if (board !== DEMO_BOARD) return { title, text };
  return {
    title,
    text,
    detail: 'Fill it with 127 years of football, and watch it here while it runs:',
    command: 'npm run demo',
  };
}

/** That there is no such window, or that it (as the service lists it) has not begun, and which there are, as links. */
export function windowNotice(problem, window, choices) {
  if (window?.state === 'upcoming') {
    const text = `It begins on ${dateAndTime(window.startsAt)}. There are:`;
    return { title: `${endedLabel(window)} has not begun`, text, choices };
  }
  return { title: 'There is no such window', text: `${problemDetail(problem)} There are:`, choices };
}

/** Why a list is empty, and how it fills. `scope` is its label, null for everybody; `patch` of raw scores, else null. */
export function emptyNotice({ view, scope, patch, player, isOver, isDemo }) {
  if (view === 'guilds') {
    const command = 'PUT /v1/guilds/{guild}/members/{player}';
    return { title: 'No guilds yet', text: 'A guild shows here once a member has a score.', command };
  }
  if (view === 'friends') {
    const title = `${isolated(player)} and friends have no entries here`;
    return {
      title,
      text: 'They show here with their first score.',
      detail: 'Friends are added with',
      command: friendCommand(player),
    };
  }
  if (isOver) return { title: 'Nobody played', text: 'No score was counted here before the end.' };
  const text = 'Scores show here the moment they are submitted.';
  if (patch !== null) return { title: `No run on patch ${patch} yet`, text };
  if (scope !== null) return { title: `Nobody in ${scope} yet`, text };
  return { title: 'No entries yet', text, command: isDemo ? 'npm run demo' : '' };
}

function friendCommand(player) {
  return `PUT /v1/players/${encodeURIComponent(player)}/friends/{other}`;
}

/** For somebody who stands alone among friends; null takes it away. */
export function tellFriendsHint(player) {
  if (byId('hint').hidden !== (player === null)) byId('hint').hidden = player === null;
  if (player === null) return;
  byId('hint-text').textContent = 'No friend has an entry here.';
  const code = Object.assign(document.createElement('code'), { textContent: friendCommand(player) });
  byId('hint-detail').replaceChildren('Friends are added with ', code);
}
