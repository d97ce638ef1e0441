/** Where kept things go. The rule is the testbed's; it stands here again because starting up must load next to nothing. */
import { homedir } from 'node:os';
import { join } from 'node:path';

export function cacheFolder(env: NodeJS.ProcessEnv): string {
  if (env.KEELSON_CACHE) return env.KEELSON_CACHE;
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'keelson');
}
