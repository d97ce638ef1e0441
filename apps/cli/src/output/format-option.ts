/** The `-o` option, the same everywhere. Apart from format.ts, so that showing help loads no YAML library. */
import { Option } from 'commander';

export type Format = 'json' | 'yaml';

export function formatOption(): Option {
  return new Option('-o, --output <format>', 'print data instead of text for people').choices(['json', 'yaml']);
}
