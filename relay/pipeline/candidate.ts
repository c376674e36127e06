import type { IncomingHttpHeaders } from 'node:http'
import type { Thinking } from '#relay/conversion/canonical-request.ts'
import type { RelayOptions } from '#relay/views/option-view.ts'
import { adaptRequest } from '../adapters/adapt-request.ts'
import { type AdapterOptions, NO_ADAPTERS } from '../adapters/adapter-options.ts'
import { thinkingFor } from '../adapters/model-suffix.ts'
import {
  type ProviderSettings,
  providerSettings,
  withHeaders,
  withVersion,
} from '../adapters/provider-settings.ts'
import { suffixAt } from '../adapters/resolve-model-name.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { ConversionError } from '../conversion/canonical-request.ts'
import { conversionLimitError } from '../conversion/conversion-limits.ts'
import { type CallConversion, convertCall } from '../conversion/convert-call.ts'
import type { ConversionTarget } from '../conversion/format-conversion.ts'
import { chatVendorOf } from '../conversion/openai-chat/chat-vendor.ts'
import { formatFor } from '../dialects/all-formats.ts'
import { applyEdits } from '../dialects/byte-edits.ts'
import {
  type ChatRequest,
  isDirectFormat,
  type UpstreamChange,
  type WireFormat,
} from '../dialects/wire-format.ts'
import { type ProviderCall, withoutHeaders } from '../providers/clouds/cloud-access.ts'
import {
  compactPathOf,
  endpointOf,
  isByDeployment,
  type ProviderTarget,
  providerCall,
} from '../providers/openai-compatible/provider-target.ts'
import type { Translation } from '../providers/translations/translation.ts'
import { withStoredInput } from '../stored-responses/stored-input.ts'
import type { RelayChannel } from '../views/channel-view.ts'
import type { CallTerms } from './call-hold-terms.ts'
import { type TranslatedChat, translateChat } from './translate-chat.ts'

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
  /** What the caller demanded, but the provider's model or format can't do. */
  readonly losses: readonly string[]
  readonly settings: ProviderSettings
  /** The conversion to the provider's format. Null if the caller uses the same format. */
  readonly conversion: CallConversion | null
  /** How the provider's answers are translated. Omitted if the provider speaks the format. */
  readonly translated?: TranslatedChat
}

const NO_OVERRIDES: ReadonlyMap<string, string> = new Map()
const NO_LOSSES: readonly string[] = []

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
 * Returns the request for this channel. Returns an error if the request is invalid after the
 * channel's overrides, or if the provider's format can't express the request.
 */
export function candidateOf(
  channel: RelayChannel,
  request: ChatRequest,
  isOverridden = true,
  limits = OWN_LIMITS,
  adapters = NO_ADAPTERS,
): Candidate | RelayError {
  const candidate = untranslated(channel, request, isOverridden, limits, adapters)
  if (isRelayError(candidate)) return candidate
  const {
    channel: { target },
    request: { format, model },
    upstreamModel,
  } = candidate
  const endpoint = target && endpointOf(target, format.name, upstreamModel ?? model)
  return endpoint?.translation === undefined
    ? candidate
    : translatedCandidate(candidate, endpoint.translation)
}

function untranslated(
  channel: RelayChannel,
  request: ChatRequest,
  isOverridden: boolean,
  limits: OutputLimits,
  adapters: AdapterOptions,
): Candidate | RelayError {
  const { model, suffix } = suffixAt(channel, request, adapters)
  const { target } = channel
  if (request.format.isCompaction && (target === null || compactPathOf(target, model) === null)) {
    return relayError('not_convertible', { param: 'compact' })
  }
  const { name } = request.format
  const isMissing = target === null || endpointOf(target, name, model) === undefined
  if (isDirectFormat(name) && isMissing) return relayError('not_convertible', { param: 'model' })
  const format = formatFor(channel, request.format, model)
  const overrides = isOverridden ? channel.rules.overrides : NO_OVERRIDES
  const outputTokensMax = outputLimitFor(request, format, limits, overrides)
  const thinking = suffix === null ? null : thinkingFor(suffix, model, outputTokensMax, adapters)
  const change = { model, isOverridden, limits, adapters, outputTokensMax }
  if (format.name === name) {
    return finished(channel, request, { ...change, thinking }, null)
  }
  if (format.name === 'completions' || isDirectFormat(format.name))
    return relayError('not_convertible', { param: 'model' })
  const vendor = chatVendorOf(channel.terms.type)
  const conversion = conversionOf(request, {
    format: format.name,
    model,
    outputTokensMax: limits.covered ?? limits.ofFormat,
    outputTokensMost: limits.covered,
    vendor,
    ...(thinking === null ? {} : { thinking }),
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
  return finished(channel, asCalled, { ...change, thinking: null }, conversion)
}

/**
 * Returns the output limit that is sent. Anthropic's format requires a limit, and a budget of
 * thinking below it. Null if the request has none and needs none.
 */
function outputLimitFor(
  { outputTokensMax }: ChatRequest,
  { name }: WireFormat,
  { covered, ofFormat }: OutputLimits,
  overrides: ReadonlyMap<string, string>,
): number | null {
  const isMessages = name === 'messages'
  const override = isMessages ? Number(overrides.get('max_tokens') ?? 0) : 0
  const own = override > 0 ? override : outputTokensMax
  if (own === null) return covered ?? (isMessages ? ofFormat : null)
  return covered === null ? own : Math.min(own, covered)
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
    ({ target: { format, model, outputTokensMax, outputTokensMost, vendor, thinking } }) =>
      format === target.format &&
      model === target.model &&
      outputTokensMax === target.outputTokensMax &&
      outputTokensMost === target.outputTokensMost &&
      vendor === target.vendor &&
      isSameThinking(thinking, target.thinking),
  )
  if (existing !== undefined) return existing.outcome
  const outcome = convert(request, target)
  CONVERSIONS.set(request, [...conversions, { target, outcome }])
  return outcome
}

const isSameThinking = (one: Thinking | undefined, other: Thinking | undefined): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other)

function convert(
  { format, body, choices, model, isStream }: ChatRequest,
  target: ConversionTarget,
): CallConversion | RelayError {
  // A list of prompts has several answers, too. The conversion names the member that is at fault.
  if (choices > 1 && format.name !== 'completions') {
    return relayError('not_convertible', { param: 'n' })
  }
  const limitError = conversionLimitError(body)
  if (limitError !== null) return limitError
  const { name } = format
  if (isDirectFormat(name)) return relayError('not_convertible', { param: 'model' })
  try {
    return convertCall(name, body, { model, isStream }, target)
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
  readonly adapters: AdapterOptions
  /** How much the model shall think, if the request has not been converted. */
  readonly thinking: Thinking | null
  readonly outputTokensMax: number | null
}

/** Applies the adapters and the channel's overrides to a request in the provider's format. */
function finished(
  channel: RelayChannel,
  request: ChatRequest,
  { model, isOverridden, limits, adapters, ...requested }: CandidateChange,
  conversion: CallConversion | null,
): Candidate | RelayError {
  const { rules } = channel
  const ownOverrides = isOverridden ? rules.overrides : NO_OVERRIDES
  const vendor = chatVendorOf(channel.terms.type)
  const adaptation = adaptRequest(
    request,
    { ...requested, model, vendor, overrides: ownOverrides, setsParameters: isOverridden },
    adapters,
  )
  const overrides = adaptation?.overrides ?? ownOverrides
  const { format } = request
  const isLimitMissing =
    format.name === 'messages' && request.outputTokensMax === null && !overrides.has('max_tokens')
  const outputTokens = limits.covered ?? (isLimitMissing ? limits.ofFormat : null)
  const bodyChange = {
    model,
    isDeployment: channel.target !== null && isByDeployment(channel.target),
    forcesUsage: rules.takesIncludeUsage,
    overrides: withModelName(request, model, overrides),
    ...(adaptation === null ? {} : { removed: adaptation.removed }),
    allowed: rules.allowedMembers,
    outputTokens,
  }
  const { body, dropped } = format.upstreamBody(request, bodyChange)
  const candidate = {
    channel,
    body,
    dropped,
    losses: (conversion?.losses ?? NO_LOSSES).concat(adaptation?.losses ?? NO_LOSSES),
    settings: providerSettings(adapters, format.name, request.model, model),
    conversion,
  }
  if (overrides.size > 0 || dropped.length > 0) return overridden(candidate, request, bodyChange)
  return {
    ...candidate,
    request: limited(request, outputTokens),
    body: withEnvelope(channel, request, bodyChange, body),
    upstreamModel: model === request.model ? null : model,
  }
}

/** Reads a request again whose members were changed, because its limits and model may differ. */
function overridden(
  candidate: Omit<Candidate, 'request' | 'upstreamModel'>,
  request: ChatRequest,
  bodyChange: UpstreamChange,
): Candidate | RelayError {
  const { body, channel } = candidate
  const { format, isStream } = request
  const path = { model: bodyChange.model, isStream }
  const changed = format.readChangedRequest(body, path)
  if (isRelayError(changed)) return changed
  // Overrides must not change the response to the caller, so the caller's own values are used.
  const { wantsUsage, model: called, stored } = request
  const completed = stored === undefined ? changed : withStoredInput(changed, stored)
  // An override may have added tools of the provider without a limit.
  const limitEdits = changed.toolLimits?.edits ?? []
  const limitedBody = applyEdits(body, limitEdits)
  const sent = limitEdits.length === 0 ? changed : format.readChangedRequest(limitedBody, path)
  if (isRelayError(sent)) return sent
  return {
    ...candidate,
    request: { ...completed, wantsUsage, model: called },
    body: withEnvelope(channel, sent, { ...bodyChange, model: changed.model }, limitedBody),
    upstreamModel: changed.model === called ? null : changed.model,
  }
}

/**
 * Returns the body for an endpoint whose bodies differ from those of its format. `body` is the
 * request in the format itself, after the same change.
 */
function withEnvelope(
  { target }: RelayChannel,
  request: ChatRequest,
  change: UpstreamChange,
  body: Buffer,
): Buffer {
  const { format } = request
  const { envelope } = (target && endpointOf(target, format.name, change.model)) ?? {}
  return envelope === undefined ? body : format.upstreamBody(request, { ...change, envelope }).body
}

/**
 * Sets the model's name in the body if the caller's name had a suffix. A converted request has the
 * provider's name already, and Gemini's format has it in the path.
 */
function withModelName(
  { suffix, format }: ChatRequest,
  model: string,
  overrides: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const isInBody = suffix !== undefined && format.name !== 'gemini'
  if (!isInBody || overrides.has('model')) return overrides
  return new Map([...overrides, ['model', JSON.stringify(model)]])
}

function limited(request: ChatRequest, outputTokens: number | null): ChatRequest {
  const requested = request.outputTokensMax
  if (outputTokens === null || (requested !== null && requested <= outputTokens)) return request
  return { ...request, outputTokensMax: outputTokens }
}

/** Translates the body of a finished request, for a provider with a format of its own. */
function translatedCandidate(
  candidate: Candidate,
  translation: Translation,
): Candidate | RelayError {
  const { body, request, channel, upstreamModel, losses } = candidate
  const { profile, address } = channel.target ?? {}
  const model = upstreamModel ?? request.model
  const target = { model, isStream: request.isStream, other: address?.other ?? '' }
  const chat = translateChat(translation, body, request.choices, target)
  if (isRelayError(chat)) return chat
  return {
    ...candidate,
    body: chat.body,
    losses: losses.concat(chat.losses),
    translated: chat.translated,
    request: profile?.ignoresOutputLimit === true ? { ...request, outputTokensMax: null } : request,
  }
}

/** Builds the call of a candidate. `added` are headers of the gateway itself. */
export function callOf(
  candidate: Candidate,
  target: ProviderTarget,
  incoming: IncomingHttpHeaders,
  added: readonly string[] = [],
): ProviderCall {
  const { body, request, settings, upstreamModel } = candidate
  const { format, isStream, model } = request
  const headers = [...passedHeaders(candidate, incoming), ...added]
  const path = { model: upstreamModel ?? model, isStream }
  const call = providerCall(target, format.name, path, { headers, body })
  const compactPath = format.isCompaction ? compactPathOf(target, path.model) : null
  return { ...call, path: compactPath ?? withVersion(call.path, settings) }
}

/**
 * Returns the headers of the caller and the admin that are sent to the provider. Betas in an
 * override replace those in a header, because some providers read both from the body.
 */
function passedHeaders(
  { channel, request: { format }, settings }: Candidate,
  incoming: IncomingHttpHeaders,
): readonly string[] {
  const headers = withHeaders(format.passedHeaders(incoming), settings)
  if (!channel.rules.overrides.has('anthropic_beta')) return headers
  return withoutHeaders(headers, (name) => name === 'anthropic-beta')
}
