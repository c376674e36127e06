import type { AdapterOptions } from './adapter-options.ts'

type Headers = ReadonlyMap<string, readonly string[]>

const BETA = 'anthropic-beta'

/**
 * Returns the headers that an admin set for requests to providers of Anthropic's format. A model is
 * looked up by the name that callers use, and else by the provider's name. Null if none is set.
 */
export const headersForModel = (
  { headers }: AdapterOptions['claude'],
  requested: string,
  upstream: string,
): Headers | null => headers.get(requested) ?? headers.get(upstream) ?? null

/**
 * Adds the admin's headers to the caller's, as a flat list of names and values. Betas are added to
 * the caller's betas. Every other header replaces the caller's.
 */
export function withHeaders(passed: readonly string[], added: Headers | null): readonly string[] {
  if (added === null) return passed
  const merged = new Map<string, string>()
  for (let at = 0; at < passed.length; at += 2) merged.set(passed[at] ?? '', passed[at + 1] ?? '')
  for (const [name, values] of added) {
    const isBeta = name === BETA
    const all = isBeta ? [merged.get(name) ?? '', ...values].flatMap(betasIn) : values
    merged.set(name, [...new Set(all)].join(','))
  }
  return [...merged].flat()
}

const betasIn = (list: string): string[] =>
  list
    .split(',')
    .map((beta) => beta.trim())
    .filter((beta) => beta !== '')
