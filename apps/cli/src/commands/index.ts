/** Every command of the CLI, in the order of the reference. */
import type { Command } from 'commander';
import type { Shell } from '../shell.ts';
import { crdsCommand } from './crds.ts';
import { explainCommand } from './explain.ts';
import { generateCommand } from './generate.ts';
import { newCommand } from './new.ts';
import { planCommand } from './plan.ts';
import { rbacCommand } from './rbac.ts';
import { relayCommand } from './relay.ts';
import { renderCommand } from './render.ts';
import { reportCommand } from './report.ts';
import { runCommand } from './run.ts';
import { statusCommand } from './status.ts';
import { upCommand } from './up.ts';
import { versionCommand } from './version.ts';

export const commands: readonly ((shell: Shell) => Command)[] = [
  upCommand,
  renderCommand,
  planCommand,
  statusCommand,
  explainCommand,
  runCommand,
  crdsCommand,
  rbacCommand,
  generateCommand,
  newCommand,
  reportCommand,
  relayCommand,
  versionCommand,
];
