import { of } from 'rxjs';
import { useCall, useMuxStatus, useStream } from 'rxmux/solid';
import { createSignal, For, Show } from 'solid-js';
import { calls, tables, wordFor } from '../mux.ts';

const search = (term: string) => (term === '' ? of([]) : calls.search({ term }));

export function App() {
  const link = useMuxStatus();
  const table = useStream(tables);

  // Each letter cancels the search before it, on the server too. The hits stay until there are newer ones.
  const [term, setTerm] = createSignal('');
  const hits = useStream(search, () => [term()], { keepValue: true });

  // An upload ends with the page, and by the button.
  const [file, setFile] = createSignal<File>();
  const upload = useCall((chosen: File) => calls.store({ name: chosen.name }, chosen), { abortOnLeave: true });
  const choose = (chosen: File | undefined) => {
    setFile(chosen);
    if (chosen) void upload.call(chosen);
  };

  return (
    <main>
      <h1>
        rxmux and Solid <output class={`badge ${link().state}`}>{wordFor(link())}</output>
      </h1>
      <div class="tools">
        <section>
          <h3>Search</h3>
          <input type="search" placeholder="a word" onInput={(event) => setTerm(event.target.value)} />
          <p id="hits">{String(hits.error() ?? hits.value()?.join(', ') ?? '')}</p>
        </section>
        <section>
          <h3>Upload</h3>
          <input type="file" onChange={(event) => choose(event.target.files?.[0])} />
          <Show when={file()}>
            {(chosen) => (
              <p>
                <progress max={chosen().size} value={upload.data() ?? 0} />{' '}
                <span id="upload">{`${upload.data() ?? 0} of ${chosen().size} bytes, ${upload.pending() ? 'sending' : 'complete'}`}</span>
                <Show when={upload.pending()}>
                  <button onClick={upload.abort}>stop</button>
                </Show>
              </p>
            )}
          </Show>
        </section>
      </div>
      <h2>{`${table.value()?.size ?? 0} prices, ${table.status()}`}</h2>
      <ul class="prices">
        <For each={[...(table.value() ?? [])]}>
          {([symbol, cents]) => (
            <li>
              {symbol} <b>{(cents / 100).toFixed(2)}</b>
            </li>
          )}
        </For>
      </ul>
    </main>
  );
}
