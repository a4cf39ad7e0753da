/** The version of the package: `scripts/version.js` keeps it the same everywhere. */
export const VERSION = '1.0.0';
