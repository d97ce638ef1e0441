import { describe, expect, it } from 'vitest';
import { pullTrouble } from './image-pull.ts';

const image = 'docker.io/falcosecurity/falco:0.99.0';
const resolving = `rpc error: code = Unknown desc = failed to pull and unpack image "${image}": failed to resolve reference "${image}": `;

/** As containerd and CRI-O put it. */
const messages: readonly [given: string, message: string, cause: string, remedy: RegExp | undefined][] = [
  ['a tag that is not there', `${resolving}${image}: not found`, ': not found', /name and tag/],
  [
    'CRI-O and a tag that is not there',
    'reading manifest 0.99.0 in docker.io/falcosecurity/falco: manifest unknown',
    ': reading manifest 0.99.0 in docker.io/falcosecurity/falco: manifest unknown',
    /name and tag/,
  ],
  [
    'a private image',
    `${resolving}pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed`,
    ': pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed',
    /imagePullSecrets/,
  ],
  [
    'a registry behind no route',
    `${resolving}failed to do request: Head "https://docker.io/v2/": dial tcp: lookup docker.io on 10.96.0.10:53: no such host`,
    ': failed to do request: Head "https://docker.io/v2/": dial tcp: lookup docker.io on 10.96.0.10:53: no such host',
    /imageRegistry/,
  ],
  [
    'a certificate that nobody trusts',
    `${resolving}failed to do request: Head "https://r/v2/": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
    ': failed to do request: Head "https://r/v2/": tls: failed to verify certificate: x509: certificate signed by unknown authority',
    /trust the certificate/,
  ],
  [
    'too many pulls',
    `${resolving}unexpected status from HEAD request to https://docker.io/v2/: 429 Too Many Requests`,
    ': unexpected status from HEAD request to https://docker.io/v2/: 429 Too Many Requests',
    /with an account/,
  ],
  ['a kubelet that only says that it waits', `Back-off pulling image "${image}"`, '', undefined],
];

describe('an image that cannot be pulled', () => {
  it.each(messages)('is told for %s, with what to do', (_, message, cause, remedy) => {
    const trouble = pullTrouble(image, 'ErrImagePull', message);
    expect(trouble.text).toBe(`image ${image} cannot be pulled${cause}`);
    if (remedy === undefined) expect(trouble.remedy).toBeUndefined();
    else expect(trouble.remedy).toMatch(remedy);
  });

  it.each(messages.slice(0, -1))('is told in the same words while kubelet pauses: %s', (_, message) => {
    const paused = pullTrouble(
      image,
      'ImagePullBackOff',
      `Back-off pulling image "${image}": ErrImagePull: ${message}`,
    );
    expect(paused).toEqual(pullTrouble(image, 'ErrImagePull', message));
  });

  it('is told when its name is none', () => {
    const said =
      'Failed to apply default image tag "A//b": couldn\'t parse image name "A//b": invalid reference format: repository name must be lowercase';
    expect(pullTrouble('A//b', 'InvalidImageName', said)).toMatchObject({
      text: 'image A//b cannot be pulled: couldn\'t parse image name "A//b": invalid reference format: repository name must be lowercase',
      remedy: 'correct its name',
    });
  });
});
