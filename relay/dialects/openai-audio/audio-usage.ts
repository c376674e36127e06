import type { PriceSnapshot } from '#domain/pricing/price.ts'
import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'
import {
  Counts,
  recordOf,
  type UsageReport,
  Whole,
} from '#relay/canonical/provider-usage-report.ts'
import type { UsageContext } from '../wire-format.ts'

/** A minute of audio counts as this many tokens where its duration is billed. */
const TOKENS_PER_MINUTE = 1_000
/** OpenAI's transcription models read ten tokens of audio per second. */
const HEARD_TOKENS_PER_SECOND = 10
/** No speaker says more tokens per second. So a transcript shows the least length of its audio. */
const SPOKEN_TOKENS_PER_SECOND = 12
/** The longest duration that is believed, which is that of 10 000 000 tokens. */
const SECONDS_MAX = 600_000

/**
 * Reports whether a model is billed by tokens of audio. This is the case if its price has a ratio
 * for audio. All other models are billed by the characters or seconds of the request.
 */
export const isByAudioTokens = (price: PriceSnapshot | undefined): boolean =>
  price?.mode === 'tokens' && (price.audio !== '1' || price.audioCompletion !== '1')

/** Returns the number of tokens that are billed for a duration. */
export const tokensOfDuration = (seconds: number): number =>
  Math.ceil((seconds * TOKENS_PER_MINUTE) / 60)

/** Returns the usage of a call that is billed by the duration of the audio in its request. */
export function usageOfDuration(seconds: number, price: PriceSnapshot | undefined): Usage {
  const input = isByAudioTokens(price)
    ? { inputAudio: Math.ceil(seconds * HEARD_TOKENS_PER_SECOND) }
    : { inputUncached: tokensOfDuration(seconds) }
  return { ...NO_USAGE, ...input, seconds: Math.ceil(seconds) }
}

/**
 * Returns the gateway's own count of a transcription: the duration of the file, but at least the
 * time that speaking the transcript takes. A file whose header is wrong is therefore not cheaper.
 */
export function countTranscription(
  seconds: number,
  { input, output }: { readonly input: number; readonly output: number },
  price: PriceSnapshot,
): Usage {
  const heard = usageOfDuration(Math.max(seconds, output / SPOKEN_TOKENS_PER_SECOND), price)
  return isByAudioTokens(price) ? { ...heard, inputUncached: input, output } : heard
}

/** The output tokens of a transcription of this length are at most these. */
export const transcriptTokensMax = (seconds: number): number =>
  Math.ceil(seconds * SPOKEN_TOKENS_PER_SECOND) + 500

/**
 * Reads the usage of audio endpoints, which is in tokens or in seconds. Mistral reports the seconds
 * of the audio beside tokens. A duration that is only a minimum (`isAtLeast`) is not trusted. The
 * gateway's own count is then billed if it is larger. `isInputAudio` is true if the request
 * consists of audio.
 */
export function readAudioUsage(
  raw: unknown,
  context: UsageContext,
  isInputAudio: boolean,
): UsageReport {
  const reported = recordOf(raw)
  const seconds = reported.seconds ?? reported.prompt_audio_seconds
  if (reported.type === 'duration' || typeof seconds === 'number') {
    return readDuration(seconds, reported.isAtLeast === true, context)
  }
  const counts = new Counts()
  const input = counts.required(
    reported.input_tokens ?? reported.prompt_tokens,
    context.inputCeiling,
  )
  const outputTokens = reported.output_tokens ?? reported.completion_tokens
  const output = counts.required(outputTokens, context.outputCeiling)
  const details = recordOf(reported.input_token_details ?? reported.input_tokens_details)
  // Without details, the input counts as the more expensive kind.
  const audio = counts.optional(details.audio_tokens ?? (isInputAudio ? input : 0))
  const rest = new Whole(input)
  const inputAudio = rest.take(audio)
  const usage = { ...NO_USAGE, inputAudio, inputUncached: rest.left, output }
  const anomaly = counts.anomaly ?? (audio > input ? 'parts-exceed-whole' : null)
  return { usage, otherReading: null, isTrusted: counts.anomaly === null, anomaly }
}

function readDuration(
  reported: unknown,
  isAtLeast: boolean,
  { inputCeiling, price }: UsageContext,
): UsageReport {
  const counts = new Counts()
  const isFraction = typeof reported === 'number' && !Number.isInteger(reported)
  const value = isFraction ? Math.ceil(reported * 1_000) / 1_000 : reported
  const most = Math.min(SECONDS_MAX, (inputCeiling * 60) / TOKENS_PER_MINUTE)
  const isValid = typeof value === 'number' && value >= 0 && value <= most
  const seconds = isValid ? value : counts.required(reported, Math.floor(most))
  const isTrusted = isValid && !isAtLeast
  const { anomaly } = counts
  return { usage: usageOfDuration(seconds, price), otherReading: null, isTrusted, anomaly }
}
