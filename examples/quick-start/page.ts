// page.ts, in a browser
import { connect } from 'rxmux';
import { client } from 'rxmux/contract';
import { api } from './api.ts';

const peer = connect('ws://localhost:8080', { reconnect: true });
client(peer, api)
  .countdown({ from: 10 })
  .subscribe({
    next: (n) => (document.body.textContent = String(n)),
    error: console.error,
  });
