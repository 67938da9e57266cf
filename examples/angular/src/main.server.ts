import { mergeApplicationConfig } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import type { BootstrapContext } from '@angular/platform-browser';
import { provideServerRendering, RenderMode, withRoutes } from '@angular/ssr';
import { App } from './app/app';
import { appConfig } from './app/app.config';

const rendering = provideServerRendering(withRoutes([{ path: '**', renderMode: RenderMode.Prerender }]));
const config = mergeApplicationConfig(appConfig, { providers: [rendering] });

export default (context: BootstrapContext) => bootstrapApplication(App, config, context);
