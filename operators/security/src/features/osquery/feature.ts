/** osquery: what is on every node, asked in SQL and told when it changes. Pods: daemon.ts; questions: pack.ts. */
import { ConfigMap, manifest } from '@keelson/schema';
import { defineFeature } from '../../feature.ts';
import { config, IMAGE } from './config.ts';
import { CONFIG, CONFIG_FILE, daemon, LOGS } from './daemon.ts';
import { osqueryConf } from './osquery-conf.ts';

export const osquery = defineFeature({
  id: 'osquery',
  title: 'osquery',
  description: 'Inventory of every node: packages, users, keys, processes, ports, modules, jobs; told when it changes.',
  priority: 100,
  version: '5.17.0',
  privileges: [
    {
      what: 'root of the node, read-only',
      why: 'the inventory is that of the node; osqueryd runs with it as its root',
    },
    { what: 'hostPID', why: 'the processes are those of the node' },
    { what: 'hostNetwork', why: 'the interfaces are those of the node; nothing listens' },
    { what: 'SYS_CHROOT', why: 'to take the root of the node as its own' },
    { what: 'SYS_PTRACE', why: 'to read which program a process runs and which sockets it holds' },
    { what: 'DAC_READ_SEARCH', why: 'to read authorized_keys in homes that are closed to others' },
    { what: 'SETUID, SETGID', why: 'to drop rights while databases of packages are read' },
    { what: 'AppArmor unconfined, SELinux spc_t', why: 'the default profiles hide the node from containers' },
    { what: LOGS, why: 'to write its results' },
  ],
  exclusive: `both would write ${LOGS}/osqueryd.results.log`,
  config,
  contribute: (settings, context) => [
    manifest(ConfigMap, { name: CONFIG }, { data: { [CONFIG_FILE]: JSON.stringify(osqueryConf(settings), null, 2) } }),
    daemon(settings.image ?? context.image(IMAGE)),
  ],
  telemetry: () => ({
    tool: 'osquery',
    path: `${LOGS}/osqueryd.results.log`,
    index: 'inventory',
    time: { field: 'unixTime', layout: 's', layoutType: 'epoch' },
    // The question is what the rule is to others; `added`, `removed` or `snapshot` is what came of it.
    shared: { 'rule.name': ['name'], 'event.action': ['action'] },
  }),
});
