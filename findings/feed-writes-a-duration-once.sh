#!/usr/bin/env bash
# feed 6.0.0: a podcast has the durations of its episodes in the first `rss2()` alone.
# Expected: each call of `rss2()` writes the feed. The README: `duration` is the "Duration in seconds (for podcasts)".
# Seen: `rss2()` removes the duration from the object that was passed to `addItem()`. The next call writes an episode without one.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund feed@6.0.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { Feed } from 'feed';

const link = 'https://example.org/';
const audio = { url: `${link}1.mp3`, type: 'audio/mpeg', length: 1000, duration: 90 };
const feed = new Feed({ id: link, title: 'News', link, copyright: 'none', podcast: true, updated: new Date(0) });
feed.addItem({ title: 'One', link: `${link}1`, date: new Date(0), audio });
const durationOf = (xml) => /<itunes:duration>(.*)<\/itunes:duration>/.exec(xml)?.[1];
const atoms = [feed.atom1()];
const seen = [durationOf(feed.rss2()), durationOf(feed.rss2())];
atoms.push(feed.atom1());
console.log('the duration in the first RSS:', seen[0], 'in the second:', seen[1]);
console.log('the duration of the own object:', audio.duration, '- both Atom texts are equal:', atoms[0] === atoms[1]);
const isSeen = seen[0] === '01:30' && seen[1] === undefined && audio.duration === undefined && atoms[0] === atoms[1];
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
