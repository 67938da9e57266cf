import { describe, expect, it } from '@jest/globals';
import { parseOptions, readQuick } from '../../bench/harness/command-line.js';
import { readOptions } from '../../bench/options.js';
import type { Options } from '../../bench/options.js';

function optionsOf(...args: string[]): Options {
  return readOptions(args, '/project');
}

function refusal(message: string): unknown {
  return expect.objectContaining({ name: 'TypeError', message });
}

describe('the command line of a benchmark', () => {
  it.each<[string, string[], string]>([
    [
      'an unknown option',
      ['--only', 'W3'],
      "Unknown option '--only'; expected some of --quick, --browser, --workloads, --adapters, --rounds, --seed, --profile, --out",
    ],
    [
      'an option without its value',
      ['--rounds'],
      "Option '--rounds <value>' argument missing; expected some of --quick, --browser, --workloads, --adapters, --rounds, --seed, --profile, --out",
    ],
    ['zero rounds', ['--rounds', '0'], "--rounds: expected a positive whole number, got '0'"],
    ['part of a round', ['--rounds', '1.5'], "--rounds: expected a positive whole number, got '1.5'"],
    ['a seed that is no number', ['--seed', 'x'], "--seed: expected a positive whole number, got 'x'"],
  ])('The command line of a benchmark refuses %s', (_title, args, message) => {
    expect(() => optionsOf(...args)).toThrow(refusal(message));
  });

  it.each([
    ['--adapters', 'floor-b', 'floor-z'],
    ['--workloads', 'W3', 'W33'],
  ])('For %s the command line lists the valid names when one is unknown', (option, known, unknown) => {
    expect(() => optionsOf(option, `${known},${unknown}`)).toThrow(
      new RegExp(`^${option}: expected some of .*${known}.*, got '${unknown}'$`),
    );
  });

  it('The command line says that there are no options when there are none', () => {
    expect(() => parseOptions(['--quick'], {})).toThrow(refusal("Unknown option '--quick'; expected no options"));
  });

  it.each([
    [[], false],
    [['--quick'], true],
  ])('The arguments %j choose whether a run is quick: %j', (args, quick) => {
    expect(readQuick(args)).toBe(quick);
  });
});

describe('the options of a benchmark', () => {
  it('A benchmark runs and stores everything by default', () => {
    const { workloads, growth, bundles, rounds, out } = optionsOf();
    expect(workloads.map(({ id }) => id)).toEqual(expect.arrayContaining(['W1', 'W2@64', 'W2@1024', 'W9']));
    expect({ bundles, rounds }).toEqual({ bundles: true, rounds: 5 });
    expect([growth.streams.length, growth.connections.length]).toEqual([4, 5]);
    expect(out).toMatch(/project[/\\]docs[/\\]benchmarks$/);
  });

  it('A partial benchmark is only printed, unless a place is named', () => {
    expect(optionsOf('--quick').out).toBeNull();
    expect(optionsOf('--workloads', 'W3').out).toBeNull();
    expect(optionsOf('--workloads', 'W3', '--out', 'there').out).toMatch(/there$/);
  });

  it('The name of several workloads selects each of them', () => {
    const { workloads, growth, bundles } = optionsOf('--workloads', 'W2');
    expect(workloads.map(({ id }) => id)).toEqual(['W2@64', 'W2@1024', 'W2@64-header']);
    expect([bundles, growth.streams, growth.connections]).toEqual([false, [], []]);
  });

  it('A benchmark needs the packages of bench/ to measure a peer or bundles', () => {
    const needsPeers = (...args: string[]): boolean => optionsOf(...args).needsPeers;
    expect(needsPeers('--workloads', 'W3', '--adapters', 'rxmux-json,floor-a')).toBe(false);
    expect(needsPeers('--workloads', 'W3', '--adapters', 'socket.io')).toBe(true);
    expect(needsPeers('--workloads', 'W8', '--adapters', 'rxmux-json')).toBe(true);
  });
});
