/**
 * Exec plugins (client.authentication.k8s.io): a program that prints an ExecCredential. Its answer is used until it expires or
 * the server refuses it; calls that arrive while it runs share that one run.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { orAborted } from '../abort.ts';
import type { Clock } from '../clock.ts';
import type { ExecConfig } from '../config/config.ts';
import { Secret } from '../config/secret.ts';
import { Fault } from '../fault.ts';
import type { Credential, Identity } from './credential.ts';

/** Runs a plugin and gives what it printed; replaced only in tests of expiry. */
export type RunPlugin = (exec: ExecConfig) => Promise<string>;

const timeLimitMs = 120_000;
/** For what is still in the pipe when the plugin has ended. */
const lastWordsMs = 500;

export function createExecCredential(
  exec: ExecConfig,
  owner: string,
  clock: Clock,
  run: RunPlugin = runPlugin,
): Credential {
  let answer: { identity: Identity; expiresAt: number } | undefined;
  let running: Promise<Identity> | undefined;

  async function refresh(): Promise<Identity> {
    const given = toAnswer(exec, await run(exec));
    answer = given;
    return given.identity;
  }

  function shared(): Promise<Identity> {
    running ??= refresh().finally(() => {
      running = undefined;
    });
    return running;
  }

  return {
    current(signal) {
      if (answer !== undefined && clock.now() < answer.expiresAt) return Promise.resolve(answer.identity);
      return orAborted(shared(), signal);
    },
    async renew(rejected, signal) {
      // Another call may have renewed it while this one was on its way.
      if (answer !== undefined && answer.identity !== rejected) return true;
      await orAborted(shared(), signal);
      return true;
    },
    explain: () =>
      `what the exec plugin ${exec.command}${owner} gave was refused, also after it was run again: log in anew`,
  };
}

function toAnswer(exec: ExecConfig, output: string): { identity: Identity; expiresAt: number } {
  const failed = (problem: string, cause?: unknown) =>
    new Fault('CredentialsFailed', `exec plugin ${exec.command} ${problem}`, {}, cause);
  let parsed: { apiVersion?: unknown; kind?: unknown; status?: Record<string, unknown> };
  try {
    parsed = JSON.parse(output);
  } catch (error) {
    // The output may hold half a token: it is never quoted. A parse error quotes its input, so it is no cause either.
    throw failed(
      `printed no JSON (${(error as Error).name} in ${output.length} characters): it must print an ExecCredential`,
    );
  }
  if (parsed?.kind !== 'ExecCredential' || parsed.apiVersion !== exec.apiVersion) {
    throw failed(
      `printed ${String(parsed?.apiVersion)} ${String(parsed?.kind)}, but the kubeconfig asks for ${exec.apiVersion} ExecCredential: make them agree`,
    );
  }
  const text = (name: string) => {
    const value = parsed.status?.[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const token = text('token');
  const cert = text('clientCertificateData');
  const key = text('clientKeyData');
  if ((cert === undefined) !== (key === undefined)) {
    throw failed('gave only one of clientCertificateData and clientKeyData: it must give both or none');
  }
  if (token === undefined && cert === undefined)
    throw failed('gave neither a token nor a client certificate in its status');
  const expiry = text('expirationTimestamp');
  const expiresAt = expiry === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiry);
  if (Number.isNaN(expiresAt)) throw failed(`gave an expirationTimestamp that is no RFC 3339 time: ${expiry}`);
  return {
    expiresAt,
    identity: {
      ...(token === undefined ? {} : { authorization: new Secret(`Bearer ${token}`) }),
      ...(cert === undefined || key === undefined ? {} : { certificate: { cert, key: new Secret(key) } }),
    },
  };
}

/** Runs a plugin and gives what it printed; within the limit it has ended, or has been ended with all that it started. */
export function runPlugin(exec: ExecConfig, limitMs = timeLimitMs): Promise<string> {
  const terminal = process.stdin.isTTY === true;
  if (exec.interactiveMode === 'Always' && !terminal) {
    const remedy = 'log in on a terminal first, or use a credential that needs none';
    throw new Fault('CredentialsFailed', `exec plugin ${exec.command} needs a terminal and there is none: ${remedy}`);
  }
  const interactive = exec.interactiveMode !== 'Never' && terminal;
  const info = {
    apiVersion: exec.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive, ...(exec.cluster === undefined ? {} : { cluster: exec.cluster }) },
  };
  // A group of its own, so that it can be ended together with what it starts; but only a program in our group may use the terminal.
  const detached = !interactive && process.platform !== 'win32';
  const child = spawn(exec.command, exec.args, {
    env: { ...process.env, ...exec.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
    stdio: [interactive ? 'inherit' : 'ignore', 'pipe', interactive ? 'inherit' : 'pipe'],
    windowsHide: true,
    detached,
  });
  return new Promise<string>((resolve, reject) => {
    const fail = (problem: string, cause?: unknown) =>
      reject(new Fault('CredentialsFailed', `exec plugin ${exec.command} ${problem}`, {}, cause));
    const output: Buffer[] = [];
    let complaint = '';
    const said = () => (complaint.trim() === '' ? '' : `; it said: ${complaint.trim()}`);
    child.stdout?.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => {
      complaint = (complaint + chunk.toString('utf8')).slice(-500);
    });
    const limit = setTimeout(() => {
      fail(`took longer than ${limitMs / 1000} s and was ended${said()}`);
      kill(child, detached);
      letGo();
    }, limitMs);
    let lastWords: NodeJS.Timeout | undefined;
    const letGo = () => {
      clearTimeout(limit);
      clearTimeout(lastWords);
      child.stdout?.destroy();
      child.stderr?.destroy();
    };
    const end = (code: number | null, signal: NodeJS.Signals | null) => {
      letGo();
      if (code === 0) resolve(Buffer.concat(output).toString('utf8'));
      else fail(`${signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`}${said()}`);
    };
    child.once('error', (error: NodeJS.ErrnoException) => {
      letGo();
      const missing = error.code === 'ENOENT';
      const problem = missing ? 'is not installed (not found)' : `cannot be started (${error.code})`;
      const remedy = missing ? 'install it, or correct exec.command' : 'check its permissions';
      fail(`${problem}: ${exec.installHint?.trim() ?? remedy}`, error);
    });
    // `close` comes when its output has been read to the end, which a child of its own that lives on can put off for ever.
    child.once('exit', (code, signal) => {
      lastWords = setTimeout(() => end(code, signal), lastWordsMs);
    });
    child.once('close', end);
  });
}

/** SIGKILL, because what hangs may not listen to anything else. */
function kill(child: ChildProcess, isGroup: boolean): void {
  if (child.pid === undefined) return;
  try {
    process.kill(isGroup ? -child.pid : child.pid, 'SIGKILL');
  } catch {
    // It ended at this very moment.
  }
}
