export { defineConfig, type GeneratedFile, type KeelsonConfig, type Suggestion } from './config/define-config.ts';
export type { FeatureCard } from './config/feature-card.ts';
