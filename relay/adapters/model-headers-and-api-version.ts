import type { FormatName } from '../dialects/wire-format.ts'
import type { AdapterOptions } from './read-claude-and-gemini-options.ts'

/** The headers and the API version that an admin set for requests of one model. */
export type ProviderSettings = {
  readonly headers: ReadonlyMap<string, readonly string[]> | null
  /**
   * The API version in the path of Gemini's API. If null, the path keeps the version that the
   * channel's type uses.
   */
  readonly version: string | null
}

const NONE: ProviderSettings = { headers: null, version: null }

/**
 * Returns the settings for requests in `format`, the provider's format. A model is looked up first
 * by `requested`, the name that callers use, and then by `upstream`, the provider's name.
 */
export function providerSettings(
  { claude, gemini }: AdapterOptions,
  format: FormatName,
  requested: string,
  upstream: string,
): ProviderSettings {
  const settingFor = <Value>(byModel: ReadonlyMap<string, Value>): Value | null =>
    byModel.get(requested) ?? byModel.get(upstream) ?? null
  if (format === 'messages') return { ...NONE, headers: settingFor(claude.headers) }
  if (format !== 'gemini') return NONE
  return { ...NONE, version: settingFor(gemini.versions) ?? gemini.versions.get('default') ?? null }
}

const BETA = 'anthropic-beta'

/**
 * Merges the admin's headers into the caller's headers `passed`, which are a flat list of names and
 * values. The values of `anthropic-beta` are added to the caller's values. Every other header
 * replaces the caller's header of the same name.
 */
export function withAdminHeaders(
  passed: readonly string[],
  { headers }: ProviderSettings,
): readonly string[] {
  if (headers === null) return passed
  const merged = new Map<string, string>()
  for (let at = 0; at < passed.length; at += 2) merged.set(passed[at] ?? '', passed[at + 1] ?? '')
  for (const [name, values] of headers) {
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

const VERSIONED = /\/v1beta(?=\/models\/)/

/**
 * Returns a path of Gemini's API with the admin's version in place of `v1beta`. If the admin has
 * set no version, or if `v1beta` does not precede `/models/` in the path, the path is returned
 * unchanged. The path lacks `v1beta` if the channel's address contains the version.
 */
export const withApiVersion = (path: string, { version }: ProviderSettings): string =>
  version === null ? path : path.replace(VERSIONED, `/${version}`)
