import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ExecConfig } from '../config/config.ts';
import { first } from '../testing/pem.ts';
import { createStepClock, type StepClock } from '../testing/step-clock.ts';
import { createExecCredential, runPlugin } from './exec-plugin.ts';

const apiVersion = 'client.authentication.k8s.io/v1';
let directory: string;
let clock: StepClock;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keelson-exec-'));
  clock = createStepClock();
});

afterEach(() => rm(directory, { recursive: true }));

/** A plugin that is a real program: a shell script with this body. */
async function plugin(body: string, parts: Partial<ExecConfig> = {}): Promise<ExecConfig> {
  const command = join(directory, 'plugin');
  await writeFile(command, `#!/bin/sh\n${body}\n`);
  await chmod(command, 0o755);
  return { apiVersion, command, args: [], env: {}, interactiveMode: 'Never', ...parts };
}

const credential = (status: object) => JSON.stringify({ apiVersion, kind: 'ExecCredential', status });
const print = (status: object) => `cat <<'END'\n${credential(status)}\nEND`;
const login = (exec: ExecConfig) => createExecCredential(exec, ' of user "dev"', clock);

describe('an exec plugin', () => {
  it('given a token, it is used; arguments, environment and what the plugin is told arrive', async () => {
    const seen = join(directory, 'seen');
    const exec = await plugin(`echo "$1 $STAGE $KUBERNETES_EXEC_INFO" > ${seen}\n${print({ token: 'abc' })}`, {
      args: ['--login'],
      env: { STAGE: 'prod' },
      cluster: { server: 'https://x' },
    });
    expect((await login(exec).current()).authorization?.reveal()).toBe('Bearer abc');
    const [flag, stage, ...info] = (await readFile(seen, 'utf8')).trim().split(' ');
    expect([flag, stage]).toEqual(['--login', 'prod']);
    expect(JSON.parse(info.join(' '))).toEqual({
      apiVersion,
      kind: 'ExecCredential',
      spec: { interactive: false, cluster: { server: 'https://x' } },
    });
  });

  it('given a client certificate, it is the identity', async () => {
    const status = { clientCertificateData: first.cert, clientKeyData: first.key };
    const identity = await login(await plugin(print(status))).current();
    expect(identity.certificate?.cert).toBe(first.cert);
    expect(identity.authorization).toBeUndefined();
  });

  it('given an expiry, it runs once until then, also for many callers at once, and once more after a 401', async () => {
    const runs = join(directory, 'runs');
    const expirationTimestamp = new Date(clock.now() + 60_000).toISOString();
    const exec = await plugin(`echo x >> ${runs}; sleep 0.05\n${print({ token: 'abc', expirationTimestamp })}`);
    const count = async () => (await readFile(runs, 'utf8')).split('x').length - 1;
    const source = login(exec);
    const [identity] = await Promise.all([source.current(), source.current(), source.current()]);
    clock.advance(59_000);
    expect(await source.current()).toBe(identity);
    expect(await count()).toBe(1);
    clock.advance(2_000);
    const next = await source.current();
    expect(next).not.toBe(identity);
    expect(await count()).toBe(2);
    expect(await Promise.all([source.renew(next), source.renew(next)])).toEqual([true, true]);
    expect(await count()).toBe(3);
    expect(await source.renew(next)).toBe(true);
    expect(await count()).toBe(3);
  });

  it('given a caller that gives up, the others still get what they wait for', async () => {
    const source = login(await plugin(`sleep 0.1\n${print({ token: 'abc' })}`));
    const controller = new AbortController();
    const left = source.current(controller.signal);
    const stays = source.current();
    controller.abort(new Error('enough'));
    await expect(left).rejects.toThrow('enough');
    expect((await stays).authorization?.reveal()).toBe('Bearer abc');
  });
});

describe('a plugin that fails is named with its remedy, and its output never quoted', () => {
  it.each<[string, string, Partial<ExecConfig>, RegExp]>([
    [
      'not installed',
      '',
      { command: 'no-such-login', installHint: 'brew install login' },
      /no-such-login is not installed \(not found\): brew install login/,
    ],
    ['a bad exit', 'echo "log in first" >&2; exit 3', {}, /ended with exit code 3; it said: log in first/],
    ['no JSON', 'echo topsecret', {}, /printed no JSON \(SyntaxError in 10 characters\)/],
    [
      'another version',
      `echo '{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential"}'`,
      {},
      /asks for client\.authentication\.k8s\.io\/v1 ExecCredential: make them agree/,
    ],
    ['nothing in it', print({}), {}, /neither a token nor a client certificate/],
    ['half a key pair', print({ clientCertificateData: 'x' }), {}, /must give both or none/],
    ['a bad expiry', print({ token: 'topsecret', expirationTimestamp: 'soon' }), {}, /no RFC 3339 time: soon/],
    ['a terminal needed', print({ token: 'x' }), { interactiveMode: 'Always' }, /needs a terminal and there is none/],
  ])('%s', async (_, body, parts, expected) => {
    const error: unknown = await login(await plugin(body, parts))
      .current()
      .catch((problem: unknown) => problem);
    expect(error).toMatchObject({ code: 'CredentialsFailed', message: expect.stringMatching(expected) });
    expect(String((error as Error).stack) + String((error as Error).cause)).not.toContain('topsecret');
  });

  it('one that never ends is ended at the limit with everything it started, also what ignores SIGTERM', async () => {
    const pids = join(directory, 'pids');
    const exec = await plugin(
      `trap '' TERM\nsh -c 'trap "" TERM; echo $$ >> ${pids}; sleep 30' &\necho $$ >> ${pids}\nwait`,
    );
    const source = createExecCredential(exec, '', clock, (given) => runPlugin(given, 500));
    await expect(source.current()).rejects.toThrow(`exec plugin ${exec.command} took longer than 0.5 s and was ended`);
    const isAlive = (pid: string) =>
      existsSync(`/proc/${pid}`) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
    const started = (await readFile(pids, 'utf8')).trim().split('\n');
    expect(started).toHaveLength(2);
    await expect.poll(() => started.filter(isAlive)).toEqual([]);
  });

  it('one that leaves a child behind with its output open is done when it has ended itself', async () => {
    const pid = join(directory, 'pid');
    const exec = await plugin(`sleep 30 & echo $! > ${pid}\n${print({ token: 'abc' })}`);
    try {
      expect((await login(exec).current()).authorization?.reveal()).toBe('Bearer abc');
    } finally {
      process.kill(Number(await readFile(pid, 'utf8')));
    }
  }, 10_000);

  it('and works again as soon as the plugin does', async () => {
    const source = login(await plugin('exit 1'));
    await expect(source.current()).rejects.toThrow('exit code 1');
    await plugin(print({ token: 'abc' }));
    expect((await source.current()).authorization?.reveal()).toBe('Bearer abc');
  });
});
