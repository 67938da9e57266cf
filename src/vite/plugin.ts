import { checkBoolean, checkOptions, readOptions } from '../util/check.js';
import type { Options } from '../util/check.js';

/** How the plugin shows the inspector. */
export interface RxmuxInspectorOptions {
  /** Whether the panel begins open. Default `false`. */
  readonly isOpen?: boolean | undefined;
}

/** A plugin of Vite 6 or later, by the members that Vite reads. */
export interface RxmuxInspectorPlugin {
  /** The name of the plugin in messages of Vite. */
  readonly name: string;
  /** Before the plugins of Vite, which would resolve `rxmux` to its files. */
  readonly enforce: 'pre';
  /** Whether Vite serves a page for development: then the plugin takes part, and in no build and no test. */
  apply(config: unknown, env: { readonly command: string; readonly mode: string }): boolean;
  /** Has Vite prepare the modules at once: at their first import it would load the page again. */
  config(): {
    /** The modules that Vite prepares. */
    readonly optimizeDeps: {
      /** Their names. */
      readonly include: string[];
    };
  };
  /** Puts a module between a page and `rxmux`. */
  resolveId(
    source: string,
    importer: string | undefined,
    asked?: { readonly isEntry: boolean; readonly ssr?: boolean | undefined },
  ): string | null;
  /** Returns the code of that module. */
  load(id: string): string | null;
}

/** Declares the options of the plugin. */
const PLUGIN_OPTIONS: Options<RxmuxInspectorOptions, { readonly isOpen: boolean }> = { isOpen: [checkBoolean, false] };
/** Vite leaves modules alone whose names begin with this character. */
const INSPECTED = '\0rxmux/inspected';

/**
 * Shows the inspector in each page that Vite serves for development. It watches every peer that a module of the page makes with `connect`
 * of `rxmux`. A build, a test and a page that a server renders have none of it.
 *
 * @throws TypeError for a bad option
 *
 * @example
 * ```ts
 * export default defineConfig({ plugins: [rxmuxInspector()] });   // vite.config.ts
 * ```
 */
export function rxmuxInspector(options: RxmuxInspectorOptions = {}): RxmuxInspectorPlugin {
  checkOptions(options, PLUGIN_OPTIONS);
  const { isOpen } = readOptions(PLUGIN_OPTIONS, options);
  return {
    name: 'rxmux-inspector',
    enforce: 'pre',
    // Vitest serves too, under any mode.
    apply: (_config, { command, mode }) => command === 'serve' && mode !== 'test' && process.env['VITEST'] === undefined,
    config: () => ({ optimizeDeps: { include: ['rxjs', 'rxmux', 'rxmux/inspector'] } }),
    resolveId: (source, importer, asked) => (source === 'rxmux' && importer !== INSPECTED && asked?.ssr !== true ? INSPECTED : null),
    load: (id) => (id === INSPECTED ? inspected(isOpen) : null),
  };
}

/** The module that pages import as `rxmux`. A worker has no document, and so no panel. */
const inspected = (isOpen: boolean): string => `import { connect as dial } from 'rxmux';
import { showInspector } from 'rxmux/inspector';
import { Subject } from 'rxjs';
export * from 'rxmux';
const peers$ = new Subject();
if (typeof document === 'object') showInspector({ peers$ }, { isOpen: ${isOpen} });
export function connect(...args) {
  const peer = dial(...args);
  peers$.next(peer);
  return peer;
}
`;
