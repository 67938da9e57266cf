// Builds dist/: the sources twice, as ES modules and as CommonJS, the declarations, the command, and the page of the inspector.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildCommand } from './command.js';
import { buildDeclarations } from './declarations.js';
import { buildCommonJs, buildModules } from './modules.js';

rmSync(join(import.meta.dirname, '../dist'), { recursive: true, force: true });
await buildDeclarations('dist/cjs', 'dist/esm');
await buildModules('dist/esm');
await buildCommonJs('dist/cjs');
await buildCommand('dist/bin');
await import('../examples/inspector/build.js');
