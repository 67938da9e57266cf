import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import * as index from '../../src/index.js';
import type { NodeConnectOptions, ServeOptions } from '../../src/node.js';
import { Backoff } from '../../src/peer/dial/backoff.js';
import { resolveOptions } from '../../src/peer/base/options.js';
import { DEFAULT_HELLO_LIMITS } from '../../src/peer/answers/hello-limits.js';
import { DEFAULT_LIMITS } from '../../src/wire/limits.js';
import type { Rate } from '../../src/wire/limits.js';
import { codeIn, REPOSITORY, tableBelow } from './markdown.js';

/** The names in each member of a union. */
type OptionOf<T> = T extends unknown ? keyof T : never;

const LOST = { code: 1006, reason: '', wasClean: false, willRetry: false };
/** Every option of a peer and of a server, except `maxFrameBytes` for conformance runs, and `handler`, which `onStream` stands for. */
const OPTIONS: Readonly<Record<Exclude<keyof NodeConnectOptions | OptionOf<ServeOptions>, 'maxFrameBytes' | 'handler'>, true>> = {
  codec: true,
  requestTimeoutMs: true,
  keepalive: true,
  limits: true,
  onStream: true,
  errorSerializer: true,
  onError: true,
  context: true,
  reconnect: true,
  hello: true,
  lazy: true,
  socket: true,
  connectTimeoutMs: true,
  helloTimeoutMs: true,
  helloLimits: true,
  headers: true,
  agent: true,
  tls: true,
  port: true,
  host: true,
  listenWhileDraining: true,
  server: true,
  path: true,
  verify: true,
  verifyTimeoutMs: true,
  origins: true,
  onHello: true,
  onPeer: true,
};
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
  it('README.md names every entry point', () => {
    const { exports } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as { readonly exports: object };
    const entries = Object.keys(exports).filter((subpath) => subpath !== './package.json');
    expect(tableBelow('README.md', 'Entry points').map(([name]) => name)).toEqual(
      entries.map((subpath) => `\`${subpath.replace('.', 'rxmux')}\``),
    );
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

  it.each([
    ['docs/PROTOCOL.md', 'Limits before the hello'],
    ['docs/guide/security.md', 'Before the hello'],
  ])('The page %s lists every limit before the hello with its default', (page, heading) => {
    expect(limitsOf(page, heading)).toEqual(spelledAll(DEFAULT_HELLO_LIMITS));
  });
});

describe('options of a peer', () => {
  const rows = tableBelow('docs/guide/options.md', 'Options of a peer');
  const defaultOf = (option: string): string => rows.find(([name = '']) => codeIn(name)[0] === option)?.at(-1) ?? '';

  it('The guide lists every option of a peer and a server', () => {
    expect([...new Set(rows.flatMap(([name = '']) => codeIn(name)))].sort()).toEqual(Object.keys(OPTIONS).sort());
  });

  it('The guide has the defaults of the code', () => {
    const { requestTimeoutMs, keepalive } = resolveOptions({}, true);
    const { minDelayMs, maxDelayMs, stableMs } = new Backoff({});
    expect(defaultOf('requestTimeoutMs')).toBe(grouped(requestTimeoutMs, ' '));
    expect(codeIn(defaultOf('keepalive'))).toEqual([literal({ ...keepalive })]);
    expect(codeIn(defaultOf('reconnect'))).toEqual(['false', 'true', literal({ minDelayMs, maxDelayMs, stableMs })]);
  });
});

function limitsOf(page: string, heading = 'Limits'): Record<string, string> {
  return Object.fromEntries(tableBelow(page, heading).map(([name = '', value = '']) => [codeIn(name)[0] ?? '', value]));
}

/** A number with a gap between its thousands. */
const grouped = (value: number, gap: string): string => String(value).replace(/\B(?=(\d{3})+$)/g, gap);

/** An object of numbers, as a program would write it. */
function literal(value: Readonly<Record<string, number>>): string {
  const fields = Object.entries(value).map(([name, of]) => `${name}: ${of < 1_000 ? of : grouped(of, '_')}`);
  return `{ ${fields.join(', ')} }`;
}

function spelledAll(limits: object): Record<string, string> {
  return Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, spelled(name, value as number | Rate)]));
}

function spelled(name: string, value: number | Rate): string {
  if (typeof value === 'object') return `${value.burst}, ${value.perSecond}/s`;
  if (name.endsWith('Ms')) return `${value / 1_000} s`;
  if (!name.endsWith('Bytes')) return String(value);
  return value < 1024 ** 2 ? `${value / 1024} KiB` : `${value / 1024 ** 2} MiB`;
}
