import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import * as index from '../../src/index.js';
import { resolveOptions } from '../../src/peer/options.js';
import { DEFAULT_LIMITS } from '../../src/wire/limits.js';
import type { Rate } from '../../src/wire/limits.js';
import { codeIn, REPOSITORY, tableBelow, textOf } from './markdown.js';

const PAGE = 'README.md';
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

describe('the tables of README.md', () => {
  it('name every entry point', () => {
    const { exports } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as { readonly exports: object };
    const entries = Object.keys(exports).filter((subpath) => subpath !== './package.json');
    expect(tableBelow(PAGE, 'Entry points').map(([name]) => name)).toEqual(
      entries.map((subpath) => `\`${subpath.replace('.', 'rxmux')}\``),
    );
  });

  it.each(tableBelow(PAGE, 'Hooks').map(([hook = '', operator = '']) => ({ hook, operator })))(
    'name hooks that exist: $hook',
    ({ hook, operator }) => {
      expect(
        codeIn(hook)
          .map((code) => code.replace(/\(.*/, ''))
          .filter((name) => !(name in index.Peer.prototype)),
      ).toEqual([]);
      expect(codeIn(operator).filter((name) => !(name in index || name in index.Peer.prototype))).toEqual([]);
    },
  );

  it('list every error with its code, and which may be retried', () => {
    const rows = tableBelow(PAGE, 'Errors').map(([name = '', code = '', , retriable = '']) => [
      codeIn(name)[0],
      codeIn(code)[0],
      retriable.startsWith('yes'),
    ]);
    expect(rows).toEqual(ERRORS.map(({ name, code, retriable }) => [name, code, retriable]));
  });
});

describe('the limits', () => {
  const defaults = Object.fromEntries(Object.entries(DEFAULT_LIMITS).map(([name, value]) => [name, spelled(name, value as number | Rate)]));

  it('are all in PROTOCOL.md, with their defaults', () => {
    expect(limitsOf('docs/PROTOCOL.md')).toEqual(defaults);
  });

  it('have the same defaults in README.md', () => {
    expect(defaults).toMatchObject(limitsOf('README.md'));
  });
});

describe('the time-outs of README.md', () => {
  const { requestTimeoutMs, keepalive } = resolveOptions({}, true);

  it.each([
    `\`requestTimeoutMs\` ${requestTimeoutMs / 1_000} s`,
    `a ping after ${Number(keepalive?.idleMs) / 1_000} s and ${Number(keepalive?.timeoutMs) / 1_000} s for a sign of life`,
  ])('are those of the code: %s', (text) => {
    expect(textOf(PAGE)).toContain(text);
  });
});

function limitsOf(page: string): Record<string, string> {
  return Object.fromEntries(tableBelow(page, 'Limits').map(([name = '', value = '']) => [codeIn(name)[0] ?? '', value]));
}

function spelled(name: string, value: number | Rate): string {
  if (typeof value === 'object') return `${value.burst}, ${value.perSecond}/s`;
  if (name.endsWith('Ms')) return `${value / 1_000} s`;
  return name.endsWith('Bytes') ? `${value / 1024 ** 2} MiB` : String(value);
}
