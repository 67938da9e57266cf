import { rxmuxInspector } from 'rxmux/vite';
import { defineConfig } from 'vite';

export default defineConfig({ plugins: [rxmuxInspector()] });
