export { website } from './operator.ts';
export { Website } from './resource.ts';

/** Folder with sample Websites. */
export const samples: URL = new URL('../samples/', import.meta.url);
