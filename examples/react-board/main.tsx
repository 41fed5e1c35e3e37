import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createLadder } from '@laddercast/client';
import { Board, drawn } from './board.js';

const parameters = new URLSearchParams(location.search);
const id = parameters.get('board') ?? 'blitz';
const ladder = createLadder({ url: parameters.get('service') ?? location.origin });
const { format } = await ladder.board(id).definition();
const page = createRoot(document.getElementById('board')!);
page.render(
  <StrictMode>
    <Board ladder={ladder} id={id} format={format} />
  </StrictMode>,
);
Object.assign(window, { drawn, leave: () => page.unmount() });
