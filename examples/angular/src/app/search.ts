import { Component, signal } from '@angular/core';
import { toObservable, toSignal } from '@angular/core/rxjs-interop';
import { of, switchMap } from 'rxjs';
import { injectPeer } from 'rxmux/angular';
import { client } from 'rxmux/contract';
import { api } from './api';

/** Each letter cancels the search before it, on the server too. */
@Component({
  selector: 'app-search',
  template: `
    <section>
      <h2>Search</h2>
      <input #box type="search" placeholder="a word" [value]="term()" (input)="term.set(box.value)" />
      <p id="hits">{{ hits().join(', ') }}</p>
    </section>
  `,
})
export class Search {
  readonly #calls = client(injectPeer(), api);
  protected readonly term = signal('');
  protected readonly hits = toSignal(
    toObservable(this.term).pipe(switchMap((term) => (term === '' ? of([]) : this.#calls.search({ term }, { retry: 'safe' })))),
    { initialValue: [] },
  );
}
