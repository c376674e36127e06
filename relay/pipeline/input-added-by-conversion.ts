import {
  channelsIn,
  type Offer,
  oncePerOffer,
} from '#domain/routing/channels-by-group-and-model.ts'
import type { AdapterOptions } from '../adapters/read-claude-and-gemini-options.ts'
import { modelAndSuffixAtChannel } from '../adapters/resolve-model-suffix.ts'
import { lengthLimitError } from '../conversion/conversion-limits.ts'
import { copiedSchemaBytesOf } from '../conversion/gemini/count-copied-schema-bytes.ts'
import { formatFor } from '../dialects/choose-provider-format.ts'
import { countOutsideStrings } from '../dialects/scan-json-tokens.ts'
import { type ChatRequest, type FormatName, isDirectFormat } from '../dialects/wire-format.ts'
import { type RelayChannel, serves } from '../views/channel-view.ts'
import { channelsWithDistinctRequests } from './channels-with-distinct-requests.ts'

/**
 * Returns the maximum number of input tokens that the conversion of a request adds to its bound.
 * Gemini accepts no references in JSON schemas, so each reference is replaced by a copy. In all
 * formats, a number with an exponent is written with all its digits. Returns 0 if no channel of the
 * offer needs a conversion.
 */
export function tokensAddedByConversion(
  request: ChatRequest,
  offer: Offer<RelayChannel>,
  adapters: AdapterOptions,
): number {
  const { format, model, body } = request
  if (isDirectFormat(format.name) || lengthLimitError(body.length) !== null) return 0
  const ofNumbers = mayBeConverted(offer, format.name, model) ? bytesAddedByNumbers(body) : 0
  const ofCopies = copiedSchemaBytesOf(body)
  if (ofCopies === 0) return ofNumbers
  const isGemini = channelsWithDistinctRequests(offer).some((channel) => {
    const name = formatNameAt(channel, request, adapters)
    return name === 'gemini' && format.name !== 'gemini'
  })
  return isGemini ? ofNumbers + ofCopies : ofNumbers
}

/** Reports whether the request is converted to another format for this channel. */
export const isConverted = (
  channel: RelayChannel,
  request: ChatRequest,
  adapters: AdapterOptions,
): boolean => formatNameAt(channel, request, adapters) !== request.format.name

function formatNameAt(
  channel: RelayChannel,
  request: ChatRequest,
  adapters: AdapterOptions,
): FormatName {
  const { model } = modelAndSuffixAtChannel(channel, request, adapters)
  return formatFor(channel, request.format, model).name
}

/** Caches the answers of `mayBeConverted` for each offer, by format and model. */
const answersByFormat = oncePerOffer((_offer: Offer<RelayChannel>) => new Map<string, boolean>())

/** Reports whether at least one channel does not serve the model in the caller's format. */
function mayBeConverted(offer: Offer<RelayChannel>, format: FormatName, model: string): boolean {
  const answers = answersByFormat(offer)
  const key = `${format} ${model}`
  const existing = answers.get(key)
  if (existing !== undefined) return existing
  const isNeeded = channelsIn(offer).some(
    (channel) => channel.target !== null && !serves(channel, format, model),
  )
  answers.set(key, isNeeded)
  return isNeeded
}

/** `1e20` has 21 digits. JavaScript writes larger numbers with an exponent. */
const ADDED_PER_NUMBER = 17
const EXPONENTS = Buffer.from('eE')
/** The letters that occur once in `true` and `false`, which have one `e` each. */
const BOOLEANS = Buffer.from('tf')

/** Returns the maximum number of bytes that are added when numbers are parsed and written again. */
function bytesAddedByNumbers(body: Buffer): number {
  const letters = countOutsideStrings(body, EXPONENTS, body.length)
  if (letters === 0) return 0
  return (letters - countOutsideStrings(body, BOOLEANS, body.length)) * ADDED_PER_NUMBER
}
