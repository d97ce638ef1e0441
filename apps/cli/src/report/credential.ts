/** What the store knows us by. Only ever from the environment: arguments show in the list of processes and in pod specs. */
import { Secret } from '@keelson/kube';
import { failure } from '../failure.ts';

export interface Credential {
  /** Value of the Authorization header. */
  readonly header: Secret;
  /** What must not show up in any message. */
  readonly parts: readonly Secret[];
}

/** From ELASTICSEARCH_USERNAME and ELASTICSEARCH_PASSWORD, or ELASTICSEARCH_API_KEY; undefined with none of them. */
export function credentialOf(env: Readonly<Record<string, string | undefined>>): Credential | undefined {
  const user = valueIn(env, 'ELASTICSEARCH_USERNAME');
  const password = valueIn(env, 'ELASTICSEARCH_PASSWORD');
  const key = valueIn(env, 'ELASTICSEARCH_API_KEY');
  if (key !== undefined) {
    if (user !== undefined || password !== undefined) {
      throw failure(
        'usage',
        'ELASTICSEARCH_API_KEY and ELASTICSEARCH_USERNAME or _PASSWORD are both set',
        'set either the API key, or username and password',
      );
    }
    return { header: new Secret(`ApiKey ${key}`), parts: [new Secret(key)] };
  }
  if (user === undefined && password === undefined) return undefined;
  if (user === undefined || password === undefined) {
    throw failure(
      'usage',
      `ELASTICSEARCH_${user === undefined ? 'USERNAME' : 'PASSWORD'} is not set`,
      'set both, or neither',
    );
  }
  const basic = Buffer.from(`${user}:${password}`).toString('base64');
  return { header: new Secret(`Basic ${basic}`), parts: [new Secret(password), new Secret(basic)] };
}

/** Files that Secrets are made from often end in a line break, which is never meant. */
function valueIn(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const value = env[name]?.replace(/[\r\n]+$/, '');
  if (value !== undefined && /[\r\n]/.test(value))
    throw failure('usage', `${name} has more than one line`, 'check the key of the Secret that it comes from');
  return value === '' ? undefined : value;
}
