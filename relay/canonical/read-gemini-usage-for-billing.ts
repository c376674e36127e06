import { imageUsage, NO_USAGE, type Usage } from '#domain/pricing/usage.ts'
import { largerCount } from './combine-usage-reports.ts'
import { objectOrEmpty, scalarNumber } from './json-values.ts'
import {
  anomalyOf,
  Counts,
  RemainingTokens,
  TOKENS_MAX,
  type UsageBounds,
  type UsageReport,
} from './provider-usage-report.ts'

/**
 * Reads `usageMetadata` of Gemini's API. `promptTokenCount` includes the cached tokens.
 * `toolUsePromptTokenCount` is added to the input. `candidatesTokenCount` excludes the tokens of
 * thoughts. Each list of details divides one count by modality (text, audio, image and so on).
 * Video and documents cost the same as text.
 */
export function readGeminiUsage(
  raw: unknown,
  { inputCeiling, outputCeiling }: UsageBounds,
): UsageReport {
  if (typeof raw !== 'object' || raw === null) {
    return { usage: NO_USAGE, otherInterpretation: null, isTrusted: false, anomaly: 'missing' }
  }
  const reported = raw as Record<string, unknown>
  const counts = new Counts()
  const inputMost = Math.min(TOKENS_MAX, inputCeiling)
  const prompt = counts.required(reported.promptTokenCount, inputMost)
  const toolUse = counts.optional(reported.toolUsePromptTokenCount, inputMost)
  const cached = counts.optional(reported.cachedContentTokenCount)
  const thoughts = counts.optional(reported.thoughtsTokenCount, outputCeiling)
  const candidates = candidatesIn(reported, counts, outputCeiling, prompt + toolUse + thoughts)
  const inPrompt = modalitiesIn(reported.promptTokensDetails, counts)
  const inCache = modalitiesIn(reported.cacheTokensDetails, counts)
  const inAnswer = modalitiesIn(reported.candidatesTokensDetails, counts)
  const isTrusted = counts.anomaly === null
  const isCacheWithin = cached <= prompt
  const rest = new RemainingTokens(prompt)
  const cacheRead = rest.take(isTrusted ? cached : 0)
  // The prompt's counts per modality include the tokens of its cached part.
  const isCacheCounted = cacheRead > 0
  const audio = inPrompt.audio - (isCacheCounted ? Math.min(inCache.audio, inPrompt.audio) : 0)
  const image = inPrompt.image - (isCacheCounted ? Math.min(inCache.image, inPrompt.image) : 0)
  const inputAudio = rest.take(audio)
  const inputImage = rest.take(image)
  const tools = Math.min(toolUse, inputMost - prompt)
  const output = Math.min(candidates + thoughts, outputCeiling)
  const usage: Usage = {
    ...NO_USAGE,
    ...{ cacheRead, inputAudio, inputImage, inputUncached: rest.left + tools },
    ...{ output, reasoning: Math.min(thoughts, output) },
    ...mediaIn(candidates, inAnswer),
  }
  const isCut =
    !isCacheWithin ||
    audio + image + cacheRead > prompt ||
    tools < toolUse ||
    inAnswer.audio + inAnswer.image > candidates ||
    candidates + thoughts > outputCeiling
  const anomaly = counts.anomaly ?? (isCut ? 'parts-exceed-whole' : null)
  return { usage, otherInterpretation: null, isTrusted, anomaly }
}

/**
 * Returns the audio and image tokens of an answer. Their sum is limited to `candidates`, the number
 * of answer tokens without thoughts.
 */
function mediaIn(candidates: number, { audio, image }: Media): Pick<Usage, OutputMedium> {
  const outputAudio = Math.min(audio, candidates)
  return { outputAudio, ...imageUsage(Math.min(image, candidates - outputAudio)) }
}

type OutputMedium = 'outputAudio' | 'outputImage'

/**
 * Returns the number of answer tokens without thoughts. Google omits a count of 0. A missing count
 * is therefore read as 0 if the reported total equals `others`, the sum of the other counts.
 */
function candidatesIn(
  reported: Record<string, unknown>,
  counts: Counts,
  most: number,
  others: number,
): number {
  const { candidatesTokenCount: count, totalTokenCount: total } = reported
  const isZero = (count === undefined || count === null) && total === others
  return isZero ? 0 : counts.required(count, most)
}

/**
 * Returns the raw count of answer tokens in a usage. For a missing count, returns 0 if the reported
 * total equals the sum of the other counts, and undefined if it does not.
 */
export function candidatesCount(usage: unknown): unknown {
  const { candidatesTokenCount: count, ...reported } = objectOrEmpty(usage)
  if (count !== undefined && count !== null) return count
  const others = [
    reported.promptTokenCount,
    reported.toolUsePromptTokenCount,
    reported.thoughtsTokenCount,
  ]
  const sum = others.reduce((all: number, one) => all + scalarNumber(one ?? 0), 0)
  return sum === reported.totalTokenCount ? 0 : undefined
}

/**
 * The maximum number of entries that are read from a list of details. There are five modalities.
 */
const DETAILS_MAX = 16

type Media = { audio: number; image: number }

/** Returns the audio and image tokens in a list of details. */
function modalitiesIn(details: unknown, counts: Counts): Media {
  const sums = { audio: 0, image: 0 }
  if (!Array.isArray(details)) return sums
  for (const entry of details.slice(0, DETAILS_MAX)) {
    const { modality, tokenCount } = objectOrEmpty(entry)
    const count = counts.optional(tokenCount)
    if (modality === 'AUDIO') sums.audio += count
    if (modality === 'IMAGE') sums.image += count
  }
  return sums
}

const CUMULATIVE = [
  ...['promptTokenCount', 'toolUsePromptTokenCount', 'candidatesTokenCount'],
  ...['thoughtsTokenCount', 'totalTokenCount'],
]

/**
 * Combines the usage of two chunks of a stream. Counts are cumulative. The larger count is kept, so
 * that a smaller, invalid or missing later count does not make the call cheaper. For the details of
 * the answer, this applies to the count of each modality. Any other member has the later chunk's
 * value, if that chunk has the member.
 */
export function combineGeminiUsage(earlier: unknown, later: unknown): unknown {
  const before = objectOrEmpty(earlier)
  const combined: Record<string, unknown> = { ...before, ...objectOrEmpty(later) }
  for (const name of CUMULATIVE) {
    if (name in before) combined[name] = largerCount(before[name], combined[name])
  }
  const [one, other] = [before[ANSWER_DETAILS], combined[ANSWER_DETAILS]]
  if (Array.isArray(one) && Array.isArray(other)) {
    combined[ANSWER_DETAILS] = largestDetails(one, other)
  }
  return combined
}

const ANSWER_DETAILS = 'candidatesTokensDetails'

/**
 * Returns the entry with the largest count of each modality, and all entries with invalid counts.
 */
function largestDetails(
  earlier: readonly unknown[],
  later: readonly unknown[],
): readonly unknown[] {
  const largest = new Map<unknown, unknown>()
  const invalid: unknown[] = []
  for (const entry of [earlier, later].flatMap((list) => list.slice(0, DETAILS_MAX))) {
    const { modality, tokenCount } = objectOrEmpty(entry)
    const { tokenCount: before } = objectOrEmpty(largest.get(modality))
    if (anomalyOf(tokenCount ?? 0, Number.POSITIVE_INFINITY) !== null) invalid.push(entry)
    else if (typeof before !== 'number' || scalarNumber(tokenCount) >= before) {
      largest.set(modality, entry)
    }
  }
  return [...largest.values(), ...invalid]
}
