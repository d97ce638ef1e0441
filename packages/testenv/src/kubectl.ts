import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { partEnvironment } from './part.ts';
import type { Reaper } from './reaper.ts';

/** How to run kubectl. */
export interface KubectlOptions {
  /** Text for its standard input, e.g. manifests for `apply -f -`. */
  readonly stdin?: string;
  /** Another kubeconfig than the administrator's. */
  readonly kubeconfig?: string;
}

/** Runs kubectl and gives its standard output; rejects with the command and its standard error when it fails. */
export async function runKubectl(
  reaper: Reaper,
  binary: string,
  kubeconfig: string,
  args: readonly string[],
  options: KubectlOptions,
): Promise<string> {
  const child = reaper.spawn([binary, 'kubectl', `--kubeconfig=${options.kubeconfig ?? kubeconfig}`, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    cwd: process.cwd(),
    env: partEnvironment(reaper.dir),
  });
  child.ref();
  const { stdin, stdout, stderr } = child;
  if (!stdin || !stdout || !stderr) throw new Error('kubectl could not be started');
  // kubectl may end without reading its input; its exit code tells, not the broken pipe.
  stdin.on('error', () => {}).end(options.stdin ?? '');
  const [output, errors, [code, signal]] = await Promise.all([text(stdout), text(stderr), once(child, 'close')]);
  if (code !== 0) {
    throw new Error(
      `kubectl ${args.join(' ')} ended with ${signal ? `signal ${signal}` : `exit code ${code}`}: ${errors.trim()}`,
    );
  }
  return output;
}
