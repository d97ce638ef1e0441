export { type CachedPart, cacheDirectory, cleanParts, listParts } from './cache.ts';
export { type EnsuredPart, type EnsureOptions, ensurePart } from './ensure.ts';
export { type GoRecipe, type Part, type PartName, parts } from './parts.ts';
