import { hash } from 'node:crypto'

/**
 * Returns a short fingerprint of a text that may contain a secret. An empty text has an empty
 * fingerprint. Two different fingerprints show that the text has changed. The hash has no key, so a
 * short or guessable text can be confirmed by trying it.
 */
export const fingerprintOf = (text: string): string =>
  text === '' ? '' : `sha256:${hash('sha256', text).slice(0, 12)}`

/**
 * Returns an address without its credentials, query and fragment, because these parts may contain
 * secrets. If the address has any of these parts, a fingerprint of the parts is appended, so that a
 * change is visible. For a text that is not an address, only the fingerprint of the text is
 * returned.
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

type Values = Readonly<Record<string, unknown>>

/**
 * Returns the values of an option before and after a change. For two JSON objects, such as prices
 * by model, only the entries that differ are returned, because the lists can be long.
 */
export function optionValues(
  before: string | null,
  after: string,
): { readonly before: Values; readonly after: Values } {
  const [earlier, later] = [entriesOf(before), entriesOf(after)]
  if (earlier === null || later === null)
    return { before: { value: before }, after: { value: after } }
  const changed = [...new Set([...earlier.keys(), ...later.keys()])].filter(
    (name) => JSON.stringify(earlier.get(name)) !== JSON.stringify(later.get(name)),
  )
  const pick = (values: ReadonlyMap<string, unknown>) =>
    Object.fromEntries(changed.map((name) => [name, values.get(name) ?? null]))
  return { before: pick(earlier), after: pick(later) }
}

function entriesOf(text: string | null): ReadonlyMap<string, unknown> | null {
  if (text === null || !text.startsWith('{')) return null
  try {
    return new Map(Object.entries(JSON.parse(text) as object))
  } catch {
    return null
  }
}
