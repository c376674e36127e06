import type { RelayOptions } from '#relay/views/option-view.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { ConversionError } from '../conversion/canonical-request.ts'
import { type CallConversion, convertCall } from '../conversion/convert-call.ts'
import type { ConversionTarget } from '../conversion/format-conversion.ts'
import { chatVendorOf } from '../conversion/openai-chat/chat-vendor.ts'
import { formatFor } from '../dialects/all-formats.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import { isByDeployment } from '../providers/openai-compatible/provider-target.ts'
import type { RelayChannel } from '../views/channel-view.ts'
import { upstreamModelOf } from '../views/parsed-channel-settings.ts'
import type { CallTerms } from './call-hold-terms.ts'

/** A channel to which the call may be sent, with the request for that channel. */
export type Candidate = {
  readonly channel: RelayChannel
  /** The caller's request after the channel's overrides. */
  readonly request: ChatRequest
  readonly body: Buffer
  /** The provider's name for the model, or null if the provider uses the caller's name. */
  readonly upstreamModel: string | null
  /** The members of the request that are removed, because this channel does not allow them. */
  readonly dropped: readonly string[]
  /** The conversion to the provider's format. Null if the caller uses the same format. */
  readonly conversion: CallConversion | null
}

const NO_OVERRIDES: ReadonlyMap<string, string> = new Map()

/** The output limits of a call, in tokens per choice. */
export type OutputLimits = {
  /** The limit that the call's hold covers. Null keeps the request's own limit. */
  readonly covered: number | null
  /** The limit to send if the request has none and the provider's format requires one. */
  readonly ofFormat: number
}

const OWN_LIMITS: OutputLimits = { covered: null, ofFormat: 4_096 }

export const outputLimitsOf = (
  { messagesOutputDefaults }: RelayOptions,
  { model }: ChatRequest,
  { bounds }: CallTerms,
  covered: number | null,
): OutputLimits => {
  const ofModel =
    messagesOutputDefaults.get(model) ??
    messagesOutputDefaults.get('default') ??
    bounds.outputTokens
  return { covered, ofFormat: Math.max(1, Math.min(ofModel, bounds.outputTokens)) }
}

/**
 * The maximum length in MiB of a request that is converted. A conversion parses the request.
 * Parsing a longer request would block the event loop.
 */
const CONVERTED_MIB_MAX = 4
/** The maximum number of members in all objects of a request that is converted. */
const CONVERTED_KEYS_MAX = 40_000

/**
 * Returns the request for this channel. Returns an error if the request is invalid after the
 * channel's overrides, or if the provider's format can't express the request.
 */
export function candidateOf(
  channel: RelayChannel,
  request: ChatRequest,
  isOverridden = true,
  limits = OWN_LIMITS,
): Candidate | RelayError {
  const { rules, terms } = channel
  const model = upstreamModelOf(terms, rules, request.model)
  const format = formatFor(channel, request.format, model)
  if (format.name === request.format.name) {
    return finished(channel, request, { model, isOverridden, limits }, null)
  }
  const outputTokensMax = limits.covered ?? limits.ofFormat
  const vendor = chatVendorOf(terms.type)
  const conversion = conversionOf(request, {
    format: format.name,
    model,
    outputTokensMax,
    outputTokensMost: limits.covered,
    vendor,
  })
  if (isRelayError(conversion)) return conversion
  const path = { model, isStream: request.isStream }
  const converted = format.readChangedRequest(conversion.body, path)
  if (isRelayError(converted)) {
    return relayError('not_convertible', { param: converted.params.param ?? 'request' })
  }
  // With `wantsUsage`, the usage events of a stream are converted too. The caller's format may
  // require them.
  const asCalled = { ...converted, wantsUsage: true, model: request.model }
  return finished(channel, asCalled, { model, isOverridden, limits }, conversion)
}

type Conversions = {
  readonly target: ConversionTarget
  readonly outcome: CallConversion | RelayError
}[]

/** Caches the conversions of each request. Several channels may need the same conversion. */
const CONVERSIONS = new WeakMap<ChatRequest, Conversions>()

function conversionOf(request: ChatRequest, target: ConversionTarget): CallConversion | RelayError {
  const conversions = CONVERSIONS.get(request) ?? []
  const existing = conversions.find(
    ({ target: { format, model, outputTokensMax, outputTokensMost, vendor } }) =>
      format === target.format &&
      model === target.model &&
      outputTokensMax === target.outputTokensMax &&
      outputTokensMost === target.outputTokensMost &&
      vendor === target.vendor,
  )
  if (existing !== undefined) return existing.outcome
  const outcome = convert(request, target)
  CONVERSIONS.set(request, [...conversions, { target, outcome }])
  return outcome
}

const KEY_END = Buffer.from('":')
const BACKSLASH = 92

/** Counts the members of all objects in compact JSON. Stops once the maximum is exceeded. */
function keysIn(body: Buffer): number {
  let keys = 0
  for (let at = body.indexOf(KEY_END); at >= 0; at = body.indexOf(KEY_END, at + 2)) {
    if (body[at - 1] !== BACKSLASH) keys += 1
    if (keys > CONVERTED_KEYS_MAX) break
  }
  return keys
}

function convert(
  { format, body, choices, model, isStream }: ChatRequest,
  target: ConversionTarget,
): CallConversion | RelayError {
  if (choices > 1) return relayError('not_convertible', { param: 'n' })
  if (body.length > CONVERTED_MIB_MAX * 1024 * 1024) {
    return relayError('request_too_large', { subject: `${CONVERTED_MIB_MAX}` })
  }
  if (keysIn(body) > CONVERTED_KEYS_MAX) {
    return relayError('json_too_wide', { subject: `${CONVERTED_KEYS_MAX}` })
  }
  try {
    return convertCall(format.name, body, { model, isStream }, target)
  } catch (error) {
    if (error instanceof ConversionError) {
      return relayError('not_convertible', { param: error.param.slice(0, 128) })
    }
    throw error
  }
}

type CandidateChange = {
  readonly model: string
  readonly isOverridden: boolean
  readonly limits: OutputLimits
}

/** Applies the channel's overrides and rules to a request in the provider's format. */
function finished(
  channel: RelayChannel,
  request: ChatRequest,
  { model, isOverridden, limits: { covered: outputTokens } }: CandidateChange,
  conversion: CallConversion | null,
): Candidate | RelayError {
  const { rules } = channel
  const overrides = isOverridden ? rules.overrides : NO_OVERRIDES
  const forcesUsage = rules.takesIncludeUsage
  const allowed = rules.allowedMembers
  const isDeployment = channel.target !== null && isByDeployment(channel.target)
  const change = { model, isDeployment, forcesUsage, overrides, allowed, outputTokens }
  const { body, dropped } = request.format.upstreamBody(request, change)
  const upstreamModel = model === request.model ? null : model
  if (overrides.size === 0 && dropped.length === 0) {
    const ownRequest = limited(request, outputTokens)
    return { channel, request: ownRequest, body, upstreamModel, dropped, conversion }
  }
  const overridden = request.format.readChangedRequest(body, request)
  if (isRelayError(overridden)) return overridden
  const named = overridden.model === request.model ? null : overridden.model
  // Overrides must not change the response to the caller, so the caller's own values are used.
  const { wantsUsage, model: requested } = request
  return {
    channel,
    request: { ...overridden, wantsUsage, model: requested },
    body,
    upstreamModel: named,
    dropped,
    conversion,
  }
}

function limited(request: ChatRequest, outputTokens: number | null): ChatRequest {
  const requested = request.outputTokensMax
  if (outputTokens === null || (requested !== null && requested <= outputTokens)) return request
  return { ...request, outputTokensMax: outputTokens }
}
