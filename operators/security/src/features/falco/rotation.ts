/**
 * Falco writes its file for ever. A container beside it renames the file once it is large, and keeps so many: what is read by
 * then goes, the rest is still there under another name. Falco opens the file for every event, so a rename loses none.
 */
import type { Container } from 'kubernetes-types/core/v1.js';
import type { FeatureContext } from '../../feature.ts';
import type { FalcoConfig } from './config.ts';
import { BUSYBOX } from './images.ts';
import { EVENTS_FILE, EVENTS_FOLDER } from './paths.ts';

/**
 * events.log → events.log.1 → … → events.log.<MAX_FILES> → gone. Falco lets everybody read its file, and command lines may hold
 * secrets: so the folder is closed to all but root, as whom the collector reads.
 */
export const rotationScript = `trap 'exit 0' TERM INT
chmod 0700 "\${FILE%/*}"
while :; do
  size=$(stat -c %s "$FILE" 2>/dev/null || echo 0)
  if [ "$size" -ge "$MAX_BYTES" ]; then
    number=$MAX_FILES
    while [ "$number" -gt 1 ]; do
      older=$((number - 1))
      [ ! -e "$FILE.$older" ] || mv -f "$FILE.$older" "$FILE.$number"
      number=$older
    done
    mv -f "$FILE" "$FILE.1"
  fi
  sleep "$INTERVAL" &
  wait $!
done
`;

export function rotation({ maxSizeMB, maxFiles }: FalcoConfig['log'], context: FeatureContext): Container {
  return {
    name: 'rotate',
    image: context.image(BUSYBOX),
    command: ['/bin/sh', '-c', rotationScript],
    env: [
      { name: 'FILE', value: EVENTS_FILE },
      { name: 'MAX_BYTES', value: String(maxSizeMB * 1024 * 1024) },
      { name: 'MAX_FILES', value: String(maxFiles) },
      { name: 'INTERVAL', value: '5' },
    ],
    resources: { requests: { cpu: '5m', memory: '8Mi' }, limits: { cpu: '50m', memory: '32Mi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
      // The folder belongs to root: without a single capability root may still rename in it.
      runAsUser: 0,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    volumeMounts: [{ name: 'events', mountPath: EVENTS_FOLDER }],
  };
}
