import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { filesOf } from '../../src/command/create/files.js';
import { login } from '../../examples/servers/session.js';

type Listener = (request: { readonly url: string }, response: object) => void;

/** Request targets that Node passes on, and that are no paths. */
const TARGETS = ['*', '*:99999', '*@[', 'http://[/', 'a://b', '/\\\\[', '//[/x', '/../../etc/passwd'];

/** Returns the function that a program passes to `createServer`, and the paths of the files that it has read, and closed. */
function listenerOf(program: string): { readonly listener: Listener; readonly read: string[]; readonly closed: string[] } {
  const [, text = ''] = /createServer\((\(\{ url = '\/' \}, response\) => \{\n.*?\n\})\)/s.exec(program) ?? [];
  const read: string[] = [];
  const closed: string[] = [];
  const createReadStream = (path: string): object => {
    read.push(path);
    const file = { on: () => file, pipe: () => file, destroy: () => closed.push(path) };
    return file;
  };
  const scope = { URL, createReadStream, join, extname, TYPES: {}, page: '/page' };
  return { listener: runInNewContext(`(${text})`, scope) as Listener, read, closed };
}

describe('servers of pages', () => {
  it.each([
    ['examples/react', readFileSync('examples/react/server.ts', 'utf8')],
    ['examples/frameworks', readFileSync('examples/frameworks/server.ts', 'utf8')],
    ['examples/angular', readFileSync('examples/angular/server.ts', 'utf8')],
    ['a created project', filesOf('shop', 'vanilla')['src/server.ts'] ?? ''],
  ])('The server of %s answers a request for anything, reads below its page alone, and closes its files', (_, program) => {
    const { listener, read, closed } = listenerOf(program);
    const response = new EventEmitter();
    for (const url of TARGETS) listener({ url }, Object.assign(response, { setHeader: () => undefined }));
    expect(read).toHaveLength(TARGETS.length);
    expect(read.filter((path) => !path.startsWith('/page/'))).toEqual([]);
    // The readers have left.
    response.emit('close');
    expect(closed).toEqual(read);
  });

  it.each<readonly [what: string, env: Readonly<Record<string, string>>, used: readonly unknown[]]>([
    ['no variables', {}, [undefined, 8080, '127.0.0.1', 5173, undefined]],
    ['empty variables', { ORIGINS: '', PORT: '', HOST: '' }, [undefined, 8080, '127.0.0.1', 5173, undefined]],
    ['variables', { ORIGINS: 'a', PORT: '0', HOST: '::' }, [[/a/], 0, '::', 0, '::']],
  ])('A created project with %s admits the pages, and listens, as it says', (_, env, used) => {
    const files = filesOf('shop', 'vanilla');
    const valueIn = (file: string, place: RegExp): unknown => {
      const text = files[file] ?? '';
      const [declared = 'missing'] = /^const \{.*process\.env;$/m.exec(text) ?? [];
      const value: unknown = runInNewContext(`${declared}\n[${place.exec(text)?.[1] ?? 'missing'}]`, { process: { env } });
      return value;
    };
    expect(
      [
        valueIn('src/mux.ts', /origins: (.*),$/m),
        valueIn('src/server.ts', /http\.listen\((.*), \(\) =>/),
        valueIn('vite.config.ts', /port: (.*), allowedHosts/),
        valueIn('vite.config.ts', /host: (.*), port:/),
      ].flat(),
    ).toEqual(used);
  });

  it('The login of examples/servers answers a request for anything', () => {
    const seen: number[] = [];
    const response = { writeHead: (status: number) => ({ end: () => seen.push(status) }) };
    for (const url of TARGETS) login({ url, method: 'POST' } as never, response as never);
    expect(seen).toEqual(TARGETS.map(() => 404));
  });
});
