/** Which images run: pinned by version, and by digest where several public sources agree on it. */
import type { FeatureContext } from '../../feature.ts';
import type { FalcoConfig } from './config.ts';

export const FALCO_VERSION = '0.44.1';

/** The last that has the old probe: https://github.com/falcosecurity/falco/pull/3796. */
const LAST_WITH_EBPF = '0.43.1';

const FALCO = 'docker.io/falcosecurity/falco';
const DIGEST = 'sha256:d0cfe422d6ac0e0f20857798f46c7d7273210e1b064b22821e4e6e7f843cde6b';
const LOADER = 'docker.io/falcosecurity/falco-driver-loader';

/** Has a shell, `stat` and `mv`: all that a rotation needs. */
export const BUSYBOX =
  'docker.io/library/busybox:1.37.0@sha256:9db7b59979c38555a39def84a31fb98b5296952f9e3afd4f6f11f05b07adfab0';

type Chosen = Pick<FalcoConfig, 'driver' | 'image' | 'loaderImage'>;

export function falcoImage({ driver, image }: Chosen, context: FeatureContext): string {
  const reference = driver === 'ebpf' ? `${FALCO}:${LAST_WITH_EBPF}` : `${FALCO}:${FALCO_VERSION}@${DIGEST}`;
  return image ?? context.image(reference);
}

export function loaderImage({ driver, loaderImage: image }: Chosen, context: FeatureContext): string {
  return image ?? context.image(`${LOADER}:${driver === 'ebpf' ? LAST_WITH_EBPF : FALCO_VERSION}`);
}
