import { useState } from 'react';
import { of } from 'rxjs';
import { useStream } from 'rxmux/react';
import { calls } from './mux.ts';

const search = (term: string) => (term === '' ? of([]) : calls.search({ term }));

/** Each letter cancels the search before it, on the server too. The hits stay until there are newer ones. */
export function Search() {
  const [term, setTerm] = useState('');
  const { value = [], error, status } = useStream(search, [term], { keepValue: true });
  return (
    <section>
      <h2>Search</h2>
      <input type="search" placeholder="a word" value={term} onChange={(event) => setTerm(event.target.value)} />
      <p id="hits" className={status}>
        {status === 'error' ? String(error) : value.join(', ')}
      </p>
    </section>
  );
}
