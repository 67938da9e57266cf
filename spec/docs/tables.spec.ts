import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import * as index from '../../src/index.js';
import { TOTAL_LIMITS } from '../../src/node/totals.js';
import { DEFAULT_HELLO_LIMITS } from '../../src/peer/hello.js';
import { DEFAULT_LIMITS } from '../../src/wire/limits.js';
import type { Rate } from '../../src/util/time.js';
import { codeIn, REPOSITORY, tableBelow } from './markdown.js';
import { spelledLimit } from './spelled.js';

const LOST = { code: 1006, reason: '', wasClean: false, willRetry: false };
const ERRORS: readonly index.AnyMuxError[] = [
  new index.RemoteError('', null),
  new index.RefusedError(''),
  new index.ResetError(null),
  new index.CancelledError(''),
  new index.DeadlineExceededError(1),
  new index.ConnectionLostError(LOST),
  new index.QueueOverflowError(''),
  new index.StreamIdsExhaustedError(''),
  new index.ConnectError(''),
  new index.CodecMismatch('', ''),
  new index.CodecNotRegistered('', []),
  new index.ProtocolError(''),
];

describe('tables of the guide', () => {
  it('README.md names every entry point and every command', () => {
    const { exports, bin } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as Record<'exports' | 'bin', object>;
    const doors = Object.keys(exports).filter((subpath) => subpath !== './package.json');
    expect(tableBelow('README.md', 'Entry points').map(([name]) => name)).toEqual([
      ...doors.map((subpath) => `\`${subpath.replace('.', 'rxmux')}\``),
      ...Object.keys(bin).map((command) => `\`npx ${command}\``),
    ]);
  });

  it.each(tableBelow('docs/guide/calls.md', 'Hooks').map(([hook = '', operator = '']) => ({ hook, operator })))(
    'The guide names hooks and operators that exist: $hook',
    ({ hook, operator }) => {
      expect(
        codeIn(hook)
          .map((code) => code.replace(/\(.*/, ''))
          .filter((name) => !(name in index.Peer.prototype)),
      ).toEqual([]);
      expect(codeIn(operator).filter((name) => !(name in index || name in index.Peer.prototype))).toEqual([]);
    },
  );

  it('The guide lists every error with its code, and whether it is retriable', () => {
    const rows = tableBelow('docs/guide/errors.md', 'Every error').map(([name = '', code = '', , retriable = '']) => [
      codeIn(name)[0],
      codeIn(code)[0],
      retriable.startsWith('yes'),
    ]);
    expect(rows).toEqual(ERRORS.map(({ name, code, retriable }) => [name, code, retriable]));
  });
});

describe('limits', () => {
  const defaults = spelledAll(DEFAULT_LIMITS);

  it('PROTOCOL.md lists every limit with its default', () => {
    expect(limitsOf('docs/PROTOCOL.md')).toEqual(defaults);
  });

  it('The guide has the same defaults of limits', () => {
    expect(defaults).toMatchObject(limitsOf('docs/guide/security.md'));
  });

  it('The guide lists every total limit with its default', () => {
    const totals = Object.fromEntries(Object.entries(TOTAL_LIMITS).map(([name, [, byDefault]]) => [name, String(byDefault)]));
    expect(limitsOf('docs/guide/security.md', 'All connections together')).toEqual(totals);
  });

  it.each([
    ['docs/PROTOCOL.md', 'Limits before the hello'],
    ['docs/guide/security.md', 'Before the hello'],
  ])('The page %s lists every limit before the hello with its default', (page, heading) => {
    expect(limitsOf(page, heading)).toEqual(spelledAll(DEFAULT_HELLO_LIMITS));
  });
});

function limitsOf(page: string, heading = 'Limits'): Record<string, string> {
  return Object.fromEntries(tableBelow(page, heading).map(([name = '', value = '']) => [codeIn(name)[0] ?? '', value]));
}

function spelledAll(limits: object): Record<string, string> {
  return Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, spelledLimit(name, value as number | Rate)]));
}
