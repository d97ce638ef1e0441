/** Puts what goes wrong below HTTP into words: which server, what happened, what to look at. */
import { Fault, type FaultCode, type FaultDetails } from '../fault.ts';

/** A family of error codes of Node, OpenSSL and undici, and what it means to a person. */
interface Meaning {
  readonly codes: RegExp;
  readonly fault: FaultCode;
  readonly words: string;
  /** What it means when a proxy stands in between. */
  readonly proxied?: string;
}

const meanings: readonly Meaning[] = [
  {
    codes: /^ECONNREFUSED$/,
    fault: 'Unreachable',
    words: 'connection refused; is the API server running?',
    proxied: 'connection refused; is the proxy running?',
  },
  {
    codes: /^(ENOTFOUND|EAI_NODATA|EAI_NONAME)$/,
    fault: 'Unreachable',
    words: 'the host name is not known; check the server URL and DNS',
  },
  { codes: /^EAI_AGAIN$/, fault: 'Unreachable', words: 'DNS does not answer; check the name server' },
  {
    codes: /^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/,
    fault: 'Unreachable',
    words: 'no answer to the connection attempt; check address, firewall and VPN',
  },
  {
    codes: /^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/,
    fault: 'Unreachable',
    words: 'no route to the host; check network and VPN',
  },
  {
    codes: /^(EMFILE|ENFILE)$/,
    fault: 'Unreachable',
    words: 'this process has no file descriptors left; raise its limit (ulimit -n)',
  },
  { codes: /^CERT_HAS_EXPIRED$/, fault: 'TlsRefused', words: "the server's certificate has expired; renew it" },
  {
    codes: /^CERT_NOT_YET_VALID$/,
    fault: 'TlsRefused',
    words: "the server's certificate is not valid yet; check this machine's clock",
  },
  {
    codes: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    fault: 'TlsRefused',
    words: "the server's certificate is for another name; correct the server URL or set tls-server-name",
  },
  {
    codes:
      /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?|CERT_SIGNATURE_FAILURE|CERT_UNTRUSTED|INVALID_CA|INVALID_PURPOSE)$/,
    fault: 'TlsRefused',
    words:
      "the server's certificate is not signed by the CA of the config; is certificate-authority(-data) the one of this cluster?",
  },
  {
    codes: /^ERR_SSL_WRONG_VERSION_NUMBER$/,
    fault: 'TlsRefused',
    words: 'the server does not speak TLS; is it http:// rather than https://, or another port?',
  },
  { codes: /^ERR_SSL_.*(ALERT|CERTIFICATE)/, fault: 'TlsRefused', words: 'the server refused our client certificate' },
  { codes: /^(ERR_SSL_|ERR_TLS_|EPROTO)/, fault: 'TlsRefused', words: 'the TLS handshake failed' },
  {
    codes: /^UND_ERR_PRX/,
    fault: 'Unreachable',
    words: 'the proxy broke the connection; check proxy-url or HTTPS_PROXY',
  },
];

export interface Broken {
  readonly error: unknown;
  readonly server: string;
  /** `GET /api/…` */
  readonly request: string;
  readonly sent: boolean;
  /** A proxy stands in between, and may be the one that fails. */
  readonly proxied: boolean;
}

/** The fault for a connection that failed before or after a request was sent. */
export function toConnectionFault({ error, request, sent, proxied, ...broken }: Broken): Fault {
  const server = proxied ? `${broken.server} through its proxy` : broken.server;
  const text = textOf(error);
  // OpenSSL reports an answer in clear text as a bare EPROTO on some platforms.
  const code = /wrong version number/.test(text) ? 'ERR_SSL_WRONG_VERSION_NUMBER' : codeOf(error);
  const details: FaultDetails = { request, ...(sent ? { maybeDone: true } : {}) };
  const proxyStatus = /Proxy response \((\d+)\)/.exec(text)?.[1];
  if (proxyStatus !== undefined) {
    const hint = proxyStatus === '407' ? 'it wants a user and password in its URL' : 'check proxy-url or HTTPS_PROXY';
    return new Fault(
      'Unreachable',
      `cannot reach ${server}: the proxy answered ${proxyStatus}; ${hint}`,
      details,
      error,
    );
  }
  const meaning = meanings.find(({ codes }) => codes.test(code));
  if (meaning !== undefined) {
    const words = proxied ? (meaning.proxied ?? meaning.words) : meaning.words;
    const reason = meaning.fault === 'TlsRefused' ? ` (${code})` : '';
    return new Fault(meaning.fault, `cannot reach ${server}: ${words}${reason}`, details, error);
  }
  const happened = sent
    ? `the connection to ${server} broke before the answer to ${request} came (${code || text})`
    : `cannot reach ${server}: the connection broke while it was set up (${code || text})`;
  return new Fault('Unreachable', happened, details, error);
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    // One error for each address that was tried (IPv6 and IPv4): the first that says something will do.
    return codeOf(error.errors.find((each) => codeOf(each) !== '')) || ownCode(error);
  }
  return ownCode(error) || (error instanceof Error && error.cause !== undefined ? codeOf(error.cause) : '');
}

function ownCode(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : '';
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
