/**
 * Certificates in files that somebody else renews (cert-manager, a CSI driver): read again every few seconds, because the
 * symbolic links by which Kubernetes swaps a mounted Secret are not reported reliably. A pair that does not fit together (a
 * renewal half done) is never used: the last good one stays.
 */
import { readFile } from 'node:fs/promises';
import type { Clock } from '@keelson/kube';
import { readCertificates, readKeyPair } from './certificate.ts';
import type { CertificateSource, Serving } from './source.ts';
import { Wake } from './wake.ts';

export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
  /** The authorities that callers must trust; without it, telling them is left to others (cert-manager's CA injector). */
  readonly ca?: string;
}

export interface FileCertificatesOptions {
  readonly files: CertificateFiles;
  readonly clock: Clock;
  readonly everyMs?: number;
  readonly onChange: () => void;
}

export class FileCertificates implements CertificateSource {
  serving: Serving | undefined;
  bundle: CertificateSource['bundle'];
  trouble: string | undefined;
  readonly #options: FileCertificatesOptions;
  readonly #wake: Wake;

  constructor(options: FileCertificatesOptions) {
    this.#options = options;
    this.#wake = new Wake(options.clock);
    this.bundle = options.files.ca === undefined ? 'elsewhere' : undefined;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#read();
      await this.#wake.wait(this.#options.everyMs ?? 10_000, signal);
    }
  }

  ring(): void {
    this.#wake.ring();
  }

  async #read(): Promise<void> {
    const { cert, key, ca } = this.#options.files;
    try {
      const [certPem, keyPem, caPem] = await Promise.all([
        readText(cert),
        readText(key),
        ca === undefined ? undefined : readText(ca),
      ]);
      this.trouble = this.#take(certPem, keyPem, caPem);
    } catch (error) {
      this.trouble = `${error instanceof Error ? error.message : String(error)}: is the Secret with the certificate mounted?`;
    }
  }

  #take(certPem: string, keyPem: string, caPem: string | undefined): string | undefined {
    const { cert, key, ca } = this.#options.files;
    const pair = readKeyPair(certPem, keyPem);
    if (pair === undefined) return `${cert} and ${key} do not hold a certificate and its key`;
    if (pair.certificate.notAfter <= this.#options.clock.now())
      return `the certificate in ${cert} expired at ${new Date(pair.certificate.notAfter).toISOString()}: has its issuer stopped renewing it?`;
    if (caPem !== undefined && readCertificates(caPem).length === 0) return `${ca} holds no certificate`;
    const changed =
      this.serving?.cert !== certPem || this.serving.key !== keyPem || (caPem !== undefined && caPem !== this.bundle);
    this.serving = { cert: certPem, key: keyPem, notAfter: new Date(pair.certificate.notAfter) };
    if (caPem !== undefined) this.bundle = caPem;
    if (changed) this.#options.onChange();
    return undefined;
  }
}

function readText(path: string): Promise<string> {
  return readFile(path, 'utf8');
}
