import '@angular/compiler';
import { ErrorHandler, NgModule, PLATFORM_ID, platformCore, ɵINJECTOR_SCOPE as INJECTOR_SCOPE } from '@angular/core';
import type { EnvironmentProviders, Provider } from '@angular/core';
import { TestBed, TestComponentRenderer } from '@angular/core/testing';

/** Stands for BrowserTestingModule, which needs a DOM. */
class BareModule {}

NgModule({ providers: [ErrorHandler, TestComponentRenderer, { provide: INJECTOR_SCOPE, useValue: 'root' }] })(BareModule);
TestBed.initTestEnvironment(BareModule, platformCore());

type Providers = readonly (Provider | EnvironmentProviders)[];

/** Makes the application of one test. Returns what `use` returns, called where `inject` works. */
export function application<T>(providers: Providers, use: () => T): T {
  TestBed.configureTestingModule({ providers: [...providers] });
  return TestBed.runInInjectionContext(use);
}

/** Makes an application a rendering one on a server. */
export const ON_SERVER: Provider = { provide: PLATFORM_ID, useValue: 'server' };
