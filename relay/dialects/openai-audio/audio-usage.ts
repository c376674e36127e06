import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'
import { objectOrEmpty } from '#relay/canonical/json-values.ts'
import {
  Counts,
  RemainingTokens,
  type UsageReport,
} from '#relay/canonical/provider-usage-report.ts'
import type { UsageContext } from '../wire-format.ts'

/** The number of tokens that are billed for a minute of audio, if the duration is billed. */
const TOKENS_PER_MINUTE = 1_000
/** The number of audio tokens per second that OpenAI's transcription models read. */
const HEARD_TOKENS_PER_SECOND = 10
/**
 * The maximum number of text tokens that a person can speak per second. The length of a transcript
 * divided by this number is the minimum duration of the audio.
 */
const SPOKEN_TOKENS_PER_SECOND = 12
/** The longest accepted duration in seconds. It corresponds to 10 000 000 tokens. */
const SECONDS_MAX = 600_000

/**
 * Reports whether a model is billed by audio tokens: its price has a ratio for audio. All other
 * models with a price per token are billed by the length of the request's text or by the seconds of
 * its audio.
 */
export const isByAudioTokens = (price: PriceSnapshot | undefined): boolean =>
  price?.mode === 'tokens' && (price.audio !== '1' || price.audioCompletion !== '1')

/** Returns the number of tokens that are billed for a duration in seconds. */
export const tokensOfDuration = (seconds: number): number =>
  Math.ceil((seconds * TOKENS_PER_MINUTE) / 60)

/** Returns the usage of a call that is billed by the duration of the audio in the request. */
function usageOfDuration(seconds: number, price: PriceSnapshot | undefined): Usage {
  const input = isByAudioTokens(price)
    ? { inputAudio: Math.ceil(seconds * HEARD_TOKENS_PER_SECOND) }
    : { inputUncached: tokensOfDuration(seconds) }
  return { ...NO_USAGE, ...input, seconds: Math.ceil(seconds) }
}

/**
 * Returns the usage of a transcription as the gateway counts it. The duration is that of the file,
 * but at least the time that speaking the transcript takes. For this reason, a wrong duration in
 * the file's header does not make the call cheaper.
 */
export function countTranscription(
  seconds: number,
  { input, output }: { readonly input: number; readonly output: number },
  price: PriceSnapshot,
): Usage {
  const heard = usageOfDuration(Math.max(seconds, output / SPOKEN_TOKENS_PER_SECOND), price)
  return isByAudioTokens(price) ? { ...heard, inputUncached: input, output } : heard
}

/**
 * Returns the maximum number of output tokens for the transcription of audio with this duration.
 */
export const transcriptTokensMax = (seconds: number): number =>
  Math.ceil(seconds * SPOKEN_TOKENS_PER_SECOND) + 500

/**
 * Reads the usage of an audio endpoint. The usage is in tokens or in seconds. If a usage has both,
 * as at Mistral, the seconds are read. `isInputAudio` is true if the input is billed as audio
 * tokens.
 *
 * A duration is not trusted in three cases: it is only a minimum (`isAtLeast`), it is shorter than
 * the file can be (`secondsLeast`), or the price is per audio token, because a duration does not
 * show how many tokens the transcript has. In these cases, the gateway's own count is billed if it
 * is larger.
 */
export function readAudioUsage(
  raw: unknown,
  context: UsageContext,
  isInputAudio: boolean,
  secondsLeast = 0,
): UsageReport {
  const reported = objectOrEmpty(raw)
  const seconds = reported.seconds ?? reported.prompt_audio_seconds
  if (reported.type === 'duration' || typeof seconds === 'number') {
    return readDuration(seconds, reported.isAtLeast === true, context, secondsLeast)
  }
  const counts = new Counts()
  const input = counts.required(
    reported.input_tokens ?? reported.prompt_tokens,
    context.inputCeiling,
  )
  const outputTokens = reported.output_tokens ?? reported.completion_tokens
  const output = counts.required(outputTokens, context.outputCeiling)
  const details = objectOrEmpty(reported.input_token_details ?? reported.input_tokens_details)
  // If the usage does not divide the input by kind, all of it counts as audio if `isInputAudio` is
  // true, and as text if not.
  const audio = counts.optional(details.audio_tokens ?? (isInputAudio ? input : 0))
  const rest = new RemainingTokens(input)
  const inputAudio = rest.take(audio)
  const usage = { ...NO_USAGE, inputAudio, inputUncached: rest.left, output }
  const anomaly = counts.anomaly ?? (audio > input ? 'parts-exceed-whole' : null)
  return { usage, otherInterpretation: null, isTrusted: counts.anomaly === null, anomaly }
}

function readDuration(
  reported: unknown,
  isAtLeast: boolean,
  { inputCeiling, price }: UsageContext,
  secondsLeast: number,
): UsageReport {
  const counts = new Counts()
  const isFraction = typeof reported === 'number' && !Number.isInteger(reported)
  const value = isFraction ? Math.ceil(reported * 1_000) / 1_000 : reported
  const most = Math.min(SECONDS_MAX, (inputCeiling * 60) / TOKENS_PER_MINUTE)
  const isValid = typeof value === 'number' && value >= 0 && value <= most
  const seconds = isValid ? value : counts.required(reported, Math.floor(most))
  const isTooShort = isValid && !isAtLeast && seconds < secondsLeast
  const isTrusted = isValid && !isAtLeast && !isTooShort && !isByAudioTokens(price)
  const anomaly = counts.anomaly ?? (isTooShort ? 'implausible' : null)
  return { usage: usageOfDuration(seconds, price), otherInterpretation: null, isTrusted, anomaly }
}
