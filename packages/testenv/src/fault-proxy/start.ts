import type { Keyring, Registrar } from '../credentials.ts';
import { findFreePort } from '../ports.ts';
import type { FaultProxyOptions } from '../test-env.ts';
import { FaultProxy } from './proxy.ts';
import { Upstream } from './upstream.ts';

/** Starts a fault proxy before an API server. */
export async function startFaultProxy(
  apiServer: string,
  keyring: Keyring,
  registrar: Registrar,
  options: FaultProxyOptions,
): Promise<FaultProxy> {
  const { authority, frontProxy, admin } = keyring;
  const certificate = await authority.issue({
    commonName: 'fault-proxy',
    hosts: ['127.0.0.1', 'localhost'],
    usage: 'server',
  });
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort();
    const url = `https://127.0.0.1:${port}`;
    const parts = {
      port,
      certificate,
      clientAuthority: authority.certificate,
      upstream: new Upstream(apiServer, authority.certificate, frontProxy),
      random: options.random ?? Math.random,
      kubeconfig: await registrar.write(url, 'testenv-admin', admin),
      kubeconfigFor: (identity: Parameters<Registrar['kubeconfigFor']>[1]) => registrar.kubeconfigFor(url, identity),
    };
    try {
      return await FaultProxy.start(parts);
    } catch (error) {
      // Somebody took the port after we looked.
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || attempt === 5) throw error;
    }
  }
}
