import { MUX } from 'rxmux/vue';
import { createApp } from 'vue';
import { mux } from '../mux.ts';
import App from './App.vue';
import '../page.css';

createApp(App).provide(MUX, mux).mount('#root');
