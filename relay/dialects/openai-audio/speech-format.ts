import { isRestrictedMember } from '#domain/channels/restricted-request-members.ts'
import { NO_USAGE } from '#domain/pricing/usage.ts'
import { namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import {
  isRelayError,
  missingParameter,
  notOneOf,
  type RelayError,
  relayError,
} from '#relay/canonical/relay-error.ts'
import { faultWithoutResult } from '../check-successful-answer.ts'
import { OPENAI_ERRORS } from '../openai-chat/error-format.ts'
import { type BodyRules, upstreamBody } from '../openai-chat/upstream-body.ts'
import {
  errorInText,
  isNumberOrNull,
  membersAndModel,
  notOfKinds,
  shortTextOf,
  validOutline,
} from '../read-common-request-members.ts'
import { type Member, scanObject } from '../scan-request-object.ts'
import { type ChatRequest, OUTPUT_TOKENS_MAX, type WireFormat } from '../wire-format.ts'
import { isByAudioTokens, readAudioUsage } from './audio-usage.ts'
import { readSpeechTexts, SPEECH_STREAM } from './stream-events-and-texts.ts'

const NAMES = namesByFoldedName([
  ...['model', 'input', 'voice', 'instructions', 'response_format', 'speed', 'stream_format'],
])
const NO_NAMES = namesByFoldedName([])
/**
 * Members that some servers read instead of `input`. They are refused, because their text would not
 * be billed.
 */
const REFUSED = new Set(['text', 'texts', 'ssml', 'prompt', 'messages', 'input_text'])
/**
 * The accepted values of `stream_format`. Null means that the member is missing, and that the
 * answer is audio.
 */
const STREAM_FORMATS: ReadonlySet<string | null> = new Set(['sse', 'audio', null])
const TEXTS = ['input', 'instructions', 'response_format', 'stream_format']
/** The maximum number of characters of a text. All known providers refuse longer texts. */
const INPUT_CHARACTERS_MAX = 100_000
/** The maximum length of a text in bytes of JSON, in which an escaped character takes six bytes. */
const INPUT_BYTES_MAX = INPUT_CHARACTERS_MAX * 6
/**
 * The highest number of audio tokens per byte of text. Speech has about 1.4 tokens per letter.
 * Numbers and other scripts have more.
 */
const AUDIO_TOKENS_PER_BYTE = 6
const AUDIO_TOKENS_BASE = 1_000

/**
 * Matches the models that are sold per byte of the text in UTF-8, such as those of SiliconFlow
 * (docs.siliconflow.cn/cn/userguide/capabilities/text-to-speech). DashScope's `cosyvoice-v2` is not
 * among them. See decision 007 of the pricing.
 */
const SOLD_BY_BYTES = /(?:^|\/)(?:cosyvoice2|fish-speech|moss-ttsd|indextts)/i

/**
 * Reads a request to generate speech. Depending on the price and the model, the characters or bytes
 * of the text or the tokens of the audio are billed.
 */
function readSpeechRequest(body: Buffer, known = NAMES): ChatRequest | RelayError {
  const request = membersAndModel(body, scanObject(body, known), REFUSED)
  if (isRelayError(request)) return request
  const { members, model, find } = request
  const misfit = members.find(
    ({ key, kind }) => TEXTS.includes(key) && kind !== 'string' && kind !== 'null',
  )
  if (misfit !== undefined) return notOfKinds(misfit.key, ['string'])
  const lengths = lengthsOf(body, find('input'))
  if (isRelayError(lengths)) return lengths
  const speed = speedOf(body, find('speed'))
  if (typeof speed !== 'number') return speed
  const streamFormat = shortTextOf(body, find('stream_format'))
  if (!STREAM_FORMATS.has(streamFormat)) return notOneOf('stream_format', ['sse', 'audio'])
  const isStream = streamFormat === 'sse'
  const audioTokens = (body.length * AUDIO_TOKENS_PER_BYTE) / Math.min(1, speed)
  return {
    format: OPENAI_SPEECH,
    body,
    members,
    model,
    isStream,
    wantsUsage: true,
    choices: 1,
    outputTokensMax: Math.min(OUTPUT_TOKENS_MAX, Math.ceil(audioTokens) + AUDIO_TOKENS_BASE),
    reasoningEffort: null,
    inputBound: { tokens: body.length, ceiling: body.length * 2 + 100_000, isText: false },
    tools: [],
    measures: { ...lengths, seconds: 0 },
  }
}

type TextLengths = { readonly characters: number; readonly bytes: number }

/**
 * Returns the length of the input in characters and in bytes. Returns an error if the input is
 * missing, empty or too long.
 */
function lengthsOf(body: Buffer, input: Member | undefined): TextLengths | RelayError {
  const error = errorInText(body, input, 'input')
  if (input === undefined || error !== null) return error ?? missingParameter('input')
  const { valueStart, valueEnd } = input
  const isLong = valueEnd - valueStart > INPUT_BYTES_MAX
  const text = isLong ? '' : (JSON.parse(body.toString('utf8', valueStart, valueEnd)) as string)
  let characters = 0
  for (const _ of text) characters += 1
  if (isLong || characters > INPUT_CHARACTERS_MAX) {
    const subject = `${INPUT_CHARACTERS_MAX}`
    return relayError('string_above_max_length', { param: 'input', subject })
  }
  return { characters, bytes: Buffer.byteLength(text) }
}

/**
 * Returns the length that is billed, or null if it is unknown. The unit depends on `model`, because
 * this name determines the price. The body may contain another name, to which a channel maps the
 * model.
 */
function billedLength({ model, measures }: Pick<ChatRequest, 'model' | 'measures'>): number | null {
  const { characters = null, bytes = characters } = measures ?? {}
  return SOLD_BY_BYTES.test(model) ? bytes : characters
}

function speedOf(body: Buffer, member: Member | undefined): number | RelayError {
  if (member === undefined || member.kind === 'null') return 1
  const speed = Number(body.toString('latin1', member.valueStart, member.valueEnd))
  return isNumberOrNull(body, member) && speed >= 0.1 && speed <= 10
    ? speed
    : notOneOf('speed', ['0.1–10'])
}

const RULES: BodyRules = {
  limits: [],
  addedLimit: () => '',
  // In other formats, the member `speed` selects a more expensive service. In this format, it is
  // the speed of the speech.
  isRestricted: (folded) => folded !== 'speed' && isRestrictedMember(folded),
}

/**
 * Returns an outline (a short form) of the request. The outline is the whole request, because an
 * outline needs a text, and a speech request has only one.
 */
function outlineOf({ body }: ChatRequest): ChatRequest {
  return validOutline(readSpeechRequest(body, NO_NAMES))
}

/** OpenAI's speech API. An answer is audio, or a stream of events with audio. */
export const OPENAI_SPEECH: WireFormat = {
  name: 'speech',
  promptMember: 'input',
  hasBinaryAnswer: true,
  readRequest: (body) => readSpeechRequest(body),
  readChangedRequest: (body) => readSpeechRequest(body, NO_NAMES),
  withPrice: (request, price) => {
    if (isByAudioTokens(price) || request.isStream) return request
    const tokens = billedLength(request) ?? request.inputBound.tokens
    return { ...request, outputTokensMax: 0, inputBound: { ...request.inputBound, tokens } }
  },
  shortBody: ({ model }) => ({ model, input: 'hi', voice: 'alloy' }),
  outlineOf,
  upstreamBody: (request, change) =>
    upstreamBody(request, { ...change, forcesUsage: false }, RULES),
  passedHeaders: () => [],
  usageInAnswer: () => undefined,
  readUsage: (raw, context) => {
    const report = readAudioUsage(raw, context, false)
    return { ...report, usage: { ...report.usage, outputAudio: report.usage.output } }
  },
  countUsage: (request, { input, output }, price) => {
    const characters = billedLength(request) ?? 0
    return isByAudioTokens(price)
      ? { ...NO_USAGE, inputUncached: input, output, outputAudio: output, characters }
      : { ...NO_USAGE, inputUncached: characters, characters }
  },
  // A JSON answer is always an error, because a valid answer is audio.
  errorOfAnswer: faultWithoutResult,
  streamOfAnswer: () => '',
  readTexts: readSpeechTexts,
  stream: SPEECH_STREAM,
  errors: OPENAI_ERRORS,
}
