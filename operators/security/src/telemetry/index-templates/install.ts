/**
 * Puts the index templates of an agent into its store: an effect, so that a store which is away only delays it, and what somebody
 * changed is put right again.
 *
 * Invariant: idempotent, and nothing but templates and policies of our own name is ever written. An index that exists is never touched:
 * it keeps the mapping that it was made with, which is told.
 */
import { defineEffect, type Effect, type EffectContext } from '@keelson/runtime';
import { Secret } from '@keelson/schema';
import type { Agent } from '../../resource.ts';
import { targetNamespace } from '../../steps/context.ts';
import { type Findings, secretNeeds, secretVersion } from '../../steps/credentials.ts';
import { type Store, storeOf } from '../../store.ts';
import { dialects, type Lifecycle, type NamedBody } from './dialect.ts';
import { ask, type StoreAddress, StoreTrouble } from './store.ts';
import { type IndexTemplate, indexTemplates, retentionPolicy } from './templates.ts';

/** The handler and the only effect of it. */
export const INDEX_TEMPLATES = 'index-templates';

/** What the handler is given: names of Secrets, never what is in them. */
interface Installation {
  readonly store: Store;
  /** Where the Secrets are. */
  readonly namespace: string;
  /** Another one when a Secret was changed: what was refused is tried at once. */
  readonly secrets?: string;
}

/** How it ended, for the status. */
export interface Installed {
  readonly templates: readonly string[];
  /** What is in place but not as one would expect. */
  readonly remarks: readonly string[];
}

/** The effect that an agent asks for: none without a store, or where the user sees to the templates. */
export function templateEffects(self: Agent, findings?: Findings): readonly Effect[] {
  const store = storeOf(self.spec.output);
  if (store === undefined || store.manageTemplates === false) return [];
  const names = new Set(secretNeeds(store).map(({ name }) => name));
  const secrets = secretVersion(findings, names);
  const namespace = targetNamespace(self);
  const input: Installation = { store, namespace, ...(secrets === undefined ? {} : { secrets }) };
  return [
    {
      handler: INDEX_TEMPLATES,
      key: INDEX_TEMPLATES,
      input,
      every: '10m',
      // Gateways try every 30 s (exporter.ts), and a store that comes late makes an index of the first event: templates should not be minutes behind.
      retryWithin: '20s',
      // The turn of an agent waits for its effects: a store that does not answer must not hold up a status for long.
      timeout: '10s',
    },
  ];
}

/** The handler. */
export const installTemplates = defineEffect<Installation>(
  async ({ store, namespace }, context): Promise<Installed> => {
    const address = await addressOf(store, namespace, context);
    const { signal } = context;
    const remarks: string[] = [];
    const { indices, retentionDays = {} } = store;
    const { lifecycle, templatePrivilege } = dialects[store.kind];
    const retained: Partial<Record<keyof typeof indices, NamedBody>> = {};
    for (const [key, days] of Object.entries(retentionDays) as ['events' | 'inventory', number][]) {
      if (!(await hasLifecycles(address, lifecycle, signal))) {
        remarks.push(`the store has no ${lifecycle.title}: nothing is deleted by age`);
        break;
      }
      const policy = retentionPolicy(store.kind, indices[key], days);
      await placePolicy(address, lifecycle, policy, signal);
      retained[key] = policy;
    }
    const templates = indexTemplates(store.kind, indices, retained);
    for (const template of templates) {
      const path = `/_index_template/${encodeURIComponent(template.name)}`;
      await put(address, path, template, templatePrivilege, signal);
      remarks.push(...(await olderIndex(address, template, signal)));
    }
    return { templates: templates.map(({ name }) => name), remarks };
  },
);

async function hasLifecycles(store: StoreAddress, { question }: Lifecycle, signal: AbortSignal): Promise<boolean> {
  const { status } = await ask(store, 'GET', question, { signal });
  // Whoever may not ask may still be allowed to write policies.
  return status === 200 || status === 403;
}

/** Puts a policy in place; one that is versioned only if it is not as it should be. */
async function placePolicy(store: StoreAddress, lifecycle: Lifecycle, policy: NamedBody, signal: AbortSignal) {
  const path = lifecycle.pathOf(policy.name);
  const found = lifecycle.isVersioned ? await ask(store, 'GET', path, { signal }) : undefined;
  if (found?.status !== 200) return put(store, path, policy, lifecycle.privilege, signal);
  const { _seq_no, _primary_term, ...there } = JSON.parse(found.body) as { _seq_no: number; _primary_term: number };
  if (holds(there, policy.body)) return;
  const seen = `?if_seq_no=${_seq_no}&if_primary_term=${_primary_term}`;
  await put(store, `${path}${seen}`, policy, lifecycle.privilege, signal);
}

/** Whether all that is wanted is there: a store adds fields of its own. */
function holds(there: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return there === wanted;
  if (typeof there !== 'object' || there === null) return false;
  if (Array.isArray(wanted) && (!Array.isArray(there) || there.length !== wanted.length)) return false;
  return Object.entries(wanted).every(([key, value]) => holds((there as Record<string, unknown>)[key], value));
}

async function put(
  store: StoreAddress,
  path: string,
  { name, body }: NamedBody,
  privilege: string,
  signal: AbortSignal,
) {
  const answer = await ask(store, 'PUT', path, { body, signal });
  if (answer.status === 403)
    throw new StoreTrouble(
      'Forbidden',
      `the account of spec.output may not write ${name}: give it the cluster privilege ${privilege}, or install the templates under ` +
        `deploy/ yourself and set ${store.path}.manageTemplates to false`,
    );
  if (answer.status !== 200 && answer.status !== 201)
    throw new StoreTrouble('Refused', `the store refuses ${name}: ${answer.status} ${reasonOf(answer.body)}`.trimEnd());
}

/** Of an index that was there before its template. */
async function olderIndex(
  store: StoreAddress,
  { index }: IndexTemplate,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { status, body } = await ask(store, 'GET', `/${encodeURIComponent(index)}/_mapping`, { signal });
  // Not there yet; or the account may write and not look, which is how it should be.
  if (status !== 200) return [];
  const mappings = Object.values(
    JSON.parse(body) as Record<string, { mappings?: { _meta?: { managed_by?: string } } }>,
  );
  const ours = mappings.some((one) => one.mappings?._meta?.managed_by === 'keelson');
  return ours ? [] : [`${index} is older than its template and keeps its own mapping: reindex it, or delete it`];
}

async function addressOf(
  { url, tls, auth, path }: Store,
  namespace: string,
  { read }: EffectContext,
): Promise<StoreAddress> {
  const secretValue = async (name: string, key: string): Promise<string> => {
    const value = (await read.find(Secret, { name, namespace }))?.data?.[key];
    if (value === undefined || value === '')
      throw new StoreTrouble(
        'SecretMissing',
        `there is no key '${key}' in a Secret '${name}' in namespace ${namespace}`,
      );
    return Buffer.from(value, 'base64').toString();
  };
  const authorization = await authorizationOf(auth, secretValue);
  const { caSecretRef, insecureSkipVerify } = tls ?? {};
  return {
    url,
    path,
    ...(authorization === undefined ? {} : { authorization }),
    ...(caSecretRef === undefined ? {} : { ca: await secretValue(caSecretRef.name, caSecretRef.key) }),
    ...(insecureSkipVerify === undefined ? {} : { insecureSkipVerify }),
  };
}

async function authorizationOf(
  auth: Store['auth'],
  secretValue: (name: string, key: string) => Promise<string>,
): Promise<string | undefined> {
  // Files that Secrets are made from often end in a line break, which is never meant.
  const lineOf = async (name: string, key: string) => (await secretValue(name, key)).replace(/[\r\n]+$/, '');
  if (auth?.apiKeySecretRef !== undefined) {
    const { name, key } = auth.apiKeySecretRef;
    return `ApiKey ${await lineOf(name, key)}`;
  }
  if (auth?.secretRef === undefined) return undefined;
  const { name } = auth.secretRef;
  const login = `${await lineOf(name, 'username')}:${await lineOf(name, 'password')}`;
  return `Basic ${Buffer.from(login).toString('base64')}`;
}

/** What the store says is wrong, not longer than a person reads. Of anything else that answers, nothing is passed on. */
function reasonOf(body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: { reason?: string; caused_by?: { reason?: string } } };
    return [error?.reason, error?.caused_by?.reason]
      .filter((one) => typeof one === 'string')
      .join(': ')
      .slice(0, 300);
  } catch {
    return '';
  }
}
