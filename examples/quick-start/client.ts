// client.ts, on Node
import { take } from 'rxjs';
import { client } from 'rxmux/contract';
import { connect } from 'rxmux/node';
import { api } from './api.ts';

const peer = connect(process.argv[2] ?? 'ws://localhost:8080');
const calls = client(peer, api);
console.log(await calls.square.promise({ n: 12 })); // → 144
// the third value ends the server's interval
const countdown$ = calls.countdown({ from: 10 }).pipe(take(3));
countdown$.subscribe({
  next: console.log,
  error: console.error,
  complete: () => void peer.close(),
}); // → 10 → 9 → 8
