/** Ours: a store of the runtime's cache, fed by the reflector. Arguments: kubeconfig, `full` or `metadata`, namespace. */
import { createClient, loadConfig, reflect, systemClock } from '@keelson/kube';
import { createCache, silentLogger } from '@keelson/runtime';
import { ConfigMap } from '@keelson/schema';
import { givenArguments, memoryNow, tell } from './report.mjs';

const { kubeconfig, mode, namespace } = givenArguments();
const before = memoryNow();
const started = performance.now();
const client = createClient(await loadConfig({ kubeconfig }));
const cache = createCache({ client, reflect, clock: systemClock, logger: silentLogger });
const { store } = cache.open({ kind: ConfigMap, hold: mode, scope: { namespace } });
cache.start(new AbortController().signal);
await store.whenSynced();
const syncMs = performance.now() - started;
await tell({ objects: store.size, before, syncMs });
