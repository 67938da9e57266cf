import { useEffect, useRef } from 'preact/hooks';
import type { Inspector } from './inspector.js';
import { Legend } from './mark.js';
import { toggleHelp } from './page.js';

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['← →', 'to the marble before or after'],
  ['↑ ↓', 'to the lane above or below'],
  ['Space', 'pause, or follow again'],
  ['Home End', 'back to the oldest frame, or to the present'],
  ['PageUp PageDown', 'one picture back or on'],
  ['+ −', 'zoom'],
  ['/', 'to the filter'],
  ['f', 'fold ended streams'],
  ['p', 'show or hide payloads'],
  ['c', 'copy the stream as a command'],
  ['t', 'copy the stream as a test'],
  ['Esc', 'select nothing'],
  ['?', 'show or hide the keys'],
];

/** The list of keys. */
export function Help({ inspector }: { readonly inspector: Inspector }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby="keys" onClose={() => inspector.isHelpShown && toggleHelp(inspector)}>
      <h2 id="keys">Keys and marks of the diagram</h2>
      <dl>
        {KEYS.map(([keys, does]) => (
          <>
            <dt>
              {keys.split(' ').map((key) => (
                <>
                  <kbd>{key}</kbd>{' '}
                </>
              ))}
            </dt>
            <dd>{does}</dd>
          </>
        ))}
      </dl>
      <Legend />
      <form method="dialog">
        <button>Close</button>
      </form>
    </dialog>
  );
}
