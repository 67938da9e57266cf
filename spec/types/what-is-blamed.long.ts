import { expect, it } from '@jest/globals';
import { typeErrorsOf } from '../docs/type-check.js';

/** The call begins after these lines. */
const HEAD = [
  "import { reopenOnReconnect, type Peer } from 'rxmux';",
  'interface Entry { readonly text: string }',
  'declare const peer: Peer;',
];

const CALLS = {
  'a cursor of another type': [
    'reopenOnReconnect(peer, {',
    '  initial: 0,',
    '  open: (since) => peer.open$<Entry>({ since: since.toFixed() }),',
    '  cursor: (entry) => entry.text,',
    '});',
  ],
  'a start without a cursor': ['reopenOnReconnect(peer, {', '  initial: 0,', '  open: () => peer.open$<Entry>({}),', '});'],
};

it('TypeScript reports the mistake in a call of reopenOnReconnect, and no other error', () => {
  const programs = Object.entries(CALLS).map(([title, call]) => ({ title, program: [...HEAD, ...call].join('\n') }));
  const blamed = typeErrorsOf(programs).map((errors) => errors.map((error) => error.replace(/:.* {2}/u, ': ')));
  expect(blamed).toEqual([
    ["line 6: Type 'string' is not assignable to type 'number'."],
    [
      "line 3: Property 'cursor' is missing in type '{ initial: number; open: () => Observable<Entry>; }' but required in type 'Reopen<Entry, number>'.",
    ],
  ]);
});

const VERDICTS: readonly [verdict: string, passes: boolean][] = [
  ['500', false],
  ["'yes'", false],
  ['401', true],
  ["{ user: 'ann' }", true],
  ['{} as PeerContext', true],
  ['Promise.resolve(true)', true],
];

it('TypeScript reports a verify that returns no verdict, also without an augmented PeerContext', () => {
  const programs = VERDICTS.map(([verdict], nth) => ({
    title: `verdict ${nth}`,
    program: `import type { PeerContext } from 'rxmux';
import { serve } from 'rxmux/node';
serve({ port: 0, verify: () => (${verdict}) });`,
  }));
  const passing = typeErrorsOf(programs).map((errors) => errors.length === 0);
  expect(passing).toEqual(VERDICTS.map(([, passes]) => passes));
});
