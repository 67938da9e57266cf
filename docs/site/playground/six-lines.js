import { createPair } from 'rxmux/testing';
import program from 'six-lines';
import { picture } from './picture.js';

/** The number in the program, and what a visitor may write in its place. */
const FIRST = 3;
const MOST = 8;
const TICK_MS = 300;

/**
 * Runs the program that an element shows, and draws its marbles as they come. The number in the program becomes a field:
 * another number runs the program again. Returns a function that ends it.
 */
export function playSixLines(element) {
  const code = element.querySelector('code');
  const printed = spanOf(code, (text) => text.startsWith('// →'));
  const field = fieldIn(spanOf(code, (text) => text.trim() === String(FIRST)));
  const drawn = element.querySelector('.marbles');
  let end = () => undefined;
  const again = () => {
    end();
    const n = Math.min(MOST, Math.max(1, Math.trunc(Number(field.value)) || 1));
    end = run(n, (marbles) => {
      drawn.innerHTML = picture(marbles, (n + 1.5) * TICK_MS, drawn.clientWidth);
      printed.textContent = ['//', ...marbles.gets.map(({ text }) => `→ ${text}`)].join(' ');
    });
  };
  field.addEventListener('input', again);
  element.querySelector('.again').addEventListener('click', again);
  again();
  return () => end();
}

/** Runs the program with its number. Calls `changed` for each frame of the screen until the program has ended. */
function run(n, changed) {
  const began = Date.now();
  const at = () => Date.now() - began;
  const marbles = { now: 0, page: [], server: [], gets: [] };
  let pair;
  const observed = () => {
    pair = createPair();
    pair.link.messages$.subscribe(({ from, frame }) => {
      if (frame.type === 'goaway') return;
      const row = from === 'dialer' ? marbles.page : marbles.server;
      row.push({ at: at(), type: frame.type, text: String(frame.payload ?? '') });
      if (frame.type === 'reset') void pair.dialer.close();
    });
    return pair;
  };
  program(n, observed, { log: (value) => marbles.gets.push({ at: at(), type: 'data', text: String(value) }) });
  let next;
  const draw = () => {
    marbles.now = at();
    changed(marbles);
    if (marbles.page.at(-1)?.type !== 'reset') next = requestAnimationFrame(draw);
  };
  draw();
  // The program goes on unseen, and ends by its own take().
  return () => cancelAnimationFrame(next);
}

function spanOf(code, isIt) {
  return [...code.querySelectorAll('span:not(.line)')].find(({ textContent }) => isIt(textContent));
}

function fieldIn(span) {
  const field = span.ownerDocument.createElement('input');
  Object.assign(field, { type: 'number', min: 1, max: MOST, value: FIRST });
  field.setAttribute('aria-label', 'How many values the page takes');
  span.replaceChildren(field);
  return field;
}
