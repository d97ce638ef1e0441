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
import { ask, type StoreAddress, StoreTrouble } from './store.ts';
import { type IndexTemplate, indexTemplates, type NamedBody, retentionPolicy } from './templates.ts';

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
  // The turn of an agent waits for its effects: a store that does not answer must not hold up a status for long.
  return [{ handler: INDEX_TEMPLATES, key: INDEX_TEMPLATES, input, every: '10m', timeout: '10s' }];
}

/** The handler. */
export const installTemplates = defineEffect<Installation>(
  async ({ store, namespace }, context): Promise<Installed> => {
    const address = await addressOf(store, namespace, context);
    const { signal } = context;
    const remarks: string[] = [];
    const { indices, retentionDays = {} } = store;
    const retained: Partial<Record<keyof typeof indices, string>> = {};
    for (const [key, days] of Object.entries(retentionDays) as ['events' | 'inventory', number][]) {
      if (!(await hasLifecycles(address, signal))) {
        remarks.push(
          'the store has no lifecycle management (it came with another distribution of Elasticsearch): nothing is deleted by age',
        );
        break;
      }
      const policy = retentionPolicy(indices[key], days);
      await put(address, `/_ilm/policy/${encodeURIComponent(policy.name)}`, policy, 'manage_ilm', signal);
      retained[key] = policy.name;
    }
    const templates = indexTemplates(indices, retained);
    for (const template of templates) {
      const path = `/_index_template/${encodeURIComponent(template.name)}`;
      await put(address, path, template, 'manage_index_templates', signal);
      remarks.push(...(await olderIndex(address, template, signal)));
    }
    return { templates: templates.map(({ name }) => name), remarks };
  },
);

/** A store of the free distribution without it does not know the question. */
async function hasLifecycles(store: StoreAddress, signal: AbortSignal): Promise<boolean> {
  const { status } = await ask(store, 'GET', '/_ilm/status', { signal });
  // Whoever may not ask may still be allowed to write policies.
  return status === 200 || status === 403;
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
      `the account of spec.output may not write ${name}: give it the cluster privilege ${privilege}, or install the templates of ` +
        `deploy/elasticsearch yourself and set ${store.path}.manageTemplates to false`,
    );
  if (answer.status !== 200)
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
