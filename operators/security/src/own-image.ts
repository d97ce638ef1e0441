import { VERSION } from './version.ts';

/** Keelson's own image, whose entry point is `keelson`: what runs beside the tools of others is a command of it. */
export const OWN_IMAGE = `ghcr.io/keelson/keelson:${VERSION}`;
