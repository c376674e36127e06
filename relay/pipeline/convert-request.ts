import {
  ConversionError,
  InvalidMemberError,
  SchemaSizeError,
  type Thinking,
  ToolConflictError,
} from '../canonical/canonical-request.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { CONVERTED_KEYS_MAX, conversionLimitError } from '../conversion/conversion-limits.ts'
import { type CallConversion, convertCall } from '../conversion/convert-call.ts'
import type { ConversionTarget } from '../conversion/format-conversion.ts'
import { ArgumentsSizeError } from '../conversion/limit-json-in-texts.ts'
import { callerPathsOfLosses } from '../conversion/loss-paths-in-caller-format.ts'
import type { ChatExtensions } from '../conversion/openai-chat/chat-extensions-of-provider.ts'
import { type ChatRequest, isDirectFormat, type WireFormat } from '../dialects/wire-format.ts'
import { NEEDS_PROVIDER_TOOL } from '../providers/profiles/openai-models-with-chat-endpoint.ts'

export type ConvertedRequest = {
  readonly conversion: CallConversion
  readonly request: ChatRequest
}

/** The maximum length of a path in an error. A path may contain names from the caller. */
const PATH_LENGTH_MAX = 128

type Conversions = {
  readonly target: ConversionTarget
  readonly outcome: ConvertedRequest | RelayError
}[]

/** Caches the conversions of each request. Several channels may need the same conversion. */
const CONVERSIONS = new WeakMap<ChatRequest, Conversions>()

/**
 * Converts a request to the format of a provider. Returns an error if the format can't express the
 * request, or if the request is too large to be converted.
 */
export function convertRequest(
  request: ChatRequest,
  format: WireFormat,
  target: ConversionTarget,
): ConvertedRequest | RelayError {
  const conversions = CONVERSIONS.get(request) ?? []
  const existing = conversions.find(
    ({ target: { format, model, outputTokensMax, outputTokensCovered, vendor, thinking } }) =>
      format === target.format &&
      model === target.model &&
      outputTokensMax === target.outputTokensMax &&
      outputTokensCovered === target.outputTokensCovered &&
      isEqual(vendor, target.vendor) &&
      isEqual(thinking, target.thinking),
  )
  if (existing !== undefined) return existing.outcome
  const conversion = convert(request, target)
  const outcome = isRelayError(conversion) ? conversion : readConverted(request, format, conversion)
  CONVERSIONS.set(request, [...conversions, { target, outcome }])
  return outcome
}

/** Returns the bodies of a request's cached conversions. */
export const cachedConversionBodies = (request: ChatRequest): readonly Buffer[] =>
  CONVERSIONS.get(request)?.flatMap(({ outcome }) =>
    isRelayError(outcome) ? [] : [outcome.request.body],
  ) ?? NO_BODIES

const NO_BODIES: readonly Buffer[] = []

/** Drops the cached conversions of a request, because too little memory is left for them. */
export const forgetConversions = (request: ChatRequest): void => {
  CONVERSIONS.delete(request)
}

/** The member of a request that contains the conversation in most formats. */
const CONVERSATION = 'messages'

/**
 * Returns the error about a conversation that is empty after its conversion. The error names the
 * first part that was lost. If no part was lost, the caller's conversation is itself empty, and the
 * error names it as the caller's format does.
 */
function emptyConversationError(caller: WireFormat, losses: readonly string[]): RelayError {
  const { promptMember = CONVERSATION } = caller
  const lost = losses.find((path) => path.startsWith(`${promptMember}[`))
  if (lost === undefined) return relayError('invalid_in_format', { param: promptMember })
  return relayError('not_convertible', { param: lost.slice(0, PATH_LENGTH_MAX) })
}

/** Returns the error for a request that can't be converted. */
export function relayErrorOf(error: ConversionError): RelayError {
  if (error instanceof ArgumentsSizeError) {
    return relayError('arguments_too_large', { subject: `${CONVERTED_KEYS_MAX}` })
  }
  const param = error.param.slice(0, PATH_LENGTH_MAX)
  if (error instanceof ToolConflictError || error instanceof SchemaSizeError) {
    return relayError(error.code, { param })
  }
  const code = error instanceof InvalidMemberError ? 'invalid_in_format' : 'not_convertible'
  return relayError(code, { param })
}

function readConverted(
  { isStream, model, format: caller }: ChatRequest,
  format: WireFormat,
  conversion: CallConversion,
): ConvertedRequest | RelayError {
  const read = format.readChangedRequest(conversion.body, { model, isStream })
  if (isRelayError(read)) {
    const { param = 'request' } = read.params
    const isConversation = param === (format.promptMember ?? CONVERSATION)
    if (isConversation) return emptyConversationError(caller, conversion.losses)
    return relayError('not_convertible', { param: param.slice(0, PATH_LENGTH_MAX) })
  }
  // A URL that is harmless in the caller's format may name a file of the site's account in the
  // provider's format.
  if (read.fileReferences !== undefined) return relayError('not_convertible', { param: 'url' })
  // With `wantsUsage`, the usage events of a stream are converted too. The caller's format may
  // require them.
  return { conversion, request: { ...read, wantsUsage: true, model } }
}

const isEqual = <T extends Thinking | ChatExtensions>(one: T | undefined, other: T | undefined) =>
  one === other || JSON.stringify(one) === JSON.stringify(other)

function convert(
  { format, body, members, choices, model, isStream, storesContent, fallbackFor }: ChatRequest,
  target: ConversionTarget,
): CallConversion | RelayError {
  const { name } = format
  if (isDirectFormat(name)) return relayError('not_convertible', { param: 'model' })
  // In the format `completions`, a list of prompts also causes several choices. The conversion
  // itself rejects such a request and names the member at fault.
  if (choices > 1 && name !== 'completions') {
    const [param = 'n'] = callerPathsOfLosses(['sampling.choices'], name)
    return relayError('not_convertible', { param })
  }
  const limitError = conversionLimitError(body)
  if (limitError !== null) return limitError
  const openAiModel = target.vendor.openAiModel ?? target.model
  if (target.format === 'responses' && NEEDS_PROVIDER_TOOL.test(openAiModel)) {
    return relayError('needs_provider_tool', { param: 'tools', subject: model })
  }
  try {
    const isStored = storesContent === true
    // The body names the model for which a fallback model answers.
    const facts = fallbackFor === undefined ? { isStored } : { isStored, model }
    const conversion = convertCall(name, body, { model, isStream }, target, facts)
    const isLost = name === 'responses' && !isStored && members.some(isStoreRequested)
    return isLost ? { ...conversion, losses: [...conversion.losses, 'store'] } : conversion
  } catch (error) {
    if (error instanceof ConversionError) return relayErrorOf(error)
    // JSON in a text, such as the arguments of a tool call, may be too deep to be serialized again.
    if (error instanceof RangeError) {
      return relayError('not_convertible', { param: format.promptMember ?? CONVERSATION })
    }
    throw error
  }
}

/**
 * Reports whether a member explicitly asks for storage. Storage is the default, so a caller who
 * states this default relies on it.
 */
const isStoreRequested = ({ key, kind }: ChatRequest['members'][number]): boolean =>
  key === 'store' && kind === 'true'

const CONVERSION_FAILURES: ReadonlySet<RelayError['code']> = new Set<RelayError['code']>([
  ...(['invalid_in_format', 'not_convertible', 'needs_provider_tool'] as const),
  ...(['duplicate_tool_name', 'required_tool_missing', 'schema_too_large'] as const),
  ...(['request_too_large_to_convert', 'json_too_wide'] as const),
  ...(['json_too_many_objects', 'arguments_too_large'] as const),
])

/**
 * Reports whether an error says that a request can't be converted. A caller can avoid such an error
 * by changing the request.
 */
export const isConversionFailure = ({ code }: RelayError): boolean => CONVERSION_FAILURES.has(code)
