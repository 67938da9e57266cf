import { mount } from 'svelte';
import App from './App.svelte';
import '../page.css';

const target = document.getElementById('root');
if (target === null) throw new Error('expected an element with the id root');
mount(App, { target });
