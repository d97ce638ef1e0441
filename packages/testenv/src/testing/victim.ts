/** A process that starts an environment, tells its parent what it started, and meets the end that its argument names. */
import { startTestEnv } from '../index.ts';

const env = await startTestEnv();
const { etcd, apiserver } = env.parts;
process.send?.({ dir: env.dir, pids: [etcd.pid, apiserver.pid] });

switch (process.argv[2]) {
  case 'return':
    break;
  case 'throw':
    throw new Error('uncaught, on purpose');
  case 'exit':
    process.exit(3);
    break;
  case 'paused':
    apiserver.pause();
    setInterval(() => {}, 1000);
    break;
  default:
    setInterval(() => {}, 1000);
}
process.disconnect?.();
