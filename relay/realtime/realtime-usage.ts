import { chargeFor } from '#domain/pricing/charge.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { inputTokensOf, NO_USAGE, type Usage, type UsageSource } from '#domain/pricing/usage.ts'
import { objectOrEmpty } from '#relay/canonical/json-values.ts'
import {
  reportOrUnreadable,
  type UsageBounds,
  type UsageReport,
} from '../canonical/provider-usage-report.ts'
import { readOpenAiUsage } from '../canonical/read-openai-usage-for-billing.ts'

/**
 * The number of bytes per second of audio. `pcm` is PCM with 16 bits and 24 kHz, and `g711` is
 * G.711 with 8 bits and 8 kHz.
 */
export const BYTES_PER_SECOND = { pcm: 48_000, g711: 8_000 } as const

/** The number of tokens per second of input audio. OpenAI documents one token for 100 ms. */
const INPUT_TOKENS_PER_SECOND = 10
/** The number of tokens per second of output audio. OpenAI documents one token for 50 ms. */
const OUTPUT_TOKENS_PER_SECOND = 20

/**
 * Returns the number of tokens of input audio. `rate` is the audio's number of bytes per second.
 */
export const inputAudioTokens = (bytes: number, rate: number): number =>
  Math.ceil((bytes * INPUT_TOKENS_PER_SECOND) / rate)

/**
 * Returns the number of tokens of output audio. `rate` is the audio's number of bytes per second.
 */
export const outputAudioTokens = (bytes: number, rate: number): number =>
  Math.ceil((bytes * OUTPUT_TOKENS_PER_SECOND) / rate)

/**
 * Reads the usage report of a response of the Realtime API. The reported counts of audio and images
 * include cached tokens. The cached tokens are subtracted, because they are charged separately. If
 * a count of cached tokens is invalid, nothing is subtracted. `onUnreadable` is called with the
 * exception if the report can't be read.
 */
export const readRealtimeUsage = (
  raw: unknown,
  bounds: UsageBounds,
  onUnreadable?: (err: unknown) => void,
): UsageReport => reportOrUnreadable(() => readReportedCounts(raw, bounds), onUnreadable)

function readReportedCounts(raw: unknown, bounds: UsageBounds): UsageReport {
  if (typeof raw !== 'object' || raw === null) return readOpenAiUsage(raw, bounds)
  const { input_tokens, output_tokens, input_token_details, output_token_details } =
    objectOrEmpty(raw)
  const details = objectOrEmpty(input_token_details)
  const cached = objectOrEmpty(details.cached_tokens_details)
  return readOpenAiUsage(
    {
      prompt_tokens: input_tokens,
      completion_tokens: output_tokens,
      prompt_tokens_details: {
        cached_tokens: details.cached_tokens,
        audio_tokens: withoutCached(
          details.audio_tokens,
          cached.audio_tokens,
          details.cached_tokens,
        ),
        image_tokens: withoutCached(
          details.image_tokens,
          cached.image_tokens,
          details.cached_tokens,
        ),
      },
      completion_tokens_details: {
        audio_tokens: objectOrEmpty(output_token_details).audio_tokens,
        reasoning_tokens: objectOrEmpty(output_token_details).reasoning_tokens,
      },
    },
    bounds,
  )
}

/**
 * Subtracts `cachedPart` from a count if all counts are valid and the part exceeds neither the
 * count nor `cached`, the total of cached tokens. Otherwise, returns the count unchanged.
 */
function withoutCached(count: unknown, cachedPart: unknown, cached: unknown): unknown {
  const isValid = isCount(count) && isCount(cachedPart) && isCount(cached)
  return isValid && cachedPart <= count && cachedPart <= cached ? count - cachedPart : count
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0

/**
 * Reads the usage report of a transcription of input audio. If the provider reports a duration, the
 * duration is converted to audio tokens. Returns null if there is no report.
 */
export function readTranscriptionUsage(
  raw: unknown,
  bounds: UsageBounds,
  onUnreadable?: (err: unknown) => void,
): UsageReport | null {
  if (raw === undefined || raw === null) return null
  const usage = objectOrEmpty(raw)
  if (usage.type !== 'duration') return readRealtimeUsage(raw, bounds, onUnreadable)
  const { seconds } = usage
  const tokens =
    typeof seconds === 'number' ? Math.ceil(seconds * INPUT_TOKENS_PER_SECOND) : seconds
  const details = { audio_tokens: tokens }
  return readRealtimeUsage(
    { input_tokens: tokens, output_tokens: 0, input_token_details: details },
    bounds,
    onUnreadable,
  )
}

export type RealtimeBill = {
  readonly usage: Usage
  readonly usageSource: UsageSource
  readonly anomaly: string | null
}

/**
 * Returns the usage that is billed. If the provider reported no usage (`report` is null), this is
 * the gateway's own count (`counted`). If the report can be trusted, this is the report. In all
 * other cases, the more expensive of the two is billed. A report without input, or without output
 * although output was counted, is not trusted if the response was cut (`isWhole` is false).
 */
export function billedUsage(
  report: UsageReport | null,
  counted: Usage,
  price: PriceSnapshot,
  isWhole: boolean,
): RealtimeBill {
  const usageSource = isWhole ? 'estimated' : 'partial'
  if (report === null) {
    return { usage: counted, usageSource, anomaly: isWhole ? 'missing' : null }
  }
  const { usage: seen } = report
  const isZero = inputTokensOf(seen) === 0 || (seen.output === 0 && counted.output > 0)
  if (report.isTrusted && (isWhole || !isZero)) {
    return {
      usage: seen,
      usageSource: 'upstream',
      anomaly: report.anomaly ?? (isZero ? 'zero' : null),
    }
  }
  const plain = { ...NO_USAGE, inputUncached: inputTokensOf(seen), output: seen.output }
  const anomaly = report.anomaly ?? 'zero'
  return { usage: dearest([seen, plain, counted], price), usageSource, anomaly }
}

const dearest = (usages: readonly Usage[], price: PriceSnapshot): Usage =>
  usages.reduce((most, one) => (chargeFor(price, one) > chargeFor(price, most) ? one : most))
