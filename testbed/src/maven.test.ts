import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkJava, verifyJars } from './maven.ts';

describe('a part of Java artifacts', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'keelson-testbed-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  const script = async (name: string, text: string) => {
    const path = join(dir, name);
    await writeFile(path, `#!/bin/sh\n${text}\n`);
    await chmod(path, 0o755);
    return path;
  };

  test('a missing or old Java, or a missing Maven, is named together with the way to get it', async () => {
    const javac = await script('javac', 'echo "javac 17.0.15"');
    const mvn = await script('mvn', 'echo Apache Maven');
    await checkJava(17, javac, mvn);
    await expect(checkJava(17, 'no-such-javac', mvn)).rejects.toThrow(
      /no "no-such-javac" on the PATH: install JDK 17 .*apt-get install .*default-jdk-headless maven; macOS/,
    );
    await expect(checkJava(17, javac, 'no-such-mvn')).rejects.toThrow(/no "no-such-mvn" on the PATH: install JDK 17/);
    // Java 8 and older print their version as an error.
    const old = await script('old', 'echo "javac 1.8.0_392" >&2');
    await expect(checkJava(17, old, mvn)).rejects.toThrow(/JDK 17 is needed, but .* is version 1: install JDK 17/);
  });

  test('jars that differ, are missing or are not listed are all named', async () => {
    const lib = join(dir, 'lib');
    const list = join(dir, 'checksums.txt');
    const listed = (file: string, text: string) => `${createHash('sha256').update(text).digest('hex')}  ${file}\n`;
    await mkdir(lib);
    await writeFile(join(lib, 'a.jar'), 'a');
    await writeFile(join(lib, 'b.jar'), 'b');
    await writeFile(list, listed('a.jar', 'a') + listed('b.jar', 'b'));
    await verifyJars(lib, list);
    await writeFile(list, listed('a.jar', 'another') + listed('c.jar', 'c'));
    await expect(verifyJars(lib, list)).rejects.toThrow(
      `what Maven brought is not what ${list} lists: a.jar differs, b.jar is not listed, c.jar is missing`,
    );
  });
});
