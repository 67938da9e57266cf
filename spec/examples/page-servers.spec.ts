import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { filesOf } from '../../src/command/create/files.js';
import { login } from '../../examples/servers/session.js';

type Listener = (request: { readonly url: string }, response: object) => void;

/** Request targets that Node passes on, and that are no paths. */
const TARGETS = ['*', '*:99999', '*@[', 'http://[/', 'a://b', '/\\\\[', '//[/x', '/../../etc/passwd'];

/** Returns the function that a program passes to `createServer`, and the paths of the files that it has read. */
function listenerOf(program: string): { readonly listener: Listener; readonly read: string[] } {
  const [, text = ''] = /createServer\((\(\{ url = '\/' \}, response\) => \{\n.*?\n\})\)/s.exec(program) ?? [];
  const read: string[] = [];
  const file = { on: () => file, pipe: () => file };
  const createReadStream = (path: string): typeof file => {
    read.push(path);
    return file;
  };
  const scope = { URL, createReadStream, join, extname, TYPES: {}, page: '/page' };
  return { listener: runInNewContext(`(${text})`, scope) as Listener, read };
}

describe('servers of pages', () => {
  it.each([
    ['examples/react', readFileSync('examples/react/server.ts', 'utf8')],
    ['examples/frameworks', readFileSync('examples/frameworks/server.ts', 'utf8')],
    ['examples/angular', readFileSync('examples/angular/server.ts', 'utf8')],
    ['a created project', filesOf('shop', 'vanilla')['src/server.ts'] ?? ''],
  ])('The server of %s answers a request for anything, and reads below its page alone', (_, program) => {
    const { listener, read } = listenerOf(program);
    for (const url of TARGETS) listener({ url }, { setHeader: () => undefined });
    expect(read).toHaveLength(TARGETS.length);
    expect(read.filter((path) => !path.startsWith('/page/'))).toEqual([]);
  });

  it('The login of examples/servers answers a request for anything', () => {
    const seen: number[] = [];
    const response = { writeHead: (status: number) => ({ end: () => seen.push(status) }) };
    for (const url of TARGETS) login({ url, method: 'POST' } as never, response as never);
    expect(seen).toEqual(TARGETS.map(() => 404));
  });
});
