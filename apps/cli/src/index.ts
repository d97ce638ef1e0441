export { defineConfig, type GeneratedFile, type KeelsonConfig } from './config/define-config.ts';
