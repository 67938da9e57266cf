import { experimental_streamedQuery as streamedQuery, queryOptions, useQuery } from '@tanstack/react-query';
import { mux } from './mux.ts';

const news = queryOptions({
  queryKey: ['news'],
  queryFn: streamedQuery({ streamFn: ({ signal }) => mux.open<string>({ op: 'news' }, { end: true, signal }) }),
});

/** TanStack Query over the same connection, without a contract. Its cache keeps all lines. */
export function News() {
  const { data = [] } = useQuery(news);
  return (
    <section>
      <h2>News</h2>
      <p id="news">{data.join(', ')}</p>
    </section>
  );
}
