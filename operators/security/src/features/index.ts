/** The list of features. A new one is a folder beside this file and a line here. */
import { type Feature, featureList } from '../feature.ts';

export const features: readonly Feature[] = featureList([]);
