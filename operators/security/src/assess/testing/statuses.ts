/** Statuses of containers and pods in trouble, in the words of kubelet and container runtime. */
import { ago, containerIn, falco } from './recorded.ts';

const PULL_FAILED =
  'rpc error: code = NotFound desc = failed to pull and unpack image "registry.example/falco:1.0": failed to resolve reference ' +
  '"registry.example/falco:1.0": registry.example/falco:1.0: not found';
/** A pod that waits for its image: just after an attempt, or before the next. */
export const pulling = (reason: 'ErrImagePull' | 'ImagePullBackOff') =>
  containerIn('falco', {
    waiting: {
      reason,
      message:
        reason === 'ErrImagePull'
          ? PULL_FAILED
          : `Back-off pulling image "registry.example/falco:1.0": ErrImagePull: ${PULL_FAILED}`,
    },
  });
/** How a container ended. */
export const crashed = (exitCode: number, more: object = {}) => ({
  exitCode,
  reason: 'Error',
  finishedAt: ago(40),
  ...more,
});
/** A pod whose container has crashed for a while. */
export const crashLoop = (exitCode: number, more: object = {}, restartCount = 5) =>
  containerIn(
    'falco',
    {
      waiting: { reason: 'CrashLoopBackOff', message: 'back-off 2m40s restarting failed container=falco pod=falco-x' },
    },
    { restartCount, lastState: { terminated: crashed(exitCode, more) } },
  );
/** Of a container that has had time to become ready. */
export const running = { startedAt: ago(200) };

/** A DaemonSet that runs on so many of three nodes. */
export const short = (ready: number) => falco({ numberReady: ready });
