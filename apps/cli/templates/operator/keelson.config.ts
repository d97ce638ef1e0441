import { defineConfig } from '@keelson/cli';
import { widgetOperator } from './src/operator.ts';

export default defineConfig({
  name: 'widget-operator',
  namespace: 'widget-system',
  operators: [widgetOperator],
  samples: './samples',
});
