import { isObject, type JsonObject, objectOrEmpty } from '#relay/canonical/json-values.ts'
import { notOneOf, type RelayError, relayError } from '../canonical/relay-error.ts'
import { notOfKinds, OBJECTS } from '../dialects/read-common-request-members.ts'
import { checkMembers, checkSpelling } from './check-member-names.ts'
import { BYTES_PER_SECOND } from './realtime-usage.ts'

/** The model of transcriptions, and the maximum number of tokens of its prompt and other texts. */
export type Transcription = { readonly model: string; readonly promptTokens: number }

/**
 * The settings in a request that sets up or changes a session. A setting keeps its current value if
 * it is undefined.
 */
export type SessionSettings = {
  /** The settings to send to the provider, without those that only the gateway may set. */
  readonly session: JsonObject
  /** The output limit in tokens; null for `inf`. */
  readonly outputTokensMax: number | null | undefined
  /** True if the provider begins a response when the caller stops speaking. */
  readonly respondsToSpeech: boolean | undefined
  /** True if the provider may begin a response without any input of the caller. */
  readonly respondsToSilence: boolean
  /** The transcription of the input; null if the input is not transcribed. */
  readonly transcription: Transcription | null | undefined
  /** The number of bytes per second of input audio. */
  readonly inputRate: number | undefined
  /** The number of bytes per second of output audio. */
  readonly outputRate: number | undefined
}

/** The names of all settings of a session, in the current protocol and in the beta protocol. */
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
/**
 * The names of nested settings that determine what is billed. A provider that ignores case could
 * read another spelling of such a name, which the gateway would not see.
 */
const NESTED: Readonly<Record<string, readonly string[]>> = {
  audio: ['input', 'output'],
  'audio.input': ['format', 'transcription', 'turn_detection'],
  'audio.output': ['format'],
  'audio.input.format': ['type', 'rate'],
  'audio.output.format': ['type', 'rate'],
  'audio.input.transcription': ['model'],
  input_audio_transcription: ['model'],
  'audio.input.turn_detection': ['type', 'create_response', 'idle_timeout_ms'],
  turn_detection: ['type', 'create_response', 'idle_timeout_ms'],
}
/** The names of all settings of a transcription. */
const TRANSCRIPTION = ['model', 'language', 'prompt', 'delay', 'keywords', 'languages']
/**
 * The maximum length in characters of each text in the settings of a transcription. OpenAI has the
 * same maximum for the prompt.
 */
const TRANSCRIPTION_TEXT_MAX = 1_024
/** The names of the output limit in the current protocol and in the beta protocol. */
const LIMITS = ['max_output_tokens', 'max_response_output_tokens'] as const
const OUTPUT_TOKENS_MAX = 1_000_000
const PCM_SAMPLE_BYTES = 2

/**
 * Returns an error if a nested member has another spelling of a name in `NESTED`, and otherwise
 * null.
 */
function checkNestedNames(value: JsonObject, path: string): RelayError | null {
  for (const [place, names] of Object.entries(NESTED)) {
    const memberOf = (at: unknown, key: string) => (isObject(at) ? at[key] : undefined)
    const nested = place.split('.').reduce<unknown>(memberOf, value)
    const error = isObject(nested) ? checkSpelling(nested, names, `${path}${place}.`) : null
    if (error !== null) return error
  }
  return null
}

/**
 * Reads and checks the settings of a session. Returns an error if they name another model than
 * `model`, have an unknown or invalid member, or ask for something whose cost can't be bounded (see
 * `checkPriced`).
 */
export function readSession(
  value: unknown,
  model: string,
  param: string,
): SessionSettings | RelayError {
  if (!isObject(value)) return notOfKinds(param, ['object'])
  const path = param === '' ? '' : `${param}.`
  const error =
    checkMembers(value, SESSION, path) ?? checkNestedNames(value, path) ?? checkPriced(value, path)
  if (error !== null) return error
  const { type = 'realtime' } = value
  if (type === 'transcription') {
    return relayError('transcription_sessions_not_supported', { param: `${path}type` })
  }
  if (type !== 'realtime') {
    return relayError('parameter_not_supported', { param: `${path}type` })
  }
  if (value.model !== undefined && value.model !== model) {
    return notOneOf(`${path}model`, [model])
  }
  const outputTokensMax = limitOf(value, path)
  if (isError(outputTokensMax)) return outputTokensMax
  const { audio = {} } = value
  if (!isObject(audio)) return relayError('invalid_parameter', { param: `${path}audio` })
  const { input = {}, output = {} } = audio
  if (!isObject(input)) return relayError('invalid_parameter', { param: `${path}audio.input` })
  if (!isObject(output)) return relayError('invalid_parameter', { param: `${path}audio.output` })
  const { input_audio_transcription: ofBeta } = value
  const modelPath = `${path}audio.input.transcription`
  // A provider may read the setting of either protocol, so both settings must name the same model.
  const ofInput = transcriptionOf(input.transcription, modelPath)
  if (isError(ofInput)) return ofInput
  const ofSession = transcriptionOf(ofBeta, `${path}input_audio_transcription`)
  if (isError(ofSession)) return ofSession
  const promptTokens = Math.max(ofInput?.promptTokens ?? 0, ofSession?.promptTokens ?? 0)
  const both = ofInput ?? ofSession
  const transcription = both === undefined ? undefined : { ...both, promptTokens }
  const isAmbiguous = ofSession !== undefined && ofSession.model !== transcription?.model
  if (isAmbiguous) return relayError('invalid_parameter', { param: modelPath })
  const isUnset = input.transcription === null || value.input_audio_transcription === null
  const { model: _model, tracing: _tracing, prompt: _prompt, ...session } = value
  return {
    ...{ session, outputTokensMax },
    respondsToSpeech: respondsToSpeech([input.turn_detection, value.turn_detection]),
    respondsToSilence: [input.turn_detection, value.turn_detection].some(hasIdleTimeout),
    transcription: transcription ?? (isUnset ? null : undefined),
    inputRate: rateOf([input.format, value.input_audio_format]),
    outputRate: rateOf([output.format, value.output_audio_format]),
  }
}

/**
 * Reads and checks the member `response` of an event `response.create`. The returned `response` has
 * no output limit.
 */
export function readResponse(value: unknown):
  | {
      readonly response: JsonObject
      readonly outputTokensMax: number | null | undefined
      readonly outputRate: number | undefined
    }
  | RelayError {
  if (!isObject(value)) return notOfKinds('response', ['object'])
  const error =
    checkMembers(value, RESPONSE, 'response.') ??
    checkNestedNames(value, 'response.') ??
    checkPriced(value, 'response.')
  if (error !== null) return error
  const { conversation, input } = value
  if (conversation !== undefined && !['auto', 'none'].includes(conversation as string)) {
    return relayError('parameter_not_supported', { param: 'response.conversation' })
  }
  if (input !== undefined && input !== null && !Array.isArray(input)) {
    return notOneOf('response.input', [OBJECTS])
  }
  const outputTokensMax = limitOf(value, 'response.')
  if (isError(outputTokensMax)) return outputTokensMax
  const {
    prompt: _,
    max_output_tokens: _limit,
    max_response_output_tokens: _of,
    ...response
  } = value
  const { audio, output_audio_format } = value
  const output = isObject(audio) ? audio.output : undefined
  const formats = [isObject(output) ? output.format : undefined, output_audio_format]
  return { response, outputTokensMax, outputRate: rateOf(formats) }
}

/**
 * Returns an error for settings whose cost the gateway can't bound, and otherwise null. Such
 * settings are stored prompts, whose length is unknown, and tools that the provider runs, which
 * have no price.
 */
function checkPriced({ prompt, tools, reasoning }: JsonObject, path: string): RelayError | null {
  if (prompt !== undefined && prompt !== null) {
    return relayError('parameter_not_supported', { param: `${path}prompt` })
  }
  if (reasoning !== undefined && reasoning !== null) {
    if (!isObject(reasoning)) return relayError('invalid_parameter', { param: `${path}reasoning` })
    const error = checkMembers(reasoning, ['effort', 'summary'], `${path}reasoning.`)
    if (error !== null) return error
  }
  if (tools === undefined || tools === null) return null
  if (!Array.isArray(tools)) return notOneOf(`${path}tools`, [OBJECTS])
  for (const [at, tool] of tools.entries()) {
    const error = isObject(tool) ? checkSpelling(tool, ['type'], `${path}tools[${at}].`) : null
    if (error !== null) return error
  }
  const at = tools.findIndex((tool) => !isObject(tool) || tool.type !== 'function')
  return at < 0
    ? null
    : relayError('parameter_not_supported', { param: `${path}tools[${at}].type` })
}

/**
 * Returns the output limit in tokens, which is the lower one if both names are used. Returns null
 * for `inf`, undefined if there is no limit, and an error for an invalid limit.
 */
function limitOf(value: JsonObject, path: string): number | null | undefined | RelayError {
  let limit: number | null | undefined
  for (const name of LIMITS) {
    const own = value[name]
    if (own === undefined || own === null) continue
    if (own === 'inf') {
      limit ??= null
      continue
    }
    if (!Number.isInteger(own) || Number(own) < 1 || Number(own) > OUTPUT_TOKENS_MAX) {
      return notOneOf(`${path}${name}`, [`1–${OUTPUT_TOKENS_MAX}`, '"inf"'])
    }
    limit = Math.min(limit ?? OUTPUT_TOKENS_MAX, Number(own))
  }
  return limit
}

/**
 * Reports whether the provider begins a response without a request. `detections` are
 * the values of the setting `turn_detection`, in which null turns the detection off. Returns
 * undefined if the setting is absent.
 */
function respondsToSpeech(detections: readonly unknown[]): boolean | undefined {
  const set = detections.filter((each) => each !== undefined)
  if (set.length === 0) return undefined
  // A provider may begin a response after silence, even if it begins none after speech.
  const responds = (each: unknown) =>
    !isObject(each) || each.create_response !== false || hasIdleTimeout(each)
  return set.some((each) => each !== null && responds(each))
}

/** Reports whether a speech detection begins a response after silence. */
const hasIdleTimeout = (detection: unknown): boolean =>
  isObject(detection) && (detection.idle_timeout_ms ?? null) !== null

function transcriptionOf(value: unknown, param: string): Transcription | undefined | RelayError {
  if (value === undefined || value === null) return undefined
  if (!isObject(value)) return notOfKinds(param, ['object'])
  const error = checkMembers(value, TRANSCRIPTION, `${param}.`)
  if (error !== null) return error
  const { model, ...texts } = value
  for (const [name, text] of Object.entries(texts)) {
    const length = typeof text === 'string' ? text.length : JSON.stringify(text).length
    if (length <= TRANSCRIPTION_TEXT_MAX) continue
    const subject = String(TRANSCRIPTION_TEXT_MAX)
    return relayError('string_above_max_length', { param: `${param}.${name}`, subject })
  }
  if (typeof model === 'string' && model !== '' && model.length <= 256) {
    return { model, promptTokens: promptTokensOf(texts) }
  }
  const code = model === undefined ? 'missing_parameter' : 'invalid_parameter'
  return relayError(code, { param: `${param}.model` })
}

/** Returns the maximum number of tokens of these texts. A token has at least one byte. */
function promptTokensOf(texts: JsonObject): number {
  const set = Object.values(texts).filter((text) => text !== null && text !== '')
  return set.reduce<number>((sum, text) => sum + Buffer.byteLength(JSON.stringify(text)), 0)
}

/** The settings in the provider's description of a session. An absent setting is undefined. */
export type DescribedSettings = Pick<
  SessionSettings,
  'outputTokensMax' | 'respondsToSpeech' | 'transcription' | 'inputRate' | 'outputRate'
>

/** Reads the provider's description of a session. Anything that is not a setting is ignored. */
export function describedSettings(session: unknown): DescribedSettings {
  const { audio, turn_detection, input_audio_transcription, input_audio_format, ...others } =
    objectOrEmpty(session)
  const { input, output } = objectOrEmpty(audio)
  const ofInput = objectOrEmpty(input)
  const described = ofInput.transcription ?? input_audio_transcription
  const { model, ...texts } = objectOrEmpty(described)
  const isOff = ofInput.transcription === null || input_audio_transcription === null
  const limit = limitOf(others, '')
  return {
    outputTokensMax: isError(limit) ? undefined : limit,
    respondsToSpeech: respondsToSpeech([ofInput.turn_detection, turn_detection]),
    transcription:
      typeof model === 'string' && model !== ''
        ? { model, promptTokens: promptTokensOf(texts) }
        : isOff
          ? null
          : undefined,
    inputRate: rateOf([ofInput.format, input_audio_format]),
    outputRate: rateOf([isObject(output) ? output.format : null, others.output_audio_format]),
  }
}

/**
 * Returns the number of bytes per second of audio, the lowest if several formats are set. Returns
 * undefined if none is set.
 */
function rateOf(formats: readonly unknown[]): number | undefined {
  const set = formats.filter((each) => each !== undefined && each !== null)
  return set.length === 0 ? undefined : Math.min(...set.map(bytesPerSecond))
}

function bytesPerSecond(format: unknown): number {
  const { pcm, g711 } = BYTES_PER_SECOND
  const { type, rate } = isObject(format) ? format : { type: format }
  // An unknown format is treated as G.711, because G.711 has more tokens per byte.
  if (type !== 'pcm16' && type !== 'audio/pcm') return g711
  if (rate === undefined || rate === null) return pcm
  return typeof rate === 'number' ? Math.min(Math.max(rate * PCM_SAMPLE_BYTES, g711), pcm) : g711
}

const isError = (value: unknown): value is RelayError => isObject(value) && 'code' in value
