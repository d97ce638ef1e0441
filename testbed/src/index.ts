export { type CachedPart, cacheDirectory, cleanParts, listParts } from './cache.ts';
export { type EnsuredPart, type EnsureOptions, ensurePart } from './ensure.ts';
export {
  type GoRecipe,
  type MavenRecipe,
  type ModuleFiles,
  type ModuleFilesRecipe,
  type Part,
  type PartName,
  parts,
  type Recipe,
} from './parts.ts';
