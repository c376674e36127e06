import { namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import { objectOrEmpty } from '#relay/canonical/json-values.ts'
import {
  invalidParameter,
  isRelayError,
  missingParameter,
  type RelayError,
} from '#relay/canonical/relay-error.ts'
import { measureAudio } from '#relay/uploads/audio/measure-audio.ts'
import type { FormRules } from '#relay/uploads/form-field-types.ts'
import { type AnswerFault, faultWithoutResult } from '../check-successful-answer.ts'
import { OPENAI_ERRORS } from '../openai-chat/error-format.ts'
import { upstreamBody } from '../openai-chat/upstream-body.ts'
import { usageInAnswer as usageInJson } from '../openai-chat/usage-in-answer.ts'
import {
  flagOf,
  isMembers,
  isNumberOrNull,
  membersAndModel,
  notFlag,
  notOfKinds,
} from '../read-common-request-members.ts'
import { type Member, scanObject } from '../scan-request-object.ts'
import { type ChatRequest, OUTPUT_TOKENS_MAX, type WireFormat } from '../wire-format.ts'
import {
  countTranscription,
  isByAudioTokens,
  readAudioUsage,
  tokensOfDuration,
  transcriptTokensMax,
} from './audio-usage.ts'
import { readTranscriptTexts, TRANSCRIPT_STREAM } from './stream-events-and-texts.ts'

const FORM: FormRules = {
  files: ['file'],
  numbers: ['temperature'],
  flags: ['stream'],
  texts: ['model', 'prompt', 'response_format', 'language'],
  measure: async (file) => ({ seconds: await measureAudio(file) }),
}
const NAMES = namesByFoldedName([...FORM.files, ...FORM.numbers, ...FORM.flags, ...FORM.texts])
const NO_NAMES = namesByFoldedName([])
/**
 * Fields that some providers read instead of `file`. They are refused, because the gateway can't
 * measure the audio to which they refer.
 */
const REFUSED = new Set([
  ...['file_url', 'file_id', 'file_base64', 'url', 'audio', 'audio_url', 'input', 'input_audio'],
])
/** A usage report may state at most about this multiple of the file's measured duration. */
const CEILING_FACTOR = 10

function readWith(
  format: () => WireFormat,
  body: Buffer,
  known: typeof NAMES,
): ChatRequest | RelayError {
  const request = membersAndModel(body, scanObject(body, known), REFUSED)
  if (isRelayError(request)) return request
  const { members, model, find } = request
  const file = fileOf(body, find('file'))
  if (isRelayError(file)) return file
  const misfit = members.find(
    (member) =>
      (FORM.texts.includes(member.key) && member.kind !== 'string') ||
      (FORM.numbers.includes(member.key) && !isNumberOrNull(body, member)),
  )
  if (misfit !== undefined) {
    return notOfKinds(misfit.key, [FORM.texts.includes(misfit.key) ? 'string' : 'number'])
  }
  const isStream = flagOf(find('stream'))
  if (isStream === null) return notFlag('stream')
  const { seconds } = file
  const tokens = tokensOfDuration(seconds) + body.length
  return {
    format: format(),
    body,
    members,
    model,
    isStream,
    wantsUsage: true,
    choices: 1,
    outputTokensMax: Math.min(OUTPUT_TOKENS_MAX, transcriptTokensMax(seconds)),
    reasoningEffort: null,
    inputBound: { tokens, ceiling: tokens * CEILING_FACTOR + 100_000, isText: false },
    tools: [],
    measures: { characters: 0, seconds },
  }
}

/**
 * Returns the measured duration of the file in seconds. Returns an error if the file is missing,
 * empty or not measured.
 */
function fileOf(
  body: Buffer,
  member: Member | undefined,
): { readonly seconds: number } | RelayError {
  if (member === undefined) return missingParameter('file')
  if (member.kind !== 'object') return invalidParameter('file')
  const text = body.toString('utf8', member.valueStart, member.valueEnd)
  const { bytes, seconds } = objectOrEmpty(JSON.parse(text))
  const isMeasured = typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0
  return bytes === 0 || !isMeasured ? invalidParameter('file') : { seconds }
}

/** The maximum number of bytes per second of audio: two channels of 32-bit samples at 192 kHz. */
const BYTES_PER_SECOND_MAX = 2 * 4 * 192_000

/** Returns the shortest duration in seconds that the file of a request can have. */
function shortestDuration(body: Buffer): number {
  const members = scanObject(body)
  const file = isMembers(members) ? members.find(({ key }) => key === 'file') : undefined
  if (file === undefined) return 0
  const { bytes } = objectOrEmpty(JSON.parse(body.toString('utf8', file.valueStart, file.valueEnd)))
  return typeof bytes === 'number' ? bytes / BYTES_PER_SECOND_MAX : 0
}

const TIME = /--> ?(?:(\d+):)?(\d+):(\d+)[.,](\d+)/g

/**
 * Returns the usage in an answer. If a JSON answer has no usage, its `duration` is returned. For
 * subtitles, which have no usage, the latest time is returned as the minimum of the duration.
 * Returns undefined for any other answer.
 */
function usageInAnswer(body: Buffer): unknown {
  if (isJson(body)) {
    const usage = usageInJson(body)
    if (usage !== undefined) return usage
    const seconds = durationInJson(body)
    return seconds > 0 ? { type: 'duration', seconds } : undefined
  }
  let seconds = 0
  for (const [, hours = '0', minutes, whole, fraction] of body.toString('utf8').matchAll(TIME)) {
    const at = Number(hours) * 3_600 + Number(minutes) * 60 + Number(`${whole}.${fraction}`)
    seconds = Math.max(seconds, at)
  }
  return seconds > 0 ? { type: 'duration', seconds, isAtLeast: true } : undefined
}

const NUMBER_BYTES_MAX = 64

/**
 * Returns the member `duration` of an answer. It may be a number or a string. Returns 0 if it is
 * missing or invalid.
 */
function durationInJson(body: Buffer): number {
  const members = scanObject(body)
  if (!isMembers(members)) return 0
  const { valueStart = 0, valueEnd = 0 } = members.find(({ key }) => key === 'duration') ?? {}
  if (valueEnd - valueStart > NUMBER_BYTES_MAX) return 0
  const seconds = Number(body.toString('latin1', valueStart, valueEnd).replaceAll('"', ''))
  return Number.isFinite(seconds) ? seconds : 0
}

const isJson = (body: Buffer): boolean => /^\s*\{/.test(body.toString('latin1', 0, 64))

/**
 * Returns null for a valid answer: plain text, subtitles, or a JSON object that contains a member
 * `text`.
 */
function errorOfAnswer(body: Buffer): AnswerFault | null {
  if (!isJson(body) || body.includes('"text"')) return null
  return faultWithoutResult(body)
}

const formatOf = (name: 'transcriptions' | 'translations'): WireFormat => {
  const format: WireFormat = {
    name,
    promptMember: 'prompt',
    form: FORM,
    readRequest: (body) => readWith(() => format, body, NAMES),
    readChangedRequest: (body) => readWith(() => format, body, NO_NAMES),
    shortBody: ({ model }) => ({ model }),
    outlineOf: (request) => request,
    // The last event of a stream has the usage. A transcription has no output limit.
    upstreamBody: (request, change) =>
      upstreamBody(request, { ...change, forcesUsage: false, outputTokens: null }),
    passedHeaders: () => [],
    usageInAnswer,
    readUsage: (raw, context) =>
      readAudioUsage(raw, context, isByAudioTokens(context.price), shortestDuration(context.body)),
    countUsage: ({ measures }, counted, price) =>
      countTranscription(measures?.seconds ?? 0, counted, price),
    answerType: (body) => (isJson(body) ? 'application/json' : 'text/plain; charset=utf-8'),
    errorOfAnswer,
    streamOfAnswer: (body) => {
      const { text = '', usage } = isJson(body) ? objectOrEmpty(JSON.parse(body.toString())) : {}
      const done = { type: 'transcript.text.done', text, ...(usage === undefined ? {} : { usage }) }
      return `event: ${done.type}\ndata: ${JSON.stringify(done)}\n\n`
    },
    readTexts: readTranscriptTexts,
    stream: TRANSCRIPT_STREAM,
    errors: OPENAI_ERRORS,
  }
  return format
}

/** OpenAI's transcriptions. */
export const OPENAI_TRANSCRIPTIONS = formatOf('transcriptions')
/** OpenAI's translations of audio into English. */
export const OPENAI_TRANSLATIONS = formatOf('translations')
