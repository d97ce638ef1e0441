export type { AssessContext, Assessment } from './assess/assessment.ts';
export type { Feature, FeatureContext, FeatureDefinition, Privilege, Requirement, Right } from './feature.ts';
export { defineFeature } from './feature.ts';
export { featureCards } from './feature-card.ts';
export { features } from './features/index.ts';
export { createSecurityOperator, security } from './operator.ts';
export { toFeatureReference } from './reference.ts';
export { SecurityAgent } from './resource.ts';
export type { EventIndex, LogSource } from './telemetry/source.ts';
