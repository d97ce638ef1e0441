/** What callers of `startTestEnv` give and get. */
import type { AdminRequestOptions } from './admin.ts';
import type { Audit, AuditLevel } from './audit.ts';
import type { Flags } from './control-plane.ts';
import type { CrdSource } from './crds.ts';
import type { FaultProxy } from './fault-proxy/proxy.ts';
import type { KubectlOptions } from './kubectl.ts';
import type { SimulatedNode } from './nodes.ts';
import type { Part } from './part.ts';

/** How much of Kubernetes is started: storage and API alone, or also controllers, scheduler and simulated nodes. */
export type Level = 'api' | 'cluster';

/** Whom a kubeconfig is for. */
export type Identity = UserIdentity | ServiceAccountIdentity;

/** A person or program that is known by a client certificate. */
export interface UserIdentity {
  readonly user: string;
  readonly groups?: readonly string[];
  /** Seconds until the certificate expires; zero or less gives an expired one. */
  readonly expiresInSeconds?: number;
}

/** A ServiceAccount, known by a token; it is created when it does not exist. */
export interface ServiceAccountIdentity {
  readonly serviceAccount: { readonly namespace: string; readonly name: string };
  /** Seconds until the token expires, exact to about ten seconds; zero or less gives an expired one. */
  readonly expiresInSeconds?: number;
}

/** What to start. */
export interface TestEnvOptions {
  /** Defaults to 'api'. */
  readonly level?: Level;
  /** Simulated nodes of level 'cluster', as a number or one by one; defaults to 3. */
  readonly nodes?: number | readonly SimulatedNode[];
  /** CustomResourceDefinitions to install before `startTestEnv` resolves. */
  readonly crds?: readonly CrdSource[];
  /** How much the audit log holds; defaults to 'Metadata'. */
  readonly auditLevel?: AuditLevel;
  /** Extra flags of kube-apiserver, without the leading dashes. */
  readonly apiServerFlags?: Flags;
  /** A fixed port for the API server instead of a random free one. */
  readonly port?: number;
  /** Folder to make the temporary folder in; defaults to the system's. */
  readonly tmpdir?: string;
  /** Receives lines for people: progress of a first build and of the start. */
  readonly onProgress?: (line: string) => void;
  /** How long each part may take to become ready; defaults to 60 s. */
  readonly readyWithinMs?: number;
}

/** How a fault proxy is made. */
export interface FaultProxyOptions {
  /** The source of chance for rules with a probability, 0 ≤ x < 1; defaults to Math.random. */
  readonly random?: () => number;
}

/** The parts of an environment, each of which can be killed, paused and started again. */
export interface Parts {
  readonly etcd: Part;
  readonly apiserver: Part;
  /** Of level 'cluster'; at level 'api' reading it throws. */
  readonly controllerManager: Part;
  /** Of level 'cluster'; at level 'api' reading it throws. */
  readonly scheduler: Part;
  /** Of level 'cluster'; at level 'api' reading it throws. */
  readonly kwok: Part;
}

/** A running Kubernetes on this machine. */
export interface TestEnv extends AsyncDisposable {
  readonly level: Level;
  /** The temporary folder; it vanishes with the environment. */
  readonly dir: string;
  /** URL of the API server. */
  readonly url: string;
  /** PEM of the authority that signed the API server's certificate. */
  readonly authority: string;
  /** Path of the cluster administrator's kubeconfig. */
  readonly kubeconfig: string;
  readonly parts: Parts;
  readonly audit: Audit;
  /** Writes a kubeconfig for a user or ServiceAccount and gives its path. */
  kubeconfigFor(identity: Identity): Promise<string>;
  /** Gives a bearer token of a ServiceAccount, which is created when it does not exist. */
  token(identity: ServiceAccountIdentity): Promise<string>;
  /** Sends one JSON request as cluster administrator; rejects with an `ApiError` from code 400 on. */
  adminRequest<T = unknown>(method: string, path: string, body?: unknown, options?: AdminRequestOptions): Promise<T>;
  /** Runs kubectl, as cluster administrator unless told otherwise, and gives its standard output. */
  kubectl(args: readonly string[], options?: KubectlOptions): Promise<string>;
  /** Command and leading arguments with which a shell runs this environment's kubectl. */
  readonly kubectlCommand: readonly string[];
  /** Installs CustomResourceDefinitions and waits until they are served. */
  applyCrds(crds: readonly CrdSource[]): Promise<void>;
  /** Adds a simulated node and waits until pods can be scheduled on it; only at level 'cluster'. */
  addNode(node: SimulatedNode): Promise<void>;
  /** Takes a node away together with the pods on it; only at level 'cluster'. */
  removeNode(name: string): Promise<void>;
  /** Creates a namespace, together with its default ServiceAccount, and gives its name; without a name it invents one. */
  createNamespace(name?: string): Promise<string>;
  /** Starts a proxy before the API server that makes things go wrong on demand; it ends with the environment. */
  faultProxy(options?: FaultProxyOptions): Promise<FaultProxy>;
  /** Ends every process and removes the temporary folder. */
  stop(): Promise<void>;
}
