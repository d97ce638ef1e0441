import { readFileSync } from 'node:fs';

/** The version in our own package.json, which stands one folder above both src/ and dist/. */
export function ownVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
