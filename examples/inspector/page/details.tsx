import { asCommand, asTest } from '../model/copy.js';
import { contentText, missingText } from '../model/content.js';
import { durationText, laneState, marbleText, sizeText } from '../model/describe.js';
import type { Lane } from '../model/lane.js';
import type { Marble } from '../model/marble.js';
import type { Inspector } from './inspector.js';

/** The most frames that the table shows, the newest ones. */
const SHOWN_FRAMES = 200;

interface Props {
  readonly inspector: Inspector;
  readonly lane: Lane;
}

/** The selected lane: its facts, and its frames as a table. */
export function Details({ inspector, lane }: Props) {
  const marbles = lane.marbles.slice(-SHOWN_FRAMES);
  const lived = Math.min(lane.endedAt, inspector.end) - lane.openedAt;
  return (
    <aside aria-label="Selected stream">
      <h2>
        {lane.title}
        <button type="button" class="close" aria-label="Close" onClick={() => inspector.select(null)}>
          ×
        </button>
      </h2>
      <p>
        {laneState(lane)} · {durationText(lived)} · {sizeText(lane.bytes.dialer)} from the dialer, {sizeText(lane.bytes.acceptor)} from the
        acceptor
      </p>
      {!lane.isConnection && (
        <div class="buttons">
          <button type="button" onClick={() => inspector.copy(asCommand(lane, inspector.targetOf(lane)))}>
            Copy as command
          </button>
          <button type="button" onClick={() => inspector.copy(asTest(lane))}>
            Copy as test
          </button>
        </div>
      )}
      {inspector.copied !== '' && <pre class="copied">{inspector.copied}</pre>}
      <table>
        <caption>
          {marbles.length < lane.marbles.length ? `The last ${SHOWN_FRAMES} of ${lane.marbles.length} frames` : 'Its frames'}
        </caption>
        <thead>
          <tr>
            <th class="number">after</th>
            <th>from</th>
            <th>frame</th>
          </tr>
        </thead>
        <tbody>
          {marbles.map((marble) => (
            <tr class={marble === inspector.marble ? 'selected' : ''} onClick={() => inspector.select(marble)}>
              <td class="number">{durationText(marble.t - lane.openedAt)}</td>
              <td>{marble.ofDialer ? 'dialer' : 'acceptor'}</td>
              <td>
                {marbleText(marble)}
                {inspector.hasPayloads && <Content marble={marble} isLive={inspector.isLive} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </aside>
  );
}

/** The payload of a frame, or why there is none to show. */
export function Content({ marble, isLive }: { readonly marble: Marble; readonly isLive: boolean }) {
  const missing = missingText(marble, isLive);
  if (missing !== '') return <p class="missing">{missing}</p>;
  const text = contentText(marble);
  return text === '' ? null : <pre>{text}</pre>;
}
