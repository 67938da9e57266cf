import { MuxProvider } from 'rxmux/solid';
import { render } from 'solid-js/web';
import { mux } from '../mux.ts';
import { App } from './App.tsx';
import '../page.css';

const root = document.getElementById('root');
if (root === null) throw new Error('expected an element with the id root');
render(
  () => (
    <MuxProvider peer={mux}>
      <App />
    </MuxProvider>
  ),
  root,
);
