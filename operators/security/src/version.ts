/** The version of this operator, as it is told in `status.version`. A test holds it to package.json. */
export const VERSION = '0.1.0';
