import type { ChannelTerms } from '#domain/channels/events.ts'
import { allowableMembers } from '#domain/channels/restricted-request-members.ts'
import { MAPPING_DEPTH_MAX } from '#domain/shared/channel-rules.ts'
import { foldedName } from '#domain/shared/fold-name-case.ts'
import { profileOf } from '#relay/providers/openai-compatible/all-profiles.ts'

/** The JSON settings of a channel's terms. A text that can't be parsed counts as empty. */
export type ChannelRules = {
  /**
   * Maps the caller's name of a model to the provider's name. Chained mappings are already
   * resolved.
   */
  readonly modelNames: ReadonlyMap<string, string>
  /** Maps a provider's status to the status that the caller sees. */
  readonly statuses: ReadonlyMap<number, number>
  /** The top-level members that the channel sets in every request, as JSON texts by name. */
  readonly overrides: ReadonlyMap<string, string>
  /**
   * True if `stream_options.include_usage` is sent. The channel's own setting takes precedence over
   * its profile.
   */
  readonly takesIncludeUsage: boolean
  /**
   * True if callers receive the provider's rate-limit headers, which describe the operator's
   * account.
   */
  readonly showsRateLimits: boolean
  /** The restricted members that may be sent to the provider (`restricted-request-members.ts`). */
  readonly allowedMembers: ReadonlySet<string>
}

/**
 * The members that channels can't override, whatever their spelling. `stream` is one of them,
 * because the relay relies on the caller's value.
 */
const NOT_OVERRIDDEN = new Set(['stream', 'messages', 'prompt', 'input', 'contents'])

export function channelRules(terms: ChannelTerms): ChannelRules {
  const mapping = new Map(
    [...entriesOf(terms.modelMapping)].filter((pair): pair is [string, string] => {
      return typeof pair[1] === 'string' && pair[1] !== ''
    }),
  )
  return {
    modelNames: new Map([...mapping.keys()].map((model) => [model, mapped(model, mapping)])),
    statuses: new Map([...entriesOf(terms.statusCodeMapping)].flatMap(statusPair)),
    overrides: new Map(
      [...entriesOf(terms.paramOverride)]
        .filter(([key]) => !NOT_OVERRIDDEN.has(foldedName(key)))
        .map(([key, value]) => [key, JSON.stringify(value)]),
    ),
    takesIncludeUsage: takesIncludeUsage(terms),
    showsRateLimits: new Map(entriesOf(terms.setting)).get('rate_limit_headers') === true,
    allowedMembers: allowedMembers(terms),
  }
}

function takesIncludeUsage({ type, setting }: ChannelTerms): boolean {
  const value = new Map(entriesOf(setting)).get('include_usage')
  return typeof value === 'boolean' ? value : profileOf(type)?.sendsUsageByDefault !== true
}

function allowedMembers({ type, setting }: ChannelTerms): ReadonlySet<string> {
  const value = new Map(entriesOf(setting)).get('allowed_members')
  const names: readonly unknown[] = Array.isArray(value) ? value : []
  return new Set(allowableMembers(type).filter((name) => names.includes(name)))
}

/** Removes the channel's prefix from a model's name. Returns the provider's name for the model. */
export function upstreamModelOf(terms: ChannelTerms, rules: ChannelRules, model: string): string {
  const bare = model.startsWith(terms.modelPrefix) ? model.slice(terms.modelPrefix.length) : model
  return rules.modelNames.get(bare) ?? bare
}

/** Resolves a chain of mappings. If the chain is circular or too long, the name is not mapped. */
function mapped(model: string, mapping: ReadonlyMap<string, string>): string {
  const seen = new Set([model])
  let name = model
  for (let depth = 0; depth <= MAPPING_DEPTH_MAX; depth += 1) {
    const next = mapping.get(name)
    if (next === undefined || next === name) return name
    if (seen.has(next)) return model
    seen.add(next)
    name = next
  }
  return model
}

function statusPair([from, to]: [string, unknown]): [number, number][] {
  const seen = Number(from)
  const shownStatus = typeof to === 'string' || typeof to === 'number' ? Number(to) : Number.NaN
  const isErrorStatus = Number.isInteger(shownStatus) && shownStatus >= 400 && shownStatus <= 599
  return Number.isInteger(seen) && isErrorStatus ? [[seen, shownStatus]] : []
}

function entriesOf(text: string): [string, unknown][] {
  if (text === '') return []
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? Object.entries(value) : []
  } catch {
    return []
  }
}
