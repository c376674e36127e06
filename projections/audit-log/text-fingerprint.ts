import { hash } from 'node:crypto'

/**
 * Returns a short fingerprint of a text that may contain a secret, or an empty text for an empty
 * one. Two fingerprints show whether the text has changed, and nothing of the text.
 */
export const fingerprintOf = (text: string): string =>
  text === '' ? '' : `sha256:${hash('sha256', text).slice(0, 12)}`
