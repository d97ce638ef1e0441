/** What real collectors on one machine need instead of what their pods would have: ports, folders, and the files of Secrets. */
import { mkdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort } from '@keelson/testenv';

/** What two collectors on one machine cannot share. */
export async function elsewhere(directory: string): Promise<{ extensions: object; service: object }> {
  return {
    extensions: {
      health_check: { endpoint: `127.0.0.1:${await findFreePort()}` },
      file_storage: { directory, compaction: { directory } },
    },
    service: { telemetry: { metrics: { level: 'none' } } },
  };
}

/**
 * Writes the data of a Secret as the kubelet does: a folder for each version, a link to the current one that is swapped in one step, and
 * links through it. Called again, the files change in place for who has them open by name.
 */
export async function mountSecret(directory: string, data: Readonly<Record<string, string>>): Promise<void> {
  const version = `..${process.hrtime.bigint()}`;
  await mkdir(join(directory, version), { recursive: true });
  for (const [name, text] of Object.entries(data))
    await writeFile(join(directory, version, name), Buffer.from(text, 'base64'));
  const current = join(directory, '..data');
  const before = await readlink(current).catch(() => undefined);
  await symlink(version, `${current}_tmp`);
  await rename(`${current}_tmp`, current);
  for (const name of Object.keys(data))
    if (before === undefined) await symlink(join('..data', name), join(directory, name));
  if (before !== undefined) await rm(join(directory, before), { recursive: true });
}

/** The certificates of a party in another folder than in its pod. */
export function tlsIn(directory: string, authorities: 'ca_file' | 'client_ca_file'): Record<string, string> {
  return {
    cert_file: join(directory, 'tls.crt'),
    key_file: join(directory, 'tls.key'),
    [authorities]: join(directory, 'ca.crt'),
  };
}
