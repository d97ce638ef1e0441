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
import { dialects } from './dialect.ts';
import { type Existing, lookAt } from './existing.ts';
import { place, refused } from './place.ts';
import { placePolicies } from './retention.ts';
import { inSteadyWords, type StoreAddress, StoreTrouble } from './store.ts';
import { type IndexTemplate, indexTemplates } from './templates.ts';

/** The handler and the only effect of it. */
export const INDEX_TEMPLATES = 'index-templates';

const TIMEOUT_S = 10;
const WITHIN_MS = (TIMEOUT_S - 1) * 1_000;

/** What the handler is given: names of Secrets, never what is in them. */
interface Installation {
  readonly store: Store;
  /** Tells agents apart that write to one store, also those of other clusters. */
  readonly agent: string;
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
  const { name, namespace: home, uid } = self.metadata;
  const agent = `${home}/${name} (${uid})`;
  const input: Installation = { store, agent, namespace, ...(secrets === undefined ? {} : { secrets }) };
  return [
    {
      handler: INDEX_TEMPLATES,
      key: INDEX_TEMPLATES,
      input,
      every: '10m',
      // Gateways try every 30 s (exporter.ts), and a store that comes late makes an index of the first event: templates should not be minutes behind.
      retryWithin: '20s',
      // The turn of an agent waits for its effects: a store that does not answer must not hold up a status for long.
      timeout: `${TIMEOUT_S}s`,
    },
  ];
}

/** The handler. */
export const installTemplates = defineEffect<Installation>((installation, context) => {
  // Ends before the engine would, which has words of its own for it.
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(WITHIN_MS)]);
  return inSteadyWords(context.memory, installation.store.url, () => install(installation, { ...context, signal }));
});

async function install({ store, agent, namespace }: Installation, context: EffectContext): Promise<Installed> {
  const address = await addressOf(store, namespace, context);
  const { signal } = context;
  const existing = new Map<string, Existing | undefined>();
  for (const index of Object.values(store.indices)) existing.set(index, await lookAt(address, index, signal));
  const streams = new Set([...existing].flatMap(([index, one]) => (one?.isStream ? [index] : [])));
  const { retained, ...policies } = await placePolicies(address, store, { wantedBy: agent, streams }, signal);
  const remarks = [...policies.remarks];
  const refusals = [...policies.refusals];
  const templates = indexTemplates(store.kind, store.indices, retained, streams);
  for (const template of templates) {
    const path = `/_index_template/${encodeURIComponent(template.name)}`;
    refusals.push(...(await place(address, path, template, dialects[store.kind].templatePrivilege, signal)));
    remarks.push(...remarksOn(template, existing.get(template.index)));
  }
  if (refusals.length > 0) throw refused(refusals);
  return { templates: templates.map(({ name }) => name), remarks };
}

/** Of an index that was there before its template, or before it was to go by age. */
function remarksOn({ index, policy }: IndexTemplate, existing: Existing | undefined): readonly string[] {
  if (existing === undefined) return [];
  const older = `${index} is older than its template and keeps its own mapping: reindex it, or delete it`;
  const plain = `${index} is no data stream, and nothing of it goes by age: move it to another name, or delete it`;
  return [...(existing.isOurs ? [] : [older]), ...(policy === undefined || existing.isStream ? [] : [plain])];
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
