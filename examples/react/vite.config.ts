import babel from '@rolldown/plugin-babel';
import react, { reactCompilerPreset } from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react(), babel({ presets: [reactCompilerPreset()] })],
  // For `vite dev`, beside the built server on its port.
  server: { proxy: { '/mux': { target: 'ws://localhost:8080', ws: true } } },
});
