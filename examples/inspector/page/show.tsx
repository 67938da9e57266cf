import { render } from 'preact';
import type { show as Show } from '../../../src/inspector/page.js';
import plots from 'uplot/dist/uPlot.min.css';
import { Inspector } from './inspector.js';
import { Page } from './page.js';
import style from './page.css';

export const show: typeof Show = (element, feed, { url = 'URL' } = {}) => {
  const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
  const inspector = new Inspector(url);
  render(
    <>
      <style>{plots + style}</style>
      <Page inspector={inspector} />
    </>,
    root,
  );
  if (feed !== null) inspector.watch(feed);
  return () => {
    inspector.close();
    render(null, root);
  };
};
