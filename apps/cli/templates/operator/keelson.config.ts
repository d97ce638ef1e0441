import { defineConfig } from '@keelson/cli';
import { widgetOperator } from './src/operator.ts';

export default defineConfig({
  operators: [widgetOperator],
  samples: './samples',
});
