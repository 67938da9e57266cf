// Serves the built pages and their calls: `npm run build && npm start -- 8080`. For `vite dev` it listens on 8080.
import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { concat, defer, interval, map, of, tap, timer } from 'rxjs';
import { answering } from 'rxmux/contract';
import { MsgpackCodec } from 'rxmux/msgpack';
import { serve } from 'rxmux/node';
import { api, type Price } from './api.ts';

const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };
const WORDS = ['ananas', 'apple', 'apricot', 'banana', 'cherry', 'date', 'elderberry', 'fig', 'grape'];
const SYMBOLS = Array.from({ length: 200 }, (_, nth) => `S${String(nth).padStart(3, '0')}`);
const FIRST_CENTS = 10_000;
/** A short term has many hits, so it takes longer. */
const searchMs = (term: string) => (term.length > 1 ? 50 : 3_000);

const page = join(import.meta.dirname, '../page');
const http = createServer(({ url = '/' }, response) => {
  // A stranger may ask for '*:99999', which would be no URL.
  const path = new URL(`http://localhost${url.startsWith('/') ? url : '/'}`).pathname;
  const file = createReadStream(join(page, path.endsWith('/') ? `${path}index.html` : path));
  response.setHeader('Content-Type', TYPES[extname(path)] ?? 'text/html');
  file.on('error', () => response.writeHead(404).end()).pipe(response);
  // Without this, a reader that leaves early would keep the file open.
  response.on('close', () => file.destroy());
});

/** One symbol in turn moves by a cent. */
const change = (nth: number): Price[] => [{ symbol: SYMBOLS[nth % SYMBOLS.length] ?? '', cents: FIRST_CENTS + (nth % 7) }];

const answers = answering(api, {
  prices: () =>
    concat(
      defer(() => of(SYMBOLS.map((symbol) => ({ symbol, cents: FIRST_CENTS })))),
      interval(20).pipe(map(change)),
    ),
  search: ({ term }) =>
    timer(searchMs(term)).pipe(
      map(() => WORDS.filter((word) => word.startsWith(term))),
      tap({ complete: () => console.log('found', term), unsubscribe: () => console.log('cancelled', term) }),
    ),
  async *store(_, { input }) {
    let arrived = 0;
    for await (const slice of input) yield (arrived += slice.length);
  },
});

serve({ ...answers, server: http, path: '/mux', codec: new MsgpackCodec() });
http.listen(Number(process.argv[2] ?? 8080), '127.0.0.1', () => console.log('listening', http.address()));
