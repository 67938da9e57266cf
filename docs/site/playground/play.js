import { show } from '../../../examples/inspector/page/show.tsx';
import { toolbar } from './toolbar.js';
import { world } from './world.js';

export { playSixLines } from './six-lines.js';

/** Shows a client and a server in memory, under an inspector. Returns a function that ends them. */
export function play(element) {
  const { feed, acts, close } = world();
  const view = element.ownerDocument.createElement('div');
  view.className = 'view';
  element.replaceChildren(toolbar(element.ownerDocument, acts), view);
  const hide = show(view, feed);
  return () => {
    hide();
    close();
  };
}
