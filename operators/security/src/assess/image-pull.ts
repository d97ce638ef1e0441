/** Why an image cannot be pulled, out of what kubelet and container runtime say about it. */
import { shorten } from './text.ts';
import type { Trouble } from './trouble.ts';

/** What kubelet calls it while a container waits for its image. */
const pulling = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);

export function isPullReason(reason: string): boolean {
  return pulling.has(reason);
}

/** The first that fits says what to do. */
const remedies: readonly [RegExp, string][] = [
  [/invalid reference|couldn't parse|InvalidImageName/i, 'correct its name'],
  [
    /toomanyrequests|429|rate limit/i,
    'pull with an account (spec.global.imagePullSecrets) or from a mirror (spec.global.imageRegistry)',
  ],
  [/x509|certificate/i, 'have the nodes trust the certificate of the registry'],
  [
    /no such host|timeout|timed out|refused|unreachable|EOF|RegistryUnavailable/i,
    'let the nodes reach the registry, or name a mirror in spec.global.imageRegistry',
  ],
  [/no match for platform|exec format/i, 'take an image for the architecture of these nodes'],
  // Registries hide what one may not see behind "denied", so it comes before "not found".
  [
    /unauthorized|denied|forbidden|authorization|no basic auth/i,
    'check its name, and name a Secret that may pull it in spec.global.imagePullSecrets',
  ],
  [/not found|manifest unknown|does not exist|not present|NeverPull/i, 'check its name and tag'],
];

/** The same for a pull that has just failed and for the pause before the next, so that a condition does not flicker between the two. */
export function pullTrouble(image: string, reason: string, message = ''): Trouble {
  const cause = causeOf(message, image);
  const remedy = remedies.find(([pattern]) => pattern.test(`${reason} ${cause}`))?.[1];
  return {
    reason: 'ImagePullFailed',
    key: image,
    text: `image ${shorten(image, 120)} cannot be pulled${cause === '' ? '' : `: ${cause}`}`,
    ...(remedy === undefined ? {} : { remedy }),
  };
}

/** The words of the registry, without those that kubelet and runtime wrap around them. */
function causeOf(message: string, image: string): string {
  const bare = message
    .replace(/^Back-off pulling image "[^"]*"(: )?/, '')
    .replace(/^(ErrImagePull|Failed to apply default image tag "[^"]*"): /, '')
    .replace(/rpc error: code = \w+ desc = /g, '')
    .replace(/^failed to pull and unpack image "[^"]*": /i, '')
    .replace(/^failed to resolve (reference|image) "[^"]*": /i, '');
  const named = [image, `docker.io/${image}`, `docker.io/library/${image}`].find((name) =>
    bare.startsWith(`${name}: `),
  );
  return shorten(named === undefined ? bare : bare.slice(named.length + 2), 180);
}
