import { svelte } from '@sveltejs/vite-plugin-svelte';
import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vite';
import solid from 'vite-plugin-solid';

export default defineConfig(({ isSsrBuild }) => ({
  plugins: [vue(), svelte(), solid()],
  build: isSsrBuild ? {} : { rolldownOptions: { input: ['vue/index.html', 'svelte/index.html', 'solid/index.html'] } },
  // For `vite dev`, beside the built server on its port.
  server: { proxy: { '/mux': { target: 'ws://localhost:8080', ws: true } } },
}));
