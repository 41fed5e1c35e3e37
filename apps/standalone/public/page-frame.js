const STATE_WORDS = {
  connecting: 'Connecting',
  live: 'Live',
  reconnecting: 'Reconnecting',
  stopped: 'Not connected',
  waiting: 'Waiting for the board',
  unauthorized: 'A key is needed',
};

const byId = (id) => document.getElementById(id);

export function showTitle(title) {
  byId('title').textContent = title;
  document.title = `${title} · Laddercast`;
}

/** What can be done with a board is offered while there is one. */
export function showControls(shown) {
  byId('view-form').hidden = !shown;
  for (const card of document.querySelectorAll('.side .card:not(.manage, #best-rated)')) card.hidden = !shown;
  byId('reset-open').hidden = !shown;
}

/** Says whether frames arrive; by the same words nothing is said anew. */
export function showConnection(name) {
  byId('connection').dataset.state = name;
  const text = byId('connection-text');
  if (text.textContent !== STATE_WORDS[name]) text.textContent = STATE_WORDS[name];
}

/** Whether a click on a link is one that the page itself follows, and not one for a new tab. */
export function isPlainClick(event) {
  return event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
}
