import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { MuxProvider } from 'rxmux/react';
import { App } from './App.tsx';
import { mux } from './mux.ts';
import './page.css';

const root = document.getElementById('root');
if (root === null) throw new Error('expected an element with the id root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={new QueryClient()}>
      <MuxProvider peer={mux}>
        <App />
      </MuxProvider>
    </QueryClientProvider>
  </StrictMode>,
);
