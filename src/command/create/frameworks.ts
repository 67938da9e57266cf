/** The frameworks that a page can have. */
export const TEMPLATES = ['vanilla', 'react', 'angular', 'vue'] as const;

export type Template = (typeof TEMPLATES)[number];

/** Adds a framework to the files that all projects share. */
export interface Framework {
  /** The versions of Node that its compiler runs on. */
  readonly node: string;
  /** The command that checks the types, of templates too. */
  readonly typecheck: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  /** The import and the call of its plugin in vite.config.ts; empty for none. */
  readonly plugin: readonly [load: string, use: string];
  /** Members of tsconfig.json, beside the shared ones. */
  readonly compilerOptions: Readonly<Record<string, unknown>>;
  readonly tsconfig: Readonly<Record<string, unknown>>;
  /** The program of the page, and the files beside it. The first one is the entry. */
  readonly files: Readonly<Record<string, string>>;
}

const PLAIN: Omit<Framework, 'files'> = {
  node: '^20.19.0 || >=22.12.0',
  typecheck: 'tsc',
  dependencies: {},
  devDependencies: {},
  plugin: ['', ''],
  compilerOptions: {},
  tsconfig: {},
};

/** Each template, beside the shared files. */
export const FRAMEWORKS: Readonly<Record<Template, Framework>> = {
  vanilla: {
    ...PLAIN,
    files: {
      'main.ts': `import { calls } from './calls.ts';
import './page.css';

const heading = document.createElement('h1');
heading.textContent = 'rxmux';
const output = document.createElement('output');
document.querySelector('main')?.append(heading, output);
const show = (text: string) => (output.textContent = text);

calls.countdown({ from: 10 }).subscribe({
  next: (n) => show(String(n)),
  error: (error: Error) => show(error.message),
  complete: () => show('lift-off'),
});
`,
    },
  },
  react: {
    ...PLAIN,
    dependencies: { react: '^19.3.1', 'react-dom': '^19.3.1' },
    devDependencies: { '@types/react': '^19.3.3', '@types/react-dom': '^19.3.0', '@vitejs/plugin-react': '^6.3.0' },
    plugin: ["import react from '@vitejs/plugin-react';\n", 'react()'],
    compilerOptions: { jsx: 'react-jsx' },
    files: {
      'main.tsx': `import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { MuxProvider, useStream } from 'rxmux/react';
import { calls, peer } from './calls.ts';
import './page.css';

function App() {
  const { value, error, status } = useStream(() => calls.countdown({ from: 10 }), []);
  return (
    <>
      <h1>rxmux</h1>
      <output>{error ? String(error) : status === 'complete' ? 'lift-off' : value}</output>
    </>
  );
}

const main = document.querySelector('main');
if (main)
  createRoot(main).render(
    <StrictMode>
      <MuxProvider peer={peer}>
        <App />
      </MuxProvider>
    </StrictMode>,
  );
`,
    },
  },
  angular: {
    ...PLAIN,
    node: '^22.22.3 || ^24.15.0 || >=26.0.0',
    typecheck: 'ngc --noEmit',
    dependencies: { '@angular/common': '^22.2.0', '@angular/core': '^22.2.0', '@angular/platform-browser': '^22.2.0' },
    devDependencies: {
      '@analogjs/vite-plugin-angular': '^2.7.5',
      '@angular/build': '^22.2.0',
      '@angular/compiler': '^22.2.0',
      '@angular/compiler-cli': '^22.2.0',
    },
    plugin: ["import angular from '@analogjs/vite-plugin-angular';\n", "angular({ tsconfig: 'tsconfig.json', fastCompile: true })"],
    compilerOptions: { experimentalDecorators: true },
    tsconfig: { angularCompilerOptions: { strictTemplates: true } },
    files: {
      'main.ts': `import { Component } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import { endWith } from 'rxjs';
import { MUX, muxResource } from 'rxmux/angular';
import { calls, peer } from './calls.ts';
import './page.css';

@Component({
  selector: 'main',
  template: \`
    <h1>rxmux</h1>
    <output>{{ countdown.error() ?? countdown.value() }}</output>
  \`,
})
class App {
  protected readonly countdown = muxResource({
    stream: () => calls.countdown({ from: 10 }).pipe(endWith('lift-off')),
  });
}

bootstrapApplication(App, { providers: [{ provide: MUX, useValue: peer }] }).catch(console.error);
`,
    },
  },
  vue: {
    ...PLAIN,
    typecheck: 'vue-tsc',
    dependencies: { vue: '^3.5.45' },
    devDependencies: { '@vitejs/plugin-vue': '^6.0.11', 'vue-tsc': '^3.3.14' },
    plugin: ["import vue from '@vitejs/plugin-vue';\n", 'vue()'],
    files: {
      'main.ts': `import { MUX } from 'rxmux/vue';
import { createApp } from 'vue';
import App from './App.vue';
import { peer } from './calls.ts';
import './page.css';

createApp(App).provide(MUX, peer).mount('main');
`,
      'App.vue': `<script setup lang="ts">
import { useStream } from 'rxmux/vue';
import { calls } from './calls.ts';

const { value, error, status } = useStream(() => calls.countdown({ from: 10 }));
</script>

<template>
  <h1>rxmux</h1>
  <output>{{ error ?? (status === 'complete' ? 'lift-off' : value) }}</output>
</template>
`,
    },
  },
};
