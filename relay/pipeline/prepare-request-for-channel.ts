import type { Thinking } from '#relay/canonical/canonical-request.ts'
import { adaptRequest } from '../adapters/adapt-request-to-model.ts'
import {
  type ProviderSettings,
  providerSettings,
} from '../adapters/model-headers-and-api-version.ts'
import { type AdapterOptions, NO_ADAPTERS } from '../adapters/read-claude-and-gemini-options.ts'
import { modelAndSuffixAtChannel } from '../adapters/resolve-model-suffix.ts'
import { thinkingFor } from '../adapters/thinking-suffix-of-model-name.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import type { CallConversion } from '../conversion/convert-call.ts'
import { applyEdits } from '../dialects/byte-edits.ts'
import { formatFor } from '../dialects/choose-provider-format.ts'
import { withAllowedCache } from '../dialects/detect-and-shorten-one-hour-caching.ts'
import { convertToPredict } from '../dialects/embeddings-rerank-moderations/convert-to-vertex-predict.ts'
import {
  type ChatRequest,
  isDirectFormat,
  type UpstreamChange,
  type WireFormat,
} from '../dialects/wire-format.ts'
import { compactPathOf, endpointOf, isByDeployment } from '../providers/profiles/provider-target.ts'
import type { Translation } from '../providers/proprietary-chat-apis/chat-translation.ts'
import { withStoredInput } from '../stored-responses/find-channel-and-key-of-stored-input.ts'
import type { RelayChannel } from '../views/channel-view.ts'
import { adaptImageRequest, ignoredMembers, withAcceptedMembers } from './adapt-image-request.ts'
import { withoutForeignThinking } from './cache-requests-without-foreign-thinking.ts'
import { chatExtensionsAt } from './chat-extensions-accepted-by-channel.ts'
import { type ConvertedRequest, convertRequest } from './convert-request.ts'
import type { OutputLimits } from './output-limits-of-call.ts'
import { unreadFileError } from './refuse-unread-files-of-image-call.ts'
import { fitThinkingBudgetAndLimit } from './thinking-beyond-output-limit.ts'
import {
  type TranslatedChat,
  translateToProprietaryApi,
} from './translate-chat-to-proprietary-api.ts'

/** A channel to which the call may be sent, with the request for that channel. */
export type Candidate = {
  readonly channel: RelayChannel
  /** The caller's request, converted if necessary, and with the channel's overrides. */
  readonly request: ChatRequest
  readonly body: Buffer
  /** The provider's name for the model, or null if the provider uses the caller's name. */
  readonly upstreamModel: string | null
  /**
   * The members, cache lifetimes and beta features of the request that are not sent, because this
   * channel does not allow them or because no price covers them.
   */
  readonly dropped: readonly string[]
  /** Paths in the request that the provider's model or format does not support (losses). */
  readonly losses: readonly string[]
  /** True if the caller expects images as base64. The provider may return their URLs instead. */
  readonly expectsImageData?: true
  readonly settings: ProviderSettings
  /** The conversion to the provider's format. Null if the caller uses the same format. */
  readonly conversion: CallConversion | null
  /** Translates the provider's answers. Omitted if the provider uses the request's format. */
  readonly translated?: TranslatedChat
  /** Called with the exception if a part of the answer can't be read and is only estimated. */
  readonly onUnreadable?: (err: unknown) => void
}

const NO_OVERRIDES: ReadonlyMap<string, string> = new Map()
const NO_LOSSES: readonly string[] = []

const OWN_LIMITS: OutputLimits = { covered: null, ofFormat: 4_096 }

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
  const candidate = prepareInWireFormat(channel, request, { isOverridden, limits, adapters })
  if (isRelayError(candidate)) return candidate
  const sent = translatedIfProprietary(candidate, request)
  return isRelayError(sent) ? sent : (unreadFileError(sent, request) ?? sent)
}

function translatedIfProprietary(
  candidate: Candidate,
  { format: callers }: ChatRequest,
): Candidate | RelayError {
  const {
    channel: { target },
    request: { format, model },
    upstreamModel,
  } = candidate
  const endpoint = target && endpointOf(target, format.name, upstreamModel ?? model)
  return endpoint?.translation === undefined
    ? candidate
    : translatedCandidate(candidate, endpoint.translation, callers)
}

type PreparationOptions = {
  readonly isOverridden: boolean
  readonly limits: OutputLimits
  readonly adapters: AdapterOptions
}

function prepareInWireFormat(
  channel: RelayChannel,
  request: ChatRequest,
  options: PreparationOptions,
): Candidate | RelayError {
  const route = routeAt(channel, request, options)
  if (isRelayError(route)) return route
  if (isNative(route, request)) {
    const { request: own, losses } = withoutForeignThinking(request, route.model)
    return adaptImageRequest(applyChannelSettings(channel, own, { ...route, losses }, null))
  }
  const converted = convertedAt(channel, request, route)
  if (isRelayError(converted)) return converted
  const { conversion } = converted
  const ofModel = request.namesOtherModel ? ['model'] : NO_LOSSES
  const change = { ...route, thinking: null, losses: conversion.losses.concat(ofModel) }
  return applyChannelSettings(channel, converted.request, change, conversion)
}

/**
 * Returns the error if the request can't be converted for this channel; otherwise null. The
 * conversion is cached, so the later call of `candidateOf` does not repeat it.
 */
export function conversionErrorAt(
  channel: RelayChannel,
  request: ChatRequest,
  options: PreparationOptions,
): RelayError | null {
  const route = routeAt(channel, request, options)
  if (isRelayError(route)) return route
  if (isNative(route, request)) return null
  const converted = convertedAt(channel, request, route)
  return isRelayError(converted) ? converted : null
}

/** The decisions that are made for a channel before the request is converted. */
type PreparationRoute = CandidateChange & {
  readonly format: WireFormat
  /** True if the endpoint takes the requests of Vertex AI's method `predict`. */
  readonly isPredict: boolean
}

const isNative = ({ format, isPredict }: PreparationRoute, request: ChatRequest): boolean =>
  format.name === request.format.name && !isPredict

function routeAt(
  channel: RelayChannel,
  request: ChatRequest,
  { isOverridden, limits, adapters }: PreparationOptions,
): PreparationRoute | RelayError {
  const { model, suffix } = modelAndSuffixAtChannel(channel, request, adapters)
  const { target } = channel
  if (request.format.isCompaction && (target === null || compactPathOf(target, model) === null)) {
    return relayError('not_convertible', { param: 'compact' })
  }
  const { name } = request.format
  const endpoint = target === null ? undefined : endpointOf(target, name, model)
  if (isDirectFormat(name) && endpoint === undefined) {
    return relayError('not_convertible', { param: 'model' })
  }
  const format = formatFor(channel, request.format, model)
  const overrides = isOverridden ? channel.rules.overrides : NO_OVERRIDES
  const outputTokensMax = outputLimitFor(request, format, limits, overrides)
  const thinking = suffix === null ? null : thinkingFor(suffix, model, outputTokensMax, adapters)
  const isPredict = endpoint?.isPredict === true
  return { model, isOverridden, limits, adapters, outputTokensMax, thinking, format, isPredict }
}

/**
 * Returns the request in the format of the channel's provider, or an error if it can't be
 * converted.
 */
function convertedAt(
  channel: RelayChannel,
  request: ChatRequest,
  { model, format, limits, thinking, isPredict }: PreparationRoute,
): ConvertedRequest | RelayError {
  if (isPredict) return convertToPredict(request)
  if (format.name === 'completions' || isDirectFormat(format.name)) {
    return relayError('not_convertible', { param: 'model' })
  }
  return convertRequest(request, format, {
    format: format.name,
    model,
    outputTokensMax: limits.covered ?? limits.ofFormat,
    outputTokensCovered: limits.covered,
    vendor: chatExtensionsAt(channel, model, request.isStream),
    ...(thinking === null ? {} : { thinking }),
  })
}

/**
 * Returns the output limit that is sent. Null if the request has no limit, the hold sets none, and
 * the format requires none. Anthropic's format requires a limit, and a thinking budget must be
 * below it.
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

type CandidateChange = {
  readonly model: string
  readonly isOverridden: boolean
  readonly limits: OutputLimits
  readonly adapters: AdapterOptions
  /**
   * The thinking that the model's suffix requests. Null if it requests none, or if a conversion has
   * already applied it.
   */
  readonly thinking: Thinking | null
  readonly outputTokensMax: number | null
  /** The losses (see `Candidate`) of an earlier step. */
  readonly losses?: readonly string[]
}

/** Applies the adapters and the channel's overrides to a request in the provider's format. */
function applyChannelSettings(
  channel: RelayChannel,
  requested: ChatRequest,
  { model, isOverridden, limits, adapters, losses = NO_LOSSES, ...change }: CandidateChange,
  conversion: CallConversion | null,
): Candidate | RelayError {
  const { rules } = channel
  const { request, dropped: lifetimes } = withAllowedCache(requested, rules.allowedMembers)
  const ownOverrides = isOverridden ? rules.overrides : NO_OVERRIDES
  const vendor = chatExtensionsAt(channel, model, request.isStream)
  const adaptation = adaptRequest(
    request,
    { ...change, model, vendor, overrides: ownOverrides, setsParameters: isOverridden },
    adapters,
  )
  const adaptedOverrides = adaptation?.overrides ?? ownOverrides
  const { format } = request
  const isLimitMissing =
    format.name === 'messages' &&
    request.outputTokensMax === null &&
    !adaptedOverrides.has('max_tokens')
  const { covered } = limits
  const limit = { covered, outputTokens: covered ?? (isLimitMissing ? limits.ofFormat : null) }
  const fitted = fitThinkingBudgetAndLimit(channel, request, model, adaptedOverrides, limit)
  if (isRelayError(fitted)) return fitted
  const { outputTokens, overrides } = fitted
  const { target } = channel
  const { ignores, accepts, isPlainOnly } = (target && endpointOf(target, format.name, model)) ?? {}
  const ignored = ignoredMembers(ignores, request, overrides)
  const removed = [...(adaptation?.removed ?? []), ...ignored]
  if (isPlainOnly === true) removed.push('stream')
  const bodyChange: UpstreamChange & { removed?: ReadonlySet<string> } = {
    model,
    isDeployment: target !== null && isByDeployment(target),
    forcesUsage: rules.takesIncludeUsage,
    overrides: withModelName(request, model, overrides),
    allowed: withAcceptedMembers(rules.allowedMembers, accepts, request),
    outputTokens,
  }
  if (removed.length > 0) bodyChange.removed = new Set(removed)
  const { body, dropped: members } = format.upstreamBody(request, bodyChange)
  const dropped = [...members, ...lifetimes]
  const candidate = {
    channel,
    body,
    dropped,
    losses: losses.concat(adaptation?.losses ?? [], fitted.losses, ignored),
    settings: providerSettings(adapters, format.name, request.model, model),
    conversion,
  }
  if (overrides.size > 0 || dropped.length > 0 || ignored.length > 0)
    return rereadChangedRequest(candidate, request, bodyChange)
  return {
    ...candidate,
    request: withOutputLimit(request, outputTokens),
    body: withEnvelope(channel, request, bodyChange, body),
    upstreamModel: model === request.model ? null : model,
  }
}

/** Reads a changed request again, because its limits and its model may have changed. */
function rereadChangedRequest(
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
  const { wantsUsage, model: called, stored, files } = request
  const completed = stored === undefined ? changed : withStoredInput(changed, stored)
  // An override may have added tools of the provider without a limit.
  const limitEdits = changed.toolLimits?.edits ?? []
  const limitedBody = applyEdits(body, limitEdits)
  const sent = limitEdits.length === 0 ? changed : format.readChangedRequest(limitedBody, path)
  if (isRelayError(sent)) return sent
  return {
    ...candidate,
    request: { ...completed, isStream, wantsUsage, model: called, ...(files && { files }) },
    body: withEnvelope(channel, sent, { ...bodyChange, model: changed.model }, limitedBody),
    upstreamModel: changed.model === called ? null : changed.model,
  }
}

/**
 * Returns the body for an endpoint. An endpoint with an envelope expects bodies that differ from
 * the format of the request. For any other endpoint, `body` is returned.
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
 * Returns the overrides, with the model's name added if the caller's name had a suffix, or if the
 * model is a fallback model. No name is added to a request of Gemini's formats, which have the name
 * in the path, or if the overrides already set the name. A converted request has neither a suffix
 * nor a fallback model.
 */
function withModelName(
  { suffix, fallbackFor, format }: ChatRequest,
  model: string,
  overrides: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const isOther = suffix !== undefined || fallbackFor !== undefined
  const isInBody = isOther && !format.name.startsWith('gemini')
  if (!isInBody || overrides.has('model')) return overrides
  return new Map([...overrides, ['model', JSON.stringify(model)]])
}

function withOutputLimit(request: ChatRequest, outputTokens: number | null): ChatRequest {
  const requested = request.outputTokensMax
  if (outputTokens === null || (requested !== null && requested <= outputTokens)) return request
  return { ...request, outputTokensMax: outputTokens }
}

/**
 * Translates the body of a prepared request to an API that only this provider has. `callers` is the
 * format of the caller's request.
 */
function translatedCandidate(
  candidate: Candidate,
  translation: Translation,
  callers: WireFormat,
): Candidate | RelayError {
  const { body, request, channel, upstreamModel, losses } = candidate
  const { profile, address } = channel.target ?? {}
  const model = upstreamModel ?? request.model
  const target = { model, isStream: request.isStream, other: address?.other ?? '' }
  const name = isDirectFormat(callers.name) ? 'chat' : callers.name
  const chat = translateToProprietaryApi(translation, body, request.choices, target, name)
  if (isRelayError(chat)) return chat
  return {
    ...candidate,
    body: chat.body,
    losses: [...new Set([...losses, ...chat.losses])],
    translated: chat.translated,
    request: profile?.ignoresOutputLimit === true ? { ...request, outputTokensMax: null } : request,
  }
}
