/** Sample tool: an event from every node now and then. A start: put image, command, settings and rights of your tool in its place. */
import { int32, Type } from '@keelson/schema';
import { defineFeature } from '../../feature.ts';
import { LOG_ROOT } from '../../telemetry/source.ts';
import { nodeAgent } from '../../workload/node-agent.ts';

const VERSION = '1.37.0';
const IMAGE = `docker.io/library/busybox:${VERSION}`;
/** Folder and file on every node; the pipeline reads the file, and rotated ones beside it. */
const LOGS = `${LOG_ROOT}/sample-tool`;
const FILE = `${LOGS}/events.log`;

/** Bytes after which the file makes place for the next; one that is rotated stays, for the pipeline may not have read it to its end. */
const FULL = 10_000_000;

const rotate = `[ "$(stat -c %s ${FILE} 2>/dev/null || echo 0)" -lt ${FULL} ] || mv -f ${FILE} ${FILE}.1`;
const write = `printf '{"time":"%s","message":"alive"}\\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" >> ${FILE}`;

export const sampleTool = defineFeature({
  id: 'sample_tool',
  title: 'Sample tool',
  description: 'An event from every node now and then.',
  priority: 100,
  version: VERSION,
  privileges: [
    { what: `${LOGS}, writable`, why: 'to write its events' },
    { what: 'SELinux spc_t', why: 'the default type may not write to the logs of a node' },
  ],
  exclusive: `both would write ${FILE}`,
  config: Type.Object({
    interval: int32({ default: 60, minimum: 1, maximum: 86_400, description: 'Seconds between two events.' }),
    image: Type.Optional(Type.String({ minLength: 1, maxLength: 512, description: 'Another image, taken as it is.' })),
  }),
  contribute: ({ interval, image }, context) => [
    nodeAgent('sample-tool', {
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      containers: [
        {
          name: 'sample-tool',
          image: image ?? context.image(IMAGE),
          command: ['/bin/sh', '-c', `while { ${rotate}; } && ${write}; do sleep "$INTERVAL"; done`],
          env: [{ name: 'INTERVAL', value: String(interval) }],
          resources: { requests: { cpu: '5m', memory: '8Mi' }, limits: { memory: '16Mi' } },
          securityContext: {
            // The log folder of a node belongs to root.
            runAsUser: 0,
            runAsGroup: 0,
            privileged: false,
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
            seccompProfile: { type: 'RuntimeDefault' },
            seLinuxOptions: { type: 'spc_t' },
          },
          readinessProbe: { exec: { command: ['test', '-s', FILE] }, periodSeconds: 10 },
          volumeMounts: [{ name: 'logs', mountPath: LOGS }],
        },
      ],
      volumes: [{ name: 'logs', hostPath: { path: LOGS, type: 'DirectoryOrCreate' } }],
    }),
  ],
  telemetry: () => ({
    tool: 'sample_tool',
    path: FILE,
    index: 'events',
    time: { field: 'time', layout: '%Y-%m-%dT%H:%M:%SZ', layoutType: 'strptime' },
  }),
});
