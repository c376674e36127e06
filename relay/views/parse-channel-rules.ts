import type { ChannelTerms } from '#domain/channels/events.ts'
import { allowableMembers } from '#domain/channels/restricted-request-members.ts'
import { foldedName } from '#domain/shared/fold-json-member-names.ts'
import { profileOf } from '#relay/providers/profiles/profiles-by-channel-type.ts'
import {
  entriesOf,
  modelNamesIn,
} from '#relay/providers/profiles/read-channel-json-and-model-mapping.ts'

/** The JSON settings of a channel's terms. A text that can't be parsed counts as empty. */
export type ChannelRules = {
  /**
   * Maps the caller's name of a model to the provider's name. Chained mappings are already
   * resolved.
   */
  readonly modelNames: ReadonlyMap<string, string>
  /** Maps a provider's status to the status that the caller sees. */
  readonly statuses: ReadonlyMap<number, number>
  /**
   * The top-level members that the channel sets in its requests, as JSON texts by name. They are
   * not set in pass-through mode.
   */
  readonly overrides: ReadonlyMap<string, string>
  /**
   * True if `stream_options.include_usage` is sent. The channel's setting `include_usage` decides.
   * If the channel does not have this setting, the profile of the channel's type decides.
   */
  readonly takesIncludeUsage: boolean
  /**
   * True if callers receive the provider's rate-limit headers. These headers describe the
   * operator's account.
   */
  readonly showsRateLimits: boolean
  /** The restricted members that may be sent to the provider (`restricted-request-members.ts`). */
  readonly allowedMembers: ReadonlySet<string>
}

/**
 * The members that channels can't override, in any spelling. The relay relies on the caller's value
 * of `stream`. The other members contain the caller's texts.
 */
const NOT_OVERRIDDEN = new Set(['stream', 'messages', 'prompt', 'input', 'contents'])

/** Parses the JSON settings in a channel's terms. */
export function channelRules(terms: ChannelTerms): ChannelRules {
  return {
    modelNames: modelNamesIn(terms.modelMapping),
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

/**
 * Returns the provider's name for a model. The channel's prefix is removed from `model`, the name
 * that callers use, and the channel's mapping is applied.
 */
export function upstreamModelOf(
  terms: Pick<ChannelTerms, 'modelPrefix'>,
  rules: Pick<ChannelRules, 'modelNames'>,
  model: string,
): string {
  const bare = model.startsWith(terms.modelPrefix) ? model.slice(terms.modelPrefix.length) : model
  return rules.modelNames.get(bare) ?? bare
}

function statusPair([from, to]: [string, unknown]): [number, number][] {
  const seen = Number(from)
  const shownStatus = typeof to === 'string' || typeof to === 'number' ? Number(to) : Number.NaN
  const isErrorStatus = Number.isInteger(shownStatus) && shownStatus >= 400 && shownStatus <= 599
  return Number.isInteger(seen) && isErrorStatus ? [[seen, shownStatus]] : []
}
