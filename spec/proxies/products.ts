import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Where one product runs. */
export interface Place {
  /** The folder that holds `/usr` of an unpacked package; empty for an installed one. */
  readonly root: string;
  readonly directory: string;
  /** The page's file, with the ports and time-outs of the test. */
  readonly file: string;
  readonly port: number;
  /** The idle limit, in seconds. */
  readonly idle: number;
  /** A second free port. */
  readonly adminPort: number;
}

type Command = readonly [program: string, ...args: string[]];

/** How a client reaches the product. */
export type Way = 'http' | 'h2' | 'connect' | 'tls';

/** A setting that ends idle connections. */
interface IdleLimit {
  /** The setting, as the table names it. */
  readonly setting: string;
  /** Returns the page's file with this limit, in seconds. Missing where the limit is in no file of the page. */
  readonly set?: (text: string, seconds: number) => string;
}

/** One product that forwards connections, as Debian ships it. */
export interface Product {
  readonly name: string;
  readonly package: string;
  readonly way?: Way;
  /** The file below docs/guide/proxies that the test starts and the page shows. */
  readonly page: string;
  /** Text that the test adds ahead of the page's file. */
  readonly ahead?: (place: Place) => string;
  /** Further files of the working folder. */
  readonly files?: (place: Place) => Readonly<Record<string, string>>;
  /** Prints its version. The program is the one of `command`. */
  readonly version: Command;
  /** Runs it in the foreground. */
  readonly command: (place: Place) => Command;
  readonly env?: (place: Place) => NodeJS.ProcessEnv;
  readonly idle: readonly IdleLimit[];
  /**
   * Text of the page's file without which no page gets in, or a text and what stands in its place. The table shows each with the status that
   * its lack causes.
   */
  readonly needs: readonly (string | readonly [text: string, instead: string])[];
  /** Makes it read its configuration again: a signal, or a command. */
  readonly reload: NodeJS.Signals | ((place: Place) => Command);
}

const usr = ({ root }: Place, path: string): string => join(root === '' ? '/' : root, 'usr', path);

const replacing = (pattern: RegExp, by: (seconds: number) => string) => (text: string, seconds: number) =>
  text.replace(pattern, by(seconds));
const adding = (line: (seconds: number) => string) => (text: string, seconds: number) => `${text}${line(seconds)}\n`;

export const NGINX: Product = {
  name: 'nginx',
  package: 'nginx-light',
  page: 'nginx.conf',
  files: ({ directory, file }) => ({
    main: `
daemon off;
pid ${directory}/nginx.pid;
error_log stderr error;
worker_processes 1;
events { worker_connections 4096; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${directory}/temp;`).join('\n  ')}
  include ${file};
}
`,
  }),
  command: ({ directory }) => ['nginx', '-p', directory, '-c', `${directory}/main`, '-e', 'stderr'],
  version: ['nginx', '-v'],
  idle: [{ setting: '`proxy_read_timeout`', set: replacing(/(read_timeout )60s/, (seconds) => `$1${seconds}s`) }],
  needs: ['proxy_set_header Upgrade $http_upgrade;', 'proxy_set_header Connection "upgrade";', 'proxy_set_header Host $http_host;'],
  reload: 'SIGHUP',
};

const haproxyIdle = replacing(/(timeout tunnel )60s/, (seconds) => `$1${seconds}s`);

export const HAPROXY: Product = {
  name: 'HAProxy',
  package: 'haproxy',
  page: 'haproxy.cfg',
  command: ({ file }) => ['haproxy', '-W', '-f', file],
  version: ['haproxy', '-v'],
  idle: [{ setting: '`timeout tunnel`', set: haproxyIdle }],
  needs: [],
  reload: 'SIGUSR2',
};

const APACHE: Product = {
  name: 'Apache',
  package: 'apache2-bin',
  page: 'apache.conf',
  ahead: (place) => `
ServerRoot ${usr(place, 'lib/apache2')}
PidFile ${place.directory}/apache.pid
DefaultRuntimeDir ${place.directory}
ServerName localhost
ErrorLog ${place.directory}/error.log
LogLevel error
User nobody
Group nogroup
${['mpm_event', 'authz_core', 'proxy', 'proxy_http'].map((name) => `LoadModule ${name}_module modules/mod_${name}.so`).join('\n')}
`,
  command: ({ file }) => ['apache2', '-D', 'FOREGROUND', '-f', file],
  version: ['apache2', '-v'],
  idle: [
    {
      setting: '`ProxyTimeout`, or `Timeout` if that is longer',
      set: (text, seconds) => `Timeout ${seconds}\n${text.replace('ProxyTimeout 60', `ProxyTimeout ${seconds}`)}`,
    },
  ],
  needs: [' upgrade=websocket', 'ProxyPreserveHost On'],
  reload: 'SIGUSR1',
};

const CADDY: Product = {
  name: 'Caddy',
  package: 'caddy',
  page: 'Caddyfile',
  ahead: ({ adminPort }) => `{\n  admin 127.0.0.1:${adminPort}\n}\n`,
  command: ({ file }) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', file],
  version: ['caddy', 'version'],
  idle: [],
  needs: [],
  reload: ({ file, adminPort }) => [
    'caddy',
    'reload',
    '--force',
    '--adapter',
    'caddyfile',
    '--config',
    file,
    '--address',
    `127.0.0.1:${adminPort}`,
  ],
};

const LIGHTTPD: Product = {
  name: 'lighttpd',
  package: 'lighttpd',
  page: 'lighttpd.conf',
  ahead: () => 'server.feature-flags = ( "server.graceful-shutdown-timeout" => 1 )\n',
  command: (place) => ['lighttpd', '-D', '-m', usr(place, 'lib/lighttpd'), '-f', place.file],
  version: ['lighttpd', '-v'],
  idle: ['read', 'write'].map((what) => ({
    setting: `\`server.max-${what}-idle\``,
    set: replacing(new RegExp(`(${what}-idle = )\\d+`), (seconds) => `$1${seconds}`),
  })),
  needs: ['proxy.header = ( "upgrade" => "enable" )'],
  reload: 'SIGUSR1',
};

const H2O: Product = {
  name: 'h2o',
  package: 'h2o',
  page: 'h2o.yaml',
  // Its master starts a worker for each configuration, by a script below this root.
  command: ({ file }) => ['h2o', '-m', 'master', '-c', file],
  env: (place) => ({ H2O_ROOT: usr(place, '') }),
  version: ['h2o', '--version'],
  idle: [{ setting: '`proxy.websocket.timeout`', set: replacing(/(timeout: )60000/, (seconds) => `$1${seconds}000`) }],
  needs: ['proxy.websocket: ON', 'proxy.preserve-host: ON'],
  reload: 'SIGHUP',
};

const NGHTTPX: Product = {
  name: 'nghttpx',
  package: 'nghttp2-proxy',
  page: 'nghttpx.conf',
  command: ({ file }) => ['nghttpx', `--conf=${file}`, '--log-level=ERROR'],
  version: ['nghttpx', '-v'],
  idle: [{ setting: '`backend-read-timeout`', set: replacing(/(read-timeout=)60s/, (seconds) => `$1${seconds}s`) }],
  needs: [],
  reload: 'SIGHUP',
};

const VARNISH: Product = {
  name: 'Varnish',
  package: 'varnish',
  page: 'varnish.vcl',
  command: ({ file, directory, port, idle }) => [
    'varnishd',
    '-F',
    '-a',
    `127.0.0.1:${port}`,
    '-f',
    file,
    '-n',
    `${directory}/varnish`,
    '-p',
    `pipe_timeout=${idle}`,
  ],
  version: ['varnishd', '-V'],
  idle: [{ setting: '`pipe_timeout`' }],
  needs: ['return (pipe);', 'set bereq.http.upgrade = req.http.upgrade;'],
  reload: (place) => ['sh', usr(place, 'share/varnish/varnishreload'), '-n', `${place.directory}/varnish`, place.file],
};

const TRAFFIC_SERVER: Product = {
  name: 'Traffic Server',
  package: 'trafficserver',
  page: 'trafficserver.config',
  files: (place) => {
    const folders = ['etc', 'run', 'log', 'cache'].map((name) => join(place.directory, name));
    for (const folder of folders) mkdirSync(folder);
    const [etc = '', run = '', log = '', cache = ''] = folders;
    return {
      'runroot.yaml': `
prefix: ${place.directory}
exec_prefix: ${usr(place, '')}
bindir: ${usr(place, 'bin')}
sbindir: ${usr(place, 'bin')}
sysconfdir: ${etc}
datadir: ${cache}
localstatedir: ${run}
runtimedir: ${run}
logdir: ${log}
cachedir: ${cache}
libexecdir: ${usr(place, 'lib/trafficserver/modules')}
`,
      'etc/storage.config': '',
      'etc/ip_allow.yaml': 'ip_allow:\n  - apply: in\n    ip_addrs: 0/0\n    action: allow\n    methods: ALL\n',
      'etc/records.config': `
CONFIG proxy.config.http.server_ports STRING ${place.port}
CONFIG proxy.config.admin.user_id STRING #-1
CONFIG proxy.config.bin_path STRING ${usr(place, 'bin')}
CONFIG proxy.config.crash_log_helper STRING NULL
CONFIG proxy.config.body_factory.template_sets_dir STRING ${join(place.root === '' ? '/' : place.root, 'etc/trafficserver/body_factory')}
CONFIG proxy.config.url_remap.filename STRING ${place.file}
CONFIG proxy.config.url_remap.pristine_host_hdr INT 1
CONFIG proxy.config.websocket.no_activity_timeout INT ${place.idle}
`,
    };
  },
  // It reads its configuration again, and starts the server. As a user of its own it would not find the libraries of an unpacked package.
  command: () => ['traffic_manager'],
  env: ({ directory }) => ({ TS_RUNROOT: join(directory, 'runroot.yaml') }),
  version: ['traffic_server', '--version'],
  idle: [{ setting: '`proxy.config.websocket.no_activity_timeout`' }],
  needs: [['map ws://mux.example.org/ ws://', 'map http://mux.example.org/ http://']],
  reload: () => ['traffic_ctl', 'config', 'reload'],
};

const squidSettings = (place: Place): string => `
pid_filename ${place.directory}/squid.pid
cache_log stdio:${place.directory}/squid.log
access_log none
coredump_dir ${place.directory}
shutdown_lifetime 1 second
icon_directory ${usr(place, 'share/squid/icons')}
error_directory ${place.directory}
mime_table ${usr(place, 'share/squid/mime.conf')}
unlinkd_program ${usr(place, 'lib/squid/unlinkd')}
logfile_daemon ${usr(place, 'lib/squid/log_file_daemon')}
pinger_enable off
visible_hostname mux
`;

const SQUID: Product = {
  name: 'Squid, in front of a server',
  package: 'squid',
  page: 'squid.conf',
  ahead: squidSettings,
  command: ({ file, port }) => ['squid', '-N', '-n', `rxmux${port}`, '-f', file],
  version: ['squid', '-v'],
  idle: [{ setting: '`read_timeout`', set: adding((seconds) => `read_timeout ${seconds} seconds`) }],
  needs: ['http_upgrade_request_protocols websocket allow all', ' login=PASSTHRU'],
  reload: 'SIGHUP',
};

const SQUID_FORWARD: Product = {
  ...SQUID,
  name: 'Squid, in front of clients',
  page: 'squid-forward.conf',
  way: 'connect',
  needs: [],
};

const STUNNEL: Product = {
  name: 'stunnel',
  package: 'stunnel4',
  page: 'stunnel.conf',
  way: 'tls',
  ahead: () => 'foreground = yes\npid =\n',
  command: ({ file }) => ['stunnel4', file],
  version: ['stunnel4', '-version'],
  idle: [{ setting: '`TIMEOUTidle`', set: adding((seconds) => `TIMEOUTidle = ${seconds}`) }],
  needs: [],
  reload: 'SIGHUP',
};

export const HAPROXY_H2: Product = { ...HAPROXY, name: 'HAProxy, h2 in front', page: 'haproxy-h2.cfg', way: 'h2' };
const NGHTTPX_H2: Product = { ...NGHTTPX, name: 'nghttpx, h2 in front', way: 'h2' };

/** Makes HAProxy check its servers more often than the page does, so that tests of a restart take less time. */
export function quickChecks(text: string): string {
  return text.replace('check inter 1s', 'check inter 200ms');
}

/** The products that most people use: CI runs them. */
const COMMON = [NGINX, HAPROXY, APACHE, CADDY];
/** All products, in the order of the page. */
export const PRODUCTS: readonly Product[] = [
  ...COMMON,
  HAPROXY_H2,
  LIGHTTPD,
  H2O,
  NGHTTPX,
  NGHTTPX_H2,
  VARNISH,
  TRAFFIC_SERVER,
  SQUID,
  SQUID_FORWARD,
  STUNNEL,
];

/** The products whose names begin so, such as `h2o,squid`; `all` are all. Default the four that most people use. */
export function chosen(names = process.env['PROXIES'] ?? ''): readonly Product[] {
  if (names === '') return COMMON;
  if (names === 'all') return PRODUCTS;
  const begins = names.toLowerCase().split(',');
  const found = PRODUCTS.filter(({ name }) => begins.some((begin) => name.toLowerCase().startsWith(begin)));
  if (found.length === 0)
    throw new Error(`PROXIES: expected all, or one of ${PRODUCTS.map(({ name }) => name).join('; ')}, got '${names}'`);
  return found;
}
