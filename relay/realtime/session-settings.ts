import { foldedName } from '#domain/shared/fold-name-case.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import { ambiguousKey } from '../dialects/invalid-json-error.ts'
import { isObject } from './size-of-conversation-items.ts'

/**
 * The settings of a session that the gateway must know. An undefined setting keeps its current
 * value.
 */
export type SessionSettings = {
  /** The settings to send to the provider, without those that only the gateway may set. */
  readonly session: Readonly<Record<string, unknown>>
  readonly outputTokensMax: number | null | undefined
  /** True if the provider begins a response on its own when the caller stops speaking. */
  readonly respondsToSpeech: boolean | undefined
  /** True if the provider may begin a response without any input of the caller. */
  readonly respondsToSilence: boolean
  /** The model that transcribes the input; null if it is not transcribed. */
  readonly transcriptionModel: string | null | undefined
  /** True if some audio has the narrow format G.711. */
  readonly isNarrow: boolean | undefined
}

/** The settings of sessions that both protocols have, or only one of them. */
const SESSION = [
  ...['type', 'audio', 'include', 'instructions', 'max_output_tokens', 'model'],
  ...['output_modalities', 'parallel_tool_calls', 'prompt', 'reasoning', 'tool_choice', 'tools'],
  ...['tracing', 'truncation', 'modalities', 'voice', 'input_audio_format', 'output_audio_format'],
  ...['input_audio_transcription', 'input_audio_noise_reduction', 'turn_detection', 'temperature'],
  ...['speed', 'max_response_output_tokens'],
]
const RESPONSE = [
  ...['audio', 'conversation', 'input', 'instructions', 'max_output_tokens', 'metadata'],
  ...['output_modalities', 'parallel_tool_calls', 'prompt', 'reasoning', 'tool_choice', 'tools'],
  ...['modalities', 'voice', 'output_audio_format', 'temperature', 'max_response_output_tokens'],
]
/** The members of a limit in the current protocol and in the beta. */
const LIMITS = ['max_output_tokens', 'max_response_output_tokens'] as const
const OUTPUT_TOKENS_MAX = 1_000_000

/**
 * Checks that an object has only known members. An unknown member could change what a response
 * costs.
 */
export function checkMembers(
  value: Readonly<Record<string, unknown>>,
  known: readonly string[],
  path: string,
): RelayError | null {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue
    const other = known.find((name) => foldedName(name) === foldedName(key))
    const param = `${path}${key.slice(0, 64)}`
    return other === undefined
      ? relayError('parameter_not_supported', { param })
      : ambiguousKey(param, other)
  }
  return null
}

/** Reads the settings of a session. `model` is the only model that they may name. */
export function readSession(
  value: unknown,
  model: string,
  param: string,
): SessionSettings | RelayError {
  if (!isObject(value)) return relayError('invalid_parameter', { param })
  const path = param === '' ? '' : `${param}.`
  const error = checkMembers(value, SESSION, path) ?? checkPriced(value, path)
  if (error !== null) return error
  if (value.type !== undefined && value.type !== 'realtime') {
    return relayError('parameter_not_supported', { param: `${path}type` })
  }
  if (value.model !== undefined && value.model !== model) {
    return relayError('invalid_parameter', { param: `${path}model` })
  }
  const outputTokensMax = limitOf(value, path)
  if (isError(outputTokensMax)) return outputTokensMax
  const { audio = {} } = value
  if (!isObject(audio)) return relayError('invalid_parameter', { param: `${path}audio` })
  const { input = {}, output = {} } = audio
  if (!isObject(input)) return relayError('invalid_parameter', { param: `${path}audio.input` })
  if (!isObject(output)) return relayError('invalid_parameter', { param: `${path}audio.output` })
  const transcriptionModel = transcriptionOf(
    input.transcription ?? value.input_audio_transcription,
    input.transcription === undefined
      ? `${path}input_audio_transcription`
      : `${path}audio.input.transcription`,
  )
  if (isError(transcriptionModel)) return transcriptionModel
  const isUnset = input.transcription === null || value.input_audio_transcription === null
  const { model: _model, tracing: _tracing, prompt: _prompt, ...session } = value
  const formats = [input.format, output.format, value.input_audio_format, value.output_audio_format]
  return {
    ...{ session, outputTokensMax },
    respondsToSpeech: respondsToSpeech([input.turn_detection, value.turn_detection]),
    respondsToSilence: [input.turn_detection, value.turn_detection].some(
      (each) => isObject(each) && typeof each.idle_timeout_ms === 'number',
    ),
    transcriptionModel: transcriptionModel ?? (isUnset ? null : undefined),
    isNarrow: isNarrow(formats),
  }
}

/** Reads the members of an event `response.create`. */
export function readResponse(value: unknown):
  | {
      readonly response: Readonly<Record<string, unknown>>
      readonly outputTokensMax: number | null
    }
  | RelayError {
  if (!isObject(value)) return relayError('invalid_parameter', { param: 'response' })
  const error = checkMembers(value, RESPONSE, 'response.') ?? checkPriced(value, 'response.')
  if (error !== null) return error
  const { conversation, input } = value
  if (conversation !== undefined && !['auto', 'none'].includes(conversation as string)) {
    return relayError('parameter_not_supported', { param: 'response.conversation' })
  }
  if (input !== undefined && input !== null && !Array.isArray(input)) {
    return relayError('invalid_parameter', { param: 'response.input' })
  }
  const outputTokensMax = limitOf(value, 'response.')
  if (isError(outputTokensMax)) return outputTokensMax
  const { prompt: _, ...response } = value
  return { response, outputTokensMax: outputTokensMax ?? null }
}

/**
 * Refuses stored prompts, whose length is unknown, and tools that the provider runs, which have no
 * price.
 */
function checkPriced(
  { prompt, tools, reasoning }: Readonly<Record<string, unknown>>,
  path: string,
): RelayError | null {
  if (prompt !== undefined && prompt !== null) {
    return relayError('parameter_not_supported', { param: `${path}prompt` })
  }
  if (reasoning !== undefined && reasoning !== null) {
    if (!isObject(reasoning)) return relayError('invalid_parameter', { param: `${path}reasoning` })
    const error = checkMembers(reasoning, ['effort', 'summary'], `${path}reasoning.`)
    if (error !== null) return error
  }
  if (tools === undefined || tools === null) return null
  if (!Array.isArray(tools)) return relayError('invalid_parameter', { param: `${path}tools` })
  const at = tools.findIndex((tool) => !isObject(tool) || tool.type !== 'function')
  return at < 0
    ? null
    : relayError('parameter_not_supported', { param: `${path}tools[${at}].type` })
}

/** Returns the lower one of the limits; null for `inf`, and undefined if there is none. */
function limitOf(
  value: Readonly<Record<string, unknown>>,
  path: string,
): number | null | undefined | RelayError {
  let limit: number | null | undefined
  for (const name of LIMITS) {
    const own = value[name]
    if (own === undefined || own === null) continue
    if (own === 'inf') {
      limit ??= null
      continue
    }
    if (!Number.isInteger(own) || Number(own) < 1 || Number(own) > OUTPUT_TOKENS_MAX) {
      return relayError('invalid_parameter', { param: `${path}${name}` })
    }
    limit = Math.min(limit ?? OUTPUT_TOKENS_MAX, Number(own))
  }
  return limit
}

/**
 * Reports whether speech begins responses. Null turns the detection of turns off. Undefined if the
 * settings do not mention it.
 */
function respondsToSpeech(detections: readonly unknown[]): boolean | undefined {
  const set = detections.filter((each) => each !== undefined)
  if (set.length === 0) return undefined
  return set.some((each) => each !== null && !(isObject(each) && each.create_response === false))
}

function transcriptionOf(value: unknown, param: string): string | undefined | RelayError {
  if (value === undefined || value === null) return undefined
  if (!isObject(value)) return relayError('invalid_parameter', { param })
  const { model } = value
  if (typeof model === 'string' && model !== '' && model.length <= 256) return model
  const code = model === undefined ? 'missing_parameter' : 'invalid_parameter'
  return relayError(code, { param: `${param}.model` })
}

function isNarrow(formats: readonly unknown[]): boolean | undefined {
  const set = formats.filter((each) => each !== undefined)
  if (set.length === 0) return undefined
  // An unknown format is treated as narrow, which has more tokens per byte.
  return set.some((each) => {
    const name = isObject(each) ? each.type : each
    return name !== 'pcm16' && name !== 'audio/pcm'
  })
}

const isError = (value: unknown): value is RelayError => isObject(value) && 'code' in value
