import { provideBrowserGlobalErrorListeners } from '@angular/core';
import type { ApplicationConfig } from '@angular/core';
import { provideClientHydration } from '@angular/platform-browser';
import { provideMux } from 'rxmux/angular';
import { MsgpackCodec } from 'rxmux/msgpack';

/** Uploads carry bytes, so the codec is msgpack. */
const mux = provideMux('/mux', { codec: new MsgpackCodec(), reconnect: { maxDelayMs: 1_000 } });

export const appConfig: ApplicationConfig = { providers: [provideBrowserGlobalErrorListeners(), provideClientHydration(), mux] };
