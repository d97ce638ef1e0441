'use strict';
import('../dist/main.js').catch((error) => {
  console.error(`error: keelson cannot start: ${error.message}`);
  console.error('remedy: reinstall the package @keelson/cli');
  process.exit(1);
});
