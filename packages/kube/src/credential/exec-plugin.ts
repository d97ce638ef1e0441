/**
 * Exec plugins (client.authentication.k8s.io): a program that prints an ExecCredential. Its answer is used until it expires or
 * the server refuses it; calls that arrive while it runs share that one run.
 */
import { spawn } from 'node:child_process';
import { orAborted } from '../abort.ts';
import type { Clock } from '../clock.ts';
import type { ExecConfig } from '../config/config.ts';
import { Secret } from '../config/secret.ts';
import { Fault } from '../fault.ts';
import type { Credential, Identity } from './credential.ts';

/** Runs a plugin and gives what it printed; replaced only in tests of expiry. */
export type RunPlugin = (exec: ExecConfig) => Promise<string>;

const timeLimitMs = 120_000;

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

function runPlugin(exec: ExecConfig): Promise<string> {
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
  return new Promise((resolve, reject) => {
    const child = spawn(exec.command, exec.args, {
      env: { ...process.env, ...exec.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', interactive ? 'inherit' : 'pipe'],
      timeout: timeLimitMs,
      windowsHide: true,
    });
    const output: Buffer[] = [];
    let complaint = '';
    child.stdout?.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => {
      complaint = (complaint + chunk.toString('utf8')).slice(-500);
    });
    child.once('error', (error: NodeJS.ErrnoException) => {
      const missing = error.code === 'ENOENT';
      const problem = missing ? 'is not installed (not found)' : `cannot be started (${error.code})`;
      const hint =
        exec.installHint === undefined
          ? missing
            ? 'install it, or correct exec.command'
            : 'check its permissions'
          : exec.installHint.trim();
      reject(new Fault('CredentialsFailed', `exec plugin ${exec.command} ${problem}: ${hint}`, {}, error));
    });
    child.once('close', (code, signal) => {
      if (code === 0) return resolve(Buffer.concat(output).toString('utf8'));
      const how =
        signal === null ? `ended with exit code ${code}` : `was ended by ${signal} (limit ${timeLimitMs / 1000} s)`;
      const said = complaint.trim() === '' ? '' : `; it said: ${complaint.trim()}`;
      reject(new Fault('CredentialsFailed', `exec plugin ${exec.command} ${how}${said}`));
    });
  });
}
