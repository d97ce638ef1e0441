/**
 * What each kind of recipe does: its share of the cache key, the words for it, and the work itself.
 *
 * Invariant: `recipeKey` tells everything outside the recipe folder that the result depends on. A new kind of recipe is a
 * file beside this one and a case in each switch.
 */
import { buildGo, goBuildArguments, goEnvironment } from './go.ts';
import { buildMaven, mavenArguments } from './maven.ts';
import { copyModuleFiles } from './module-files.ts';
import type { Part, Recipe } from './parts.ts';

/** What is going on right now, in words for a progress line. */
export type Activity = (activity: string) => void;

/** The part of the cache key that is not in the recipe folder. */
export function recipeKey(recipe: Recipe): string {
  switch (recipe.kind) {
    case 'go':
      return [JSON.stringify(goEnvironment), ...goBuildArguments(recipe), recipe.package].join('\0');
    case 'module-files':
      return JSON.stringify(recipe);
    case 'maven':
      return JSON.stringify([recipe, mavenArguments]);
  }
}

/** What making the part is, for a progress line. */
export function recipeWords({ recipe, title, version }: Part): string {
  switch (recipe.kind) {
    case 'go':
      return `building ${title} ${version} from source`;
    case 'module-files':
      return `fetching ${title}`;
    case 'maven':
      return `putting together ${title} ${version} from published artifacts`;
  }
}

/** Makes the part of the recipe in `directory` at `output`, which is a file or a folder. */
export function carryOut(recipe: Recipe, directory: string, output: string, activity: Activity): Promise<void> {
  switch (recipe.kind) {
    case 'go':
      return buildGo(recipe, directory, output, activity);
    case 'module-files':
      return copyModuleFiles(recipe, directory, output, activity);
    case 'maven':
      return buildMaven(recipe, directory, output, activity);
  }
}
