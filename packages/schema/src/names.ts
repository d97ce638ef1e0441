/** The names of a resource: what the API server demands of them, and what kubectl would confuse. */
import { fail } from './structural/schema.ts';

/** Short names that a cluster already gives to built-in kinds (kubectl api-resources, Kubernetes 1.34). */
const takenShortNames: Readonly<Record<string, string>> = {
  cm: 'configmaps',
  cs: 'componentstatuses',
  ep: 'endpoints',
  ev: 'events',
  limits: 'limitranges',
  no: 'nodes',
  ns: 'namespaces',
  po: 'pods',
  pv: 'persistentvolumes',
  pvc: 'persistentvolumeclaims',
  quota: 'resourcequotas',
  rc: 'replicationcontrollers',
  sa: 'serviceaccounts',
  svc: 'services',
  cj: 'cronjobs',
  crd: 'customresourcedefinitions',
  crds: 'customresourcedefinitions',
  csr: 'certificatesigningrequests',
  deploy: 'deployments',
  ds: 'daemonsets',
  hpa: 'horizontalpodautoscalers',
  ing: 'ingresses',
  ip: 'ipaddresses',
  netpol: 'networkpolicies',
  pc: 'priorityclasses',
  pdb: 'poddisruptionbudgets',
  rs: 'replicasets',
  sc: 'storageclasses',
  sts: 'statefulsets',
  vac: 'volumeattributesclasses',
};

const lowerCaseName = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;

/** The names in which a resource is spoken of. */
export interface ResourceNames {
  readonly group: string;
  readonly kind: string;
  readonly plural?: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

/** Fills in the names that follow from the kind, and refuses those that a cluster would. */
export function resolveNames(names: ResourceNames): Required<ResourceNames> & { listKind: string } {
  const { group, kind, shortNames = [], categories = [] } = names;
  const subject = kind === '' ? 'a resource' : kind;
  const refuse = (path: string, problem: string, remedy: string): never => fail({ subject, path }, problem, remedy);
  if (!/^[A-Z][A-Za-z0-9]{0,62}$/.test(kind))
    refuse('kind', `'${kind}' is not a kind`, 'Write it in CamelCase, for example Website');
  if (!subdomain.test(group) || group.length > 200)
    refuse('group', `'${group}' is not an API group`, 'Use a domain you own, in lower case, with a dot: example.com');
  if (/(^|\.)(k8s|kubernetes)\.io$/.test(group))
    refuse('group', `'${group}' is reserved for Kubernetes itself`, 'Use a domain you own');
  const plural = names.plural ?? pluralOf(kind.toLowerCase());
  const singular = names.singular ?? kind.toLowerCase();
  for (const [path, name] of [
    ['plural', plural],
    ['singular', singular],
    ...shortNames.map((short) => ['shortNames', short] as const),
    ...categories.map((category) => ['categories', category] as const),
  ] as const) {
    if (!lowerCaseName.test(name))
      refuse(path, `'${name}' is not a name that the API server takes`, "Use lower-case letters, digits and '-'");
  }
  for (const [index, short] of shortNames.entries()) {
    if (short === plural || short === singular || shortNames.indexOf(short) !== index)
      refuse(
        'shortNames',
        `'${short}' is there twice`,
        'Short names must differ from each other, the plural and the singular',
      );
    const owner = takenShortNames[short];
    if (owner !== undefined) refuse('shortNames', `'${short}' is kubectl's short name for ${owner}`, 'Choose another');
  }
  return { group, kind, plural, singular, shortNames, categories, listKind: `${kind}List` };
}

/** The English plural, as far as kinds need it. */
function pluralOf(singular: string): string {
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`;
  return /(s|x|z|ch|sh)$/.test(singular) ? `${singular}es` : `${singular}s`;
}
