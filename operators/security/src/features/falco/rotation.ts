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
 * secrets: so the folder is closed to all but root, as whom the collector reads. What fails is said on stderr, once as long as it
 * stays the same; a file that is not there yet is no failure.
 */
export const rotationScript = `trap 'exit 0' TERM INT
folder=\${FILE%/*}
said=
tell() {
  [ "$1" = "$said" ] || echo "$1" >&2
  said=$1
}
move() {
  answer=$(mv -f "$1" "$2" 2>&1) || { tell "cannot rotate $1: $answer"; return 1; }
}
rotate() {
  number=$MAX_FILES
  while [ "$number" -gt 1 ]; do
    older=$((number - 1))
    [ ! -e "$FILE.$older" ] || move "$FILE.$older" "$FILE.$number" || return
    number=$older
  done
  move "$FILE" "$FILE.1" && said=
}
answer=$(chmod 0700 "$folder" 2>&1) || tell "cannot close $folder to others: $answer"
while :; do
  if ! size=$(stat -c %s "$FILE" 2>&1); then
    [ -x "$folder" ] || tell "cannot look into $folder: $size"
  elif [ "$size" -ge "$MAX_BYTES" ]; then
    rotate
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
      // The default type of SELinux may not touch the logs of a node.
      seLinuxOptions: { type: 'spc_t' },
    },
    volumeMounts: [{ name: 'events', mountPath: EVENTS_FOLDER }],
  };
}
