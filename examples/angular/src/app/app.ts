import { Component } from '@angular/core';
import { Badge } from './badge';
import { Prices } from './prices';
import { Search } from './search';
import { Upload } from './upload';

@Component({
  selector: 'app-root',
  imports: [Badge, Prices, Search, Upload],
  template: `
    <main>
      <h1>rxmux and Angular <app-badge /></h1>
      <div class="tools">
        <app-search />
        <app-upload />
      </div>
      <app-prices />
    </main>
  `,
})
export class App {}
