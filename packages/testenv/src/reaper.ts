/**
 * The reaper: a tiny shell process that outlives the test process and clears up after it, whatever end that one meets.
 *
 * It holds the reading end of a pipe from the test process. When the pipe closes (`end()`, normal exit, uncaught
 * exception, Ctrl-C, kill -9: the kernel closes it in each case) it kills every registered process and removes the folder.
 * So there is one way to clean up, no signal handler in the test process, and it costs about 1 MB.
 *
 * Invariant: a process either is registered before it runs, or never runs. It registers itself, as a file named by its
 * process id in `run/`, before it becomes the part; the reaper moves `run/` away first, so a late-comer finds no
 * `run/` and gives up. The reaper has its own process group, so a Ctrl-C in the terminal does not reach it.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

// Half a second of rounds at most: after that what still answers is only waiting for its own parent to take notice.
const reaperScript = `
trap '' INT TERM HUP
dir=$0 keep=
while read -r line; do [ "$line" = keep-logs ] && keep=1; done
cd / && mv "$dir/run" "$dir/ended"
round=0
while [ $round -lt 25 ]; do
  alive=
  for file in "$dir"/ended/*; do
    [ -e "$file" ] || continue
    if kill -9 "\${file##*/}" 2>/dev/null; then alive=1; else rm -f "$file"; fi
  done
  [ -n "$alive" ] || break
  sleep 0.02
  round=$((round + 1))
done
if [ -n "$keep" ]; then
  for file in "$dir"/* "$dir"/.[!.]*; do [ "$file" = "$dir/log" ] || rm -rf "$file"; done
else
  rm -rf "$dir" || { sleep 0.2; rm -rf "$dir"; }
fi
`;

const registerScript = ': > "$0/run/$$" || exit 1; exec "$@"';

/** Starts processes that do not outlive this one, and owns the folder that they write to. */
export class Reaper {
  /** The folder that is removed at the end. */
  readonly dir: string;
  readonly #process: ChildProcess;
  #ended: Promise<void> | undefined;

  private constructor(dir: string) {
    this.dir = dir;
    this.#process = spawn('sh', ['-c', reaperScript, dir], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
    });
    // The reaper must not keep the test process alive: a test process that just ends is cleaned up after as well.
    this.#process.unref();
    const pipe = this.#process.stdin;
    pipe?.on('error', () => {});
    if (pipe && 'unref' in pipe && typeof pipe.unref === 'function') pipe.unref();
  }

  /** Takes charge of an existing, empty folder. */
  static async over(dir: string): Promise<Reaper> {
    await mkdir(join(dir, 'run'));
    const reaper = new Reaper(dir);
    await once(reaper.#process, 'spawn');
    return reaper;
  }

  /** Spawns a command that ends with this process at the latest; its process id is that of the command itself. */
  spawn(command: readonly string[], options: SpawnOptions): ChildProcess {
    const child = spawn('sh', ['-c', registerScript, this.dir, ...command], { ...options, detached: true });
    child.unref();
    const { pid } = child;
    if (pid !== undefined) {
      child.once('exit', () => void rm(join(this.dir, 'run', String(pid)), { force: true }).catch(() => {}));
    }
    return child;
  }

  /** Kills all that was spawned and removes the folder; with `keepLogs` its subfolder log/ stays. */
  end(options: { keepLogs?: boolean } = {}): Promise<void> {
    this.#ended ??= this.#end(options.keepLogs ?? false);
    return this.#ended;
  }

  async #end(keepLogs: boolean): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    this.#process.ref();
    const exit = once(this.#process, 'exit');
    this.#process.stdin?.end(keepLogs ? 'keep-logs\n' : '');
    await exit;
  }
}
