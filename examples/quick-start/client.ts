// client.ts; in a browser: import { connect } from 'rxmux', and connect('ws://localhost:8080')
import { take } from 'rxjs';
import { connect } from 'rxmux/node';

const peer = connect(process.argv[2] ?? 'ws://localhost:8080');
console.log(await peer.request({ op: 'square', n: 12 })); // → 144
const countdown$ = peer.open$({ op: 'countdown', n: 10 }).pipe(take(3)); // the third value ends the server's interval
countdown$.subscribe({ next: console.log, error: console.error, complete: () => void peer.close() }); // → 10 → 9 → 8
