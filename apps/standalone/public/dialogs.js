import { problemOf, say, sayProblem } from './messages.js';

const byId = (id) => document.getElementById(id);

for (const button of document.querySelectorAll('dialog [data-close]')) {
  button.addEventListener('click', () => button.closest('dialog').close(''));
}

/** Asks for a key; null when the reader does not give one. */
export function askForKey(reason) {
  const dialog = byId('key-dialog');
  const input = byId('key-input');
  byId('key-reason').textContent = reason;
  if (dialog.open) return Promise.resolve(null);
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((resolve) => {
    const answer = () => {
      const key = dialog.returnValue === 'use' ? input.value.trim() : '';
      input.value = '';
      resolve(key || null);
    };
    dialog.addEventListener('close', answer, { once: true });
  });
}

/** Lets the reader confirm a reset with the admin key; `reset(key)` does it, and a refusal is shown in the dialog. */
export function confirmReset(boardTitle, reset) {
  const dialog = byId('reset-dialog');
  const form = byId('reset-form');
  const input = byId('reset-key');
  const button = form.querySelector('.danger');
  byId('reset-board').textContent = boardTitle;
  say(byId('reset-message'), '');
  dialog.showModal();
  form.onsubmit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      await reset(input.value.trim());
      dialog.close();
    } catch (error) {
      sayProblem(byId('reset-message'), problemOf(error));
    } finally {
      button.disabled = false;
    }
  };
  dialog.addEventListener('close', () => (input.value = ''), { once: true });
}
