import type { Offer } from '#domain/routing/channels-by-group-and-model.ts'
import type { AdapterOptions } from '../adapters/read-claude-and-gemini-options.ts'
import { modelAndSuffixAtChannel } from '../adapters/resolve-model-suffix.ts'
import { lengthLimitError } from '../conversion/conversion-limits.ts'
import {
  copiedSchemaBytesOf,
  mayCopySchemas,
} from '../conversion/gemini/count-copied-schema-bytes.ts'
import { formatFor } from '../dialects/choose-provider-format.ts'
import { type ChatRequest, type FormatName, isDirectFormat } from '../dialects/wire-format.ts'
import { type RelayChannel, serves } from '../views/channel-view.ts'
import { anyChannelOncePerModel } from './any-channel-once-per-model.ts'
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
  if (!mayCopySchemas(body)) return ofNumbers
  const isGemini = channelsWithDistinctRequests(offer).some((channel) => {
    const name = formatNameAt(channel, request, adapters)
    return name === 'gemini' && format.name !== 'gemini'
  })
  return isGemini ? ofNumbers + copiedSchemaBytesOf(body) : ofNumbers
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

/**
 * Reports whether at least one channel does not serve the model in the caller's format, or has an
 * endpoint whose chats are translated to the provider's own format.
 */
const mayBeConverted = anyChannelOncePerModel(
  (channel, format, model) =>
    channel.target !== null &&
    (!serves(channel, format, model) ||
      channel.target.endpoints.some(({ translation }) => translation !== undefined)),
)

/** `1e20` has 21 digits. JavaScript writes larger numbers with an exponent. */
const ADDED_PER_NUMBER = 17
/** `1e-6` is written as `0.000001`. JavaScript writes smaller numbers with an exponent. */
const ADDED_PER_FRACTION = 4
/**
 * Matches the exponent of a number, in a string too, where each of its characters may be an escape
 * such as `\u0065`. What may follow a number must follow, so that most hexadecimal texts do not
 * match, and escapes such as `\u00e9` do not match either. A number with more digits gets shorter.
 */
const EXPONENT = new RegExp(
  [
    /(?<=\d)(?<!\\u[\da-f]{1,3})(?:e|\\u00[46]5)/,
    /([+-]|\\u002[bd])?((?:\d|\\u003\d){1,400})(?=[\s,\]}"\\])/,
  ]
    .map(({ source }) => source)
    .join(''),
  'gi',
)

/** Caches the counts. All alternatives of a request share its body. */
const BYTES_OF_NUMBERS = new WeakMap<Buffer, number>()

/**
 * Returns the maximum number of bytes that are added when numbers are parsed and written again.
 * Numbers in strings are counted too, because the arguments of tool calls are JSON in a string.
 */
function bytesAddedByNumbers(body: Buffer): number {
  const existing = BYTES_OF_NUMBERS.get(body)
  if (existing !== undefined) return existing
  const text = body.toString('latin1')
  let bytes = 0
  for (const [, sign = '', digits = ''] of text.matchAll(EXPONENT)) {
    const isFraction = sign === '-' || /d$/i.test(sign)
    bytes += isFraction ? ADDED_PER_FRACTION : addedByExponent(Number(digits))
  }
  BYTES_OF_NUMBERS.set(body, bytes)
  return bytes
}

/** `1e5` has three bytes and becomes six. `1e21` becomes `1e+21`. NaN stands for escaped digits. */
const addedByExponent = (exponent: number): number =>
  Number.isNaN(exponent) ? ADDED_PER_NUMBER : Math.min(ADDED_PER_NUMBER, Math.max(2, exponent - 2))
