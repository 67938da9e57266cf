// The page: its address has the name (?name=ann) and the room (#games).
import { distinctUntilChanged, EMPTY, filter, fromEvent, interval, map, merge, startWith, switchMap, tap } from 'rxjs';
import { connect } from 'rxmux';
import { client } from 'rxmux/contract';
import { api, ROOMS } from '../api.js';
import { Audit } from '../audit.js';
import { enter } from '../chat.js';

const byId = (id: string) => document.getElementById(id) as HTMLElement;
const input = byId('text') as HTMLInputElement;
const talk = byId('talk') as HTMLInputElement;

const item = (text: string, className = '') => Object.assign(document.createElement('li'), { textContent: text, className });
const append = (line: HTMLElement) => byId('lines').appendChild(line).scrollIntoView();

const name = new URLSearchParams(location.search).get('name') ?? `guest ${Math.floor(1_000 * Math.random())}`;
const peer = connect('/mux', { reconnect: true });

const room$ = fromEvent(window, 'hashchange').pipe(
  startWith(null),
  map(() => ROOMS.find((room) => location.hash === `#${room}`) ?? ROOMS[0]),
);
const typed$ = fromEvent(byId('form'), 'submit').pipe(
  tap((submitted) => submitted.preventDefault()),
  map(() => input.value.trim()),
  filter((text) => text !== ''),
  tap(() => (input.value = '')),
);
const thought$ = fromEvent(talk, 'change').pipe(
  switchMap(() => (talk.checked ? interval(400).pipe(map((nth) => `thought ${nth + 1}`)) : EMPTY)),
);

room$
  .pipe(
    switchMap((room) => {
      const { line$, present$, say } = enter(peer, room, name);
      const audit = new Audit();
      const lines$ = line$.pipe(
        tap((line) => {
          audit.add(line);
          append(item(`${line.name}: ${line.text}`));
          byId('audit').textContent = String(audit);
        }),
      );
      const seen$ = present$.pipe(
        tap(({ members }) => byId('members').replaceChildren(...members.map((member) => item(member)))),
        map(({ server }) => server),
        distinctUntilChanged(),
        tap((server) => {
          byId('server').textContent = `server ${server}`;
          append(item(`now on server ${server}`, 'moved'));
        }),
      );
      byId('lines').replaceChildren();
      byId('room').textContent = room;
      return merge(lines$, seen$, say(merge(typed$, thought$)));
    }),
  )
  .subscribe({ error: (error) => append(item(String(error), 'failed')) });

peer.status$.subscribe(({ state }) => (byId('status').textContent = state));
for (const signal of ['SIGTERM', 'SIGKILL'] as const) byId(signal).onclick = () => client(peer, api).end.notify(signal);
