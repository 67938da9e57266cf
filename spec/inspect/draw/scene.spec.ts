import { describe, expect, it } from '@jest/globals';
import { drawMarble, radiusOf } from '../../../examples/inspector/draw/marks.js';
import type { Picture } from '../../../examples/inspector/draw/painter.js';
import { Scene } from '../../../examples/inspector/draw/scene.js';
import { Rows } from '../../../examples/inspector/model/rows.js';
import type { InspectorLine } from '../../../src/inspect.js';
import { line, marbleOf, request, timelineOf } from '../model/lines.js';
import { recordingCanvas, recordingContext, THEME } from './recording-context.js';

const WIDTH = 1_000;

/** A picture of one second, in which a px is a ms. */
function pictureOf(lines: readonly InspectorLine[], changes: Partial<Picture> = {}): Picture {
  const rows = new Rows(true);
  rows.add(timelineOf(...lines).lanes);
  return { rows: rows.all, end: 1_000, span: 1_000, scroll: 0, version: 1, theme: THEME, isAbove: ({ ofDialer }) => ofDialer, ...changes };
}

function sceneOf(picture: Picture): { readonly scene: Scene; readonly drawn: string[] } {
  const { canvas, drawn } = recordingCanvas();
  const scene = new Scene(canvas);
  scene.resize(WIDTH, 300, 1);
  scene.draw(picture);
  return { scene, drawn };
}

/** The drawn lines without the axis and its grid. */
function withoutAxis(drawn: readonly string[]): readonly string[] {
  return drawn.filter((each) => !/^(rect (surface|grid)|text tick) /.test(each));
}

describe('a picture', () => {
  it('A stream has a line that is thin after its first end, a label, and its marbles', () => {
    const { drawn } = sceneOf(pictureOf([...request(100, 1, 400, { n: 'sum', b: 50 })]));
    expect(withoutAxis(drawn)).toEqual([
      'rect line 100,48.5 900x1',
      'rect line 100,88.3 300x1.5',
      'text label 96,73 #1 sum',
      'disc open 100,81 4.5',
      'rect end 106.5,78 2x11',
      'disc data 400,97 3.2',
      'rect end 405.2,89 2x11',
    ]);
  });

  it('A ping and its pong have a bar as long as the round trip, with its text', () => {
    const { drawn } = sceneOf(pictureOf([line(100, '>', { type: 'ping', nonce: 'a' }), line(300, '<', { type: 'pong', nonce: 'a' })]));
    expect(withoutAxis(drawn)).toContain('rect ping 100,45 200x8 at 0.3');
    expect(withoutAxis(drawn)).toContain('text label 106,33 200 ms');
  });

  it('A goaway is a wall over the lanes of its connection, and of no other', () => {
    const goaway = line(200, '<', { type: 'goaway', code: 0, last_stream: 1 });
    const { drawn } = sceneOf(pictureOf([...request(100, 1, 400), goaway, line(100, '>', { type: 'open', stream: 1 }, { c: 2 })]));
    expect(drawn.filter((each) => each.includes(' wall '))).toEqual([
      'disc wall 200,57 3.2',
      'rect wall 199,24 3x80 at 0.8',
      'text wall 208,36 goaway',
    ]);
  });

  it('A stream of a lost connection has a line that is broken off', () => {
    const timeline = timelineOf(line(100, '>', { type: 'open', stream: 1 }));
    timeline.lost(1, 400);
    const rows = new Rows(true);
    rows.add(timeline.lanes);
    const { drawn } = sceneOf(pictureOf([], { rows: rows.all }));
    expect(drawn.filter((each) => each.startsWith('lines'))).toEqual([
      'lines failed 400,52.8 403,45.2 404,52.8 407,45.2',
      'lines failed 400,92.8 403,85.2 404,92.8 407,85.2',
    ]);
  });

  it('Plain marbles that share a pixel are drawn once', () => {
    const data = [0, 0.2, 0.4, 5].map((t) => line(300 + t, '<', { type: 'data', stream: 1, payload: 1 }, { b: 50 }));
    const { drawn } = sceneOf(pictureOf([line(100, '>', { type: 'open', stream: 1 }), ...data]));
    expect(drawn.filter((each) => each.startsWith('disc data'))).toEqual(['disc data 300,97 3.2', 'disc data 305,97 3.2']);
  });
});

describe('a scene', () => {
  const frames = request(100, 1, 400);

  it('A later picture shifts the canvas, and draws only its new edge', () => {
    const picture = pictureOf([...frames]);
    const { scene, drawn } = sceneOf(picture);
    drawn.length = 0;
    scene.draw({ ...picture, end: 1_020 });
    expect(scene.counts).toEqual({ shifted: 1, redrawn: 1 });
    expect(drawn.slice(0, 2)).toEqual(['image -20,0', 'rect surface 1180,0 20x300']);
    expect(drawn.filter((each) => each.startsWith('disc'))).toEqual([]);
  });

  it('A picture that moves by less than a pixel draws nothing', () => {
    const picture = pictureOf([...frames]);
    const { scene, drawn } = sceneOf(picture);
    drawn.length = 0;
    scene.draw({ ...picture, end: 1_000.5 });
    expect(drawn).toEqual([]);
  });

  it.each<[change: string, Partial<Picture>]>([
    ['another span', { span: 500 }],
    ['another scroll', { scroll: 10 }],
    ['another version', { version: 2 }],
    ['other rows', { rows: [] }],
    ['an earlier time', { end: 900 }],
    ['a much later time', { end: 1_600 }],
  ])('A picture with %s is drawn anew', (_, change) => {
    const picture = pictureOf([...frames]);
    const { scene } = sceneOf(picture);
    scene.draw({ ...picture, ...change });
    expect(scene.counts).toEqual({ shifted: 0, redrawn: 2 });
  });

  it('The pointer finds the nearest marble within its reach', () => {
    const { scene } = sceneOf(pictureOf([...frames]));
    expect(scene.marbleAt(103, 83)?.kind).toBe('open');
    expect(scene.marbleAt(398, 95)?.kind).toBe('data');
    expect(scene.marbleAt(250, 89)).toBeNull();
    expect(scene.marbleAt(100, 10)).toBeNull();
  });

  it('A place and its time are each other', () => {
    const { scene } = sceneOf(pictureOf([...frames]));
    expect([scene.x(250), scene.t(250)]).toEqual([250, 250]);
  });
});

type Frame = Parameters<typeof marbleOf>[1];

function drawnOf(frame: Frame, { isAbove = true, matches = true, b = 50 } = {}): readonly string[] {
  const { context, drawn } = recordingContext();
  const marble = marbleOf('>', frame, { b });
  marble.matches = matches;
  drawMarble(context, THEME, marble, 100, 40, isAbove);
  return drawn;
}

describe('the marks of frames', () => {
  it.each<[name: string, frame: Frame, drawn: readonly string[]]>([
    ['an open', { type: 'open', stream: 1, payload: 1 }, ['disc open 100,32 4.5']],
    ['data', { type: 'data', stream: 1, payload: 1 }, ['disc data 100,32 3.2']],
    ['a fragment', { type: 'data', stream: 1, fragment: 'a', more: true }, ['disc fragment 100,32 2.5']],
    ['a cancel', { type: 'reset', stream: 1, code: 8 }, ['box end 96.7,28.7 6.6x6.6']],
    ['a refusal', { type: 'reset', stream: 1, code: 7 }, ['lines refused 100,32 3.8 97.3,29.3 102.7,34.7']],
    ['a failure', { type: 'reset', stream: 1, code: 16 }, ['lines failed 96.2,28.2 103.8,35.8 103.8,28.2 96.2,35.8']],
    ['a reset of a complete answer', { type: 'reset', stream: 1, code: 0 }, ['rect end 99,28.2 2x7.6']],
    ['the end alone', { type: 'data', stream: 1, end: true }, ['rect end 99,29 2x11']],
    ['data with the end', { type: 'data', stream: 1, payload: 1, end: true }, ['disc data 100,32 3.2', 'rect end 105.2,29 2x11']],
    ['a ping', { type: 'ping', nonce: 'a' }, ['disc ping 100,32 2.5']],
    ['a pong', { type: 'pong', nonce: 'a' }, ['disc ping 100,32 2.5']],
    ['a goaway', { type: 'goaway', last_stream: 1 }, ['disc wall 100,32 3.2']],
    ['an unknown type', { type: 'later' }, ['disc tick 100,32 3.2']],
    ['a message that does not decode', null, ['disc tick 100,32 3.2']],
  ])('The mark of %s has its colour and its shape', (_, frame, drawn) => {
    expect(drawnOf(frame)).toEqual(drawn);
  });

  it('A received frame is drawn below the line', () => {
    expect(drawnOf({ type: 'data', stream: 1, end: true, payload: 1 }, { isAbove: false })).toEqual([
      'disc data 100,48 3.2',
      'rect end 105.2,40 2x11',
    ]);
  });

  it('A frame that the filter hides is faded', () => {
    expect(drawnOf({ type: 'open', stream: 1, payload: 1 }, { matches: false })).toEqual(['disc open 100,32 4.5 at 0.16']);
  });

  it('A larger frame has a larger marble, up to a bound', () => {
    const radii = [50, 500, 5_000, 50_000, 5e9].map((b) => radiusOf(marbleOf('>', { type: 'data', stream: 1, payload: 1 }, { b })));
    expect(radii.map((radius) => Number(radius.toFixed(1)))).toEqual([3.2, 4.2, 5.2, 6, 6]);
  });
});
