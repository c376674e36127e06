import type { Offer } from '#domain/routing/channels-by-group-and-model.ts'
import type { AdapterOptions } from '../adapters/read-claude-and-gemini-options.ts'
import { modelAndSuffixAtChannel } from '../adapters/resolve-model-suffix.ts'
import { copiedSchemaBytesOf } from '../conversion/gemini/schema-copies.ts'
import { formatFor } from '../dialects/choose-provider-format.ts'
import { type ChatRequest, isDirectFormat } from '../dialects/wire-format.ts'
import type { RelayChannel } from '../views/channel-view.ts'
import { channelsWithDistinctRequests } from './channels-with-distinct-requests.ts'

/**
 * Returns the maximum number of input tokens that the conversion of a request adds to its bound.
 * Gemini accepts no references in JSON schemas, so each reference is replaced by a copy. Returns 0
 * if the offer has no channel for which schemas with references are converted.
 */
export function tokensAddedByConversion(
  request: ChatRequest,
  offer: Offer<RelayChannel>,
  adapters: AdapterOptions,
): number {
  if (isDirectFormat(request.format.name) || request.format.name === 'gemini') return 0
  const bytes = copiedSchemaBytesOf(request.body)
  if (bytes === 0) return 0
  const channels = channelsWithDistinctRequests(offer)
  return channels.some((channel) => isConvertedToGemini(channel, request, adapters)) ? bytes : 0
}

/** Reports whether the request is converted to Gemini's format for this channel. */
export function isConvertedToGemini(
  channel: RelayChannel,
  request: ChatRequest,
  adapters: AdapterOptions,
): boolean {
  const { model } = modelAndSuffixAtChannel(channel, request, adapters)
  const { name } = formatFor(channel, request.format, model)
  return name === 'gemini' && request.format.name !== 'gemini'
}
