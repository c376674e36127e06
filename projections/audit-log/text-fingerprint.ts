import { hash } from 'node:crypto'

/**
 * Returns a short fingerprint of a text that may contain a secret, or an empty text for an empty
 * one. Two fingerprints show whether the text has changed, and nothing of the text.
 */
export const fingerprintOf = (text: string): string =>
  text === '' ? '' : `sha256:${hash('sha256', text).slice(0, 12)}`

/**
 * Returns an address without its credentials, query and fragment, which may contain secrets. If it
 * has any of them, their fingerprint follows, so that a change of them is visible. A text that is
 * no address appears as a fingerprint.
 */
export function addressWithoutSecrets(text: string): string {
  const url = URL.parse(text)
  if (url === null) return fingerprintOf(text)
  const { origin, pathname, username, password, search, hash: fragment } = url
  if (origin === 'null') return fingerprintOf(text)
  const address = `${origin}${text.endsWith('/') || pathname !== '/' ? pathname : ''}`
  const hidden = [username, password, search, fragment]
  if (hidden.every((part) => part === '')) return address
  return `${address} (${fingerprintOf(hidden.join('\n'))})`
}
