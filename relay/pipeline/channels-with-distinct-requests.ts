import {
  channelsIn,
  type Offer,
  oncePerOffer,
} from '#domain/routing/channels-by-group-and-model.ts'
import type { CallEndpoint } from '../providers/profiles/provider-profile.ts'
import type { ProviderTarget } from '../providers/profiles/provider-target.ts'
import { MODEL_PLACEHOLDER } from '../providers/provider-access-and-decoder-types.ts'
import type { RelayChannel } from '../views/channel-view.ts'

/**
 * Returns the channels of an offer. Of several channels that would send the same request, only the
 * first is returned. A site may have a thousand channels that differ only in their keys, addresses
 * or priorities. Preparing the request for each of them before a call would take too long.
 */
export const channelsWithDistinctRequests = oncePerOffer(
  (offer: Offer<RelayChannel>): readonly RelayChannel[] => {
    const bySettings = new Map<string, RelayChannel>()
    for (const channel of channelsIn(offer)) {
      const settings = settingsOf(channel)
      if (!bySettings.has(settings)) bySettings.set(settings, channel)
    }
    return [...bySettings.values()]
  },
)

/**
 * Caches the settings of each channel. A change of a channel creates a new object, so no entry
 * becomes outdated.
 */
const settingsOfChannels = new WeakMap<RelayChannel, string>()

/**
 * Returns a text that is equal for two channels only if they send equal requests. It contains all
 * terms except those in `IRRELEVANT`, so a term that is added later is included by default.
 */
function settingsOf(channel: RelayChannel): string {
  const existing = settingsOfChannels.get(channel)
  if (existing !== undefined) return existing
  const relevantTerms = Object.entries(channel.terms).filter(([name]) => !IRRELEVANT.has(name))
  const settings = JSON.stringify([relevantTerms.toSorted(), targetSettingsOf(channel.target)])
  settingsOfChannels.set(channel, settings)
  return settings
}

/**
 * The terms that do not change a request. The base URL is one of them because it only decides which
 * endpoints exist, and the settings of the endpoints are compared separately (`targetSettingsOf`).
 */
const IRRELEVANT: ReadonlySet<string> = new Set<keyof RelayChannel['terms']>([
  ...(['name', 'models', 'groups', 'priority', 'weight', 'tag', 'isAutoBan'] as const),
  ...(['testModel', 'expiredTime', 'maxInputTokens', 'maxConcurrency', 'maxRpm'] as const),
  ...(['statusCodeMapping', 'costRatio', 'proxyRef', 'baseUrl'] as const),
])

const targetSettingsOf = (target: ProviderTarget | null): unknown =>
  target === null ? null : [idOf(target.profile), target.endpoints.map(endpointSettingsOf)]

/**
 * Returns the settings of an endpoint that can change a request. Of a path, only the presence of
 * the placeholder for a deployment is compared, because a deployment can have any name. `models` is
 * compared only if it is a regular expression. Any other value of `models` follows from the
 * channel's terms, which are compared separately.
 */
const endpointSettingsOf = (endpoint: CallEndpoint): unknown =>
  Object.entries(endpoint)
    .map(([name, value]) => {
      if (name === 'models' && !(value instanceof RegExp)) return [name, 'by terms']
      return [name, /path$/i.test(name) ? String(value).includes(MODEL_PLACEHOLDER) : idOf(value)]
    })
    .toSorted()

const ids = new WeakMap<object, number>()
let highestId = 0

/**
 * Returns a primitive value itself, the text of a regular expression, or a unique number for any
 * other object.
 */
function idOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof RegExp) return `${value}`
  const existing = ids.get(value)
  if (existing !== undefined) return existing
  highestId += 1
  ids.set(value, highestId)
  return highestId
}
