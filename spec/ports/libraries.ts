import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { unpacked } from '../proxies/debian.js';

/** A WebSocket library of another language, and the program that dials with it. */
export interface Library {
  readonly name: string;
  /** The setting to raise, so that the library reads 65 536 bytes. */
  readonly raise: string;
  /** Builds the program into a folder. */
  readonly build: (folder: string) => Program;
}

export interface Program {
  /** The program and its first arguments. */
  readonly command: readonly [string, ...string[]];
  /** The version of the library. */
  readonly version: string;
}

const PYTHON = [
  'python3-websockets',
  'python3-aiohttp',
  'python3-aiosignal',
  'python3-async-timeout',
  'python3-attr',
  'python3-charset-normalizer',
  'python3-frozenlist',
  'python3-idna',
  'python3-multidict',
  'python3-yarl',
];
const GO = [
  'golang-1.19-go',
  'golang-1.19-src',
  'golang-github-gorilla-websocket-dev',
  'golang-nhooyr-websocket-dev',
  'golang-github-klauspost-compress-dev',
];
const JAVA = ['libgoogle-gson-java', 'libtomcat9-java'];

/** The version of an unpacked package, without Debian's own part. */
function versionOf(root: string, name: string): string {
  const changes = gunzipSync(readFileSync(join(root, 'usr/share/doc', name, 'changelog.Debian.gz'))).toString();
  return /\((?:\d+:)?(\d[\d.]*)/.exec(changes)?.[1] ?? '';
}

const python =
  (library: string) =>
  (folder: string): Program => {
    const root = unpacked('ports-python', PYTHON);
    const settings = [`PYTHONPATH=${join(root, 'usr/lib/python3/dist-packages')}`, `PYTHONPYCACHEPREFIX=${folder}`];
    // `python3` may be a script that looks for the program each time.
    const python3 = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
    const command = ['env', ...settings, python3, join(__dirname, 'python/program.py'), `on_${library}`] as const;
    return { command, version: versionOf(root, `python3-${library}`) };
  };

const go =
  (library: string, name: string) =>
  (folder: string): Program => {
    const root = unpacked('ports-go', GO);
    const GOROOT = join(root, 'usr/lib/go-1.19');
    const settings = { GO111MODULE: 'off', CGO_ENABLED: '0', GOROOT, GOPATH: join(root, 'usr/share/gocode'), GOCACHE: join(root, 'cache') };
    const program = join(folder, library);
    const files = ['mux', 'call', 'program', library].map((file) => `${file}.go`);
    const options = { cwd: join(__dirname, 'go'), env: { ...process.env, ...settings } };
    execFileSync(join(GOROOT, 'bin/go'), ['build', '-o', program, ...files], options);
    return { command: [program], version: versionOf(root, name) };
  };

const java =
  (library: string, versionIn: (root: string) => string) =>
  (folder: string): Program => {
    const root = unpacked('ports-java', JAVA);
    const classes = join(folder, 'java');
    const path = `${classes}:${join(root, 'usr/share/java/*')}`;
    const files = ['Mux', 'Socket', 'Jdk', 'Tomcat', 'Program'].map((name) => join(__dirname, 'java', `${name}.java`));
    if (!existsSync(classes)) execFileSync('javac', ['-encoding', 'UTF-8', '-d', classes, '-cp', path, ...files]);
    return { command: ['java', '-XX:TieredStopAtLevel=1', '-cp', path, 'Program', library], version: versionIn(root) };
  };

const jdkVersion = (): string => /\d+/.exec(execFileSync('java', ['--version'], { encoding: 'utf8' }))?.[0] ?? '';

export const LIBRARIES: readonly Library[] = [
  { name: '`websockets` (Python)', raise: '–', build: python('websockets') },
  { name: '`aiohttp` (Python)', raise: '–', build: python('aiohttp') },
  { name: '`gorilla/websocket` (Go)', raise: '–', build: go('gorilla', 'golang-github-gorilla-websocket-dev') },
  { name: '`nhooyr.io/websocket` (Go)', raise: '`Conn.SetReadLimit`', build: go('nhooyr', 'golang-nhooyr-websocket-dev') },
  { name: '`java.net.http` (JDK)', raise: '–, but join the pieces up to the one with `last`', build: java('jdk', jdkVersion) },
  {
    name: 'Tomcat (Java)',
    raise:
      '`setDefaultMaxTextMessageBufferSize` of the container, or `setMaxTextMessageBufferSize` of the session; the same for binary messages',
    build: java('tomcat', (root) => versionOf(root, 'libtomcat9-java')),
  },
];
