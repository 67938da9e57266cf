import { useEffect, useReducer, useState } from 'preact/hooks';
import { durationText, marbleSentence, peersText } from '../model/describe.js';
import { Details } from './details.js';
import { Help } from './help.js';
import type { Inspector } from './inspector.js';
import { Lanes } from './lanes.js';
import { Strips } from './strips.js';

interface Props {
  readonly inspector: Inspector;
}

/** The whole page. */
export function Page({ inspector }: Props) {
  const [, again] = useReducer((count: number) => count + 1, 0);
  useEffect(() => inspector.listen(() => again(0)), [inspector]);
  const load = async (file: File | undefined): Promise<void> => {
    if (file !== undefined) inspector.load(await file.text());
  };
  return (
    <div
      class="page"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void load(event.dataTransfer?.files[0]);
      }}
    >
      <Head inspector={inspector} load={load} />
      <Lanes inspector={inspector} />
      <Strips inspector={inspector} />
      {inspector.lane !== null && <Details inspector={inspector} lane={inspector.lane} />}
      {inspector.isHelpShown && <Help inspector={inspector} />}
      <Spoken inspector={inspector} />
    </div>
  );
}

function Head({ inspector, load }: { readonly inspector: Inspector; readonly load: (file: File | undefined) => Promise<void> }) {
  const { diagram } = inspector;
  return (
    <header>
      <h1>
        <Logo />
        rxmux inspector
      </h1>
      <Status inspector={inspector} />
      <div class="filter">
        <input
          type="search"
          aria-label="Filter"
          aria-invalid={inspector.filterError !== ''}
          placeholder="name:search  code:CANCEL  size>10k  text:…"
          value={inspector.filterText}
          onInput={({ currentTarget }) => inspector.filterBy(currentTarget.value)}
        />
        {inspector.filterError !== '' && <p role="alert">{inspector.filterError}</p>}
      </div>
      <div class="buttons">
        <button type="button" aria-pressed={!diagram.view.follows} onClick={() => inspector.togglePause()}>
          {diagram.view.follows ? 'Pause' : 'Follow'}
        </button>
        <button type="button" aria-pressed={inspector.hasPayloads} onClick={() => inspector.togglePayloads()}>
          {inspector.hasPayloads ? 'Hide payloads' : 'Show payloads'}
        </button>
        <button type="button" aria-pressed={diagram.folds} onClick={() => inspector.toggleFold()}>
          Fold ended
        </button>
        <button type="button" onClick={() => inspector.clear()}>
          Clear
        </button>
        <button type="button" onClick={() => save(inspector.recording())}>
          Save
        </button>
        <label class="open-file">
          Open
          <input
            class="spoken"
            type="file"
            accept=".ndjson,.jsonl,.txt"
            onChange={({ currentTarget }) => {
              void load(currentTarget.files?.[0]);
              // Then the same file, changed meanwhile, can be chosen again.
              currentTarget.value = '';
            }}
          />
        </label>
        <button type="button" aria-label="Keys" onClick={() => toggleHelp(inspector)}>
          ?
        </button>
      </div>
    </header>
  );
}

export function toggleHelp(inspector: Inspector): void {
  inspector.isHelpShown = !inspector.isHelpShown;
  inspector.changed();
}

/** Offers the lines as a file. */
function save(recording: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([recording], { type: 'application/x-ndjson' }));
  link.download = 'recording.ndjson';
  link.click();
  URL.revokeObjectURL(link.href);
}

function Logo() {
  return (
    <svg width="30" height="14" viewBox="0 0 30 14" aria-hidden="true">
      <path d="M1 7h27" stroke="var(--line)" stroke-width="2" />
      <circle cx="6" cy="7" r="4.5" fill="var(--open)" />
      <circle cx="17" cy="7" r="4.5" fill="var(--data)" />
      <path d="M27 1v12" stroke="var(--end)" stroke-width="2.5" />
    </svg>
  );
}

function Status({ inspector }: { readonly inspector: Inspector }) {
  const { state, words } = statusOf(inspector);
  return <p class={`status ${state}`}>{words}</p>;
}

function statusOf({ diagram, failure, isLive }: Inspector): { readonly state: string; readonly words: string } {
  if (failure !== '') return { state: 'failed', words: failure };
  const { peers, unwatched, dropped, timeline } = diagram;
  const lost = dropped + timeline.forgotten > 0 ? [`${dropped + timeline.forgotten} frames left out`] : [];
  const [peer] = peers;
  if (isLive && !diagram.isFed) return { state: '', words: 'waiting for the server' };
  if (peers.length > 1 || unwatched > 0) return { state: 'open', words: [peersText(peers.length, unwatched), ...lost].join(' · ') };
  if (peer === undefined) return { state: '', words: [isLive ? absence(timeline.count > 0) : 'a recording', ...lost].join(' · ') };
  const parts = [
    peer.state,
    ...(peer.reconnects > 0 ? [`${peer.reconnects} reconnects`] : []),
    ...(peer.rttMs === null ? [] : [durationText(peer.rttMs)]),
    ...lost,
  ];
  return { state: peer.state, words: parts.join(' · ') };
}

function absence(hadPeers: boolean): string {
  return hadPeers ? 'every peer has left' : 'no peer is connected yet';
}

const SUMMARY_MS = 15_000;

/** The texts of a screen reader: the selected marble at once, and now and then a summary. */
function Spoken({ inspector }: { readonly inspector: Inspector }) {
  const [summary, setSummary] = useState('');
  useEffect(() => {
    const timer = setInterval(() => setSummary(summaryOf(inspector)), SUMMARY_MS);
    setSummary(summaryOf(inspector));
    return () => clearInterval(timer);
  }, [inspector]);
  return (
    <>
      <p class="spoken" role="status" id="summary">
        {summary}
      </p>
      <p class="spoken" aria-live="assertive" id="announced">
        {inspector.marble === null ? '' : marbleSentence(inspector.marble)}
      </p>
    </>
  );
}

function summaryOf({ diagram }: Inspector): string {
  const live = diagram.timeline.lanes.filter(({ end, isConnection }) => end === null && !isConnection).length;
  const frames = diagram.totals.all().at(-2)?.frames ?? 0;
  return `${live} streams are open. ${frames} frames in the last second. ${diagram.view.follows ? 'The diagram follows.' : 'The diagram is paused.'}`;
}
