import { News } from './News.tsx';
import { PriceTable } from './PriceTable.tsx';
import { Search } from './Search.tsx';
import { StatusBadge } from './StatusBadge.tsx';
import { Upload } from './Upload.tsx';

export function App() {
  return (
    <main>
      <h1>
        rxmux and React <StatusBadge />
      </h1>
      <div className="tools">
        <Search />
        <Upload />
        <News />
      </div>
      <PriceTable />
    </main>
  );
}
