/**
 * How node and gateway prove to each other who they are: TLS 1.3, and each must show a certificate of the authority of this agent. The
 * feature that runs them mounts their Secrets (trust-secrets.ts) as the folder that is named here.
 *
 * Invariant: a new certificate rolls nothing. Both read theirs again, and the gateway also whom it lets in. What the collector reads only when
 * it starts is whom a *node* trusts: a new authority rolls the collectors on the nodes (see `AUTHORITY`), which have all that they hold on disk.
 */

/** Where both find certificate, key and bundle. */
export const TLS_DIRECTORY = '/etc/otelcol-tls';

const own = {
  cert_file: `${TLS_DIRECTORY}/tls.crt`,
  key_file: `${TLS_DIRECTORY}/tls.key`,
  min_version: '1.3',
  // At the first handshake after it.
  reload_interval: '1m',
};

/** Of the receiver of the gateway. */
export const serverTls = { ...own, client_ca_file: `${TLS_DIRECTORY}/ca.crt`, client_ca_file_reload: true };

/** Of the exporter of a node. */
export const clientTls = { ...own, ca_file: `${TLS_DIRECTORY}/ca.crt` };
