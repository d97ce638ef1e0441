#!/usr/bin/env -S node --max-semi-space-size=2
'use strict';
// The small young generation keeps what a large list leaves behind out of resident memory (measured in docs/benchmarks.md).
// Plain old syntax: this file has to run on a Node that is too old for the rest, in order to say so.
const wanted = [22, 19];
const found = process.versions.node.split('.').map(Number);
if (found[0] < wanted[0] || (found[0] === wanted[0] && found[1] < wanted[1])) {
  console.error(`error: keelson needs Node ${wanted.join('.')} or newer, this is ${process.versions.node}`);
  console.error(
    'remedy: install a current Node from nodejs.org, or `npm install node@24` in the project and run it with npx',
  );
  process.exit(1);
}
// In a file of its own: the oldest versions cannot even parse an import().
require('./start.cjs');
