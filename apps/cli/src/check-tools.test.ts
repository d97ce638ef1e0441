/** What `make` says on a machine that lacks a tool, or has an old one: bin/check-tools, with a PATH of fakes. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const script = resolve(import.meta.dirname, '../../../bin/check-tools');
const good = { node: 'echo 20', npm: 'true', go: 'echo go1.26.3' };

describe('the tools of a machine', () => {
  let path: string;
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'keelson-tools-'));
    symlinkSync('/usr/bin/sed', join(path, 'sed'));
  });
  afterEach(() => rmSync(path, { recursive: true }));

  /** Runs the check where the only tools are these, each a shell script. */
  function check(tools: Partial<typeof good>) {
    for (const [name, body] of Object.entries(tools)) {
      writeFileSync(join(path, name), `#!/bin/sh\n${body}\n`);
      chmodSync(join(path, name), 0o755);
    }
    const { status, stderr } = spawnSync('/bin/sh', [script], { env: { PATH: path }, encoding: 'utf8' });
    return { status, stderr };
  }

  it('given all that is needed, says nothing', () => {
    expect(check(good)).toEqual({ status: 0, stderr: '' });
  });

  it.each([
    ['no node', { npm: good.npm, go: good.go }, 'error: node is not installed', 'remedy: install Node 20 or newer'],
    ['an old node', { ...good, node: 'echo 18' }, 'is too old', 'remedy: install Node 20 or newer'],
    ['no npm', { node: good.node, go: good.go }, 'error: npm is not installed', 'remedy: install npm'],
    ['no go', { node: good.node, npm: good.npm }, 'error: go is not installed', 'remedy: install Go 1.26 or newer'],
    ['an old go', { ...good, go: 'echo go1.25.1' }, 'error: go 1.25.1 is too old', 'remedy: install Go 1.26 or newer'],
  ])('given %s, names it and the remedy', (_, tools, error, remedy) => {
    const { status, stderr } = check(tools);
    expect(status).toBe(1);
    expect(stderr).toContain(error);
    expect(stderr).toContain(remedy);
  });
});
