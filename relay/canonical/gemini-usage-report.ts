import { imageUsage, NO_USAGE, type Usage } from '#domain/pricing/usage.ts'
import { largerCount } from './combine-usage-reports.ts'
import {
  anomalyOf,
  Counts,
  recordOf,
  TOKENS_MAX,
  type UsageBounds,
  type UsageReport,
  Whole,
} from './provider-usage-report.ts'

/**
 * Reads `usageMetadata` of Gemini's API. `promptTokenCount` includes the cached tokens, and
 * `toolUsePromptTokenCount` is counted in addition. `candidatesTokenCount` does not include the
 * thoughts. The lists of details divide a count by modality. Video and documents cost the same as
 * text.
 */
export function readGeminiUsage(
  raw: unknown,
  { inputCeiling, outputCeiling }: UsageBounds,
): UsageReport {
  if (typeof raw !== 'object' || raw === null) {
    return { usage: NO_USAGE, otherReading: null, isTrusted: false, anomaly: 'missing' }
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
  const rest = new Whole(prompt)
  const cacheRead = rest.take(isTrusted ? cached : 0)
  // The details of the prompt include those of its cached part.
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
  return { usage, otherReading: null, isTrusted, anomaly }
}

/** Returns the parts of an answer that are sound and pictures, which are limited to its tokens. */
function mediaIn(candidates: number, { audio, image }: Media): Pick<Usage, OutputMedium> {
  const outputAudio = Math.min(audio, candidates)
  return { outputAudio, ...imageUsage(Math.min(image, candidates - outputAudio)) }
}

type OutputMedium = 'outputAudio' | 'outputImage'

/**
 * Returns the tokens of the answer without its thoughts. Google does not send a count of 0. A
 * missing count is therefore 0 if the total is the sum of the other counts (`others`).
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
 * Returns the count of candidates in a usage, unparsed; undefined if it has none. It is 0 if the
 * total says so.
 */
export function candidatesCount(usage: unknown): unknown {
  const { candidatesTokenCount: count, ...reported } = recordOf(usage)
  if (count !== undefined && count !== null) return count
  const others = [
    reported.promptTokenCount,
    reported.toolUsePromptTokenCount,
    reported.thoughtsTokenCount,
  ]
  const sum = others.reduce((all: number, one) => all + Number(one ?? 0), 0)
  return sum === reported.totalTokenCount ? 0 : undefined
}

/** The number of entries of a list of details that are read. There are five modalities. */
const DETAILS_MAX = 16

type Media = { audio: number; image: number }

/** Returns the tokens of sound and pictures in a list of details. */
function modalitiesIn(details: unknown, counts: Counts): Media {
  const sums = { audio: 0, image: 0 }
  if (!Array.isArray(details)) return sums
  for (const entry of details.slice(0, DETAILS_MAX)) {
    const { modality, tokenCount } = recordOf(entry)
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
 * Combines the usage in two chunks of a stream. The last one counts. Its counts are cumulative, so
 * a smaller, invalid or missing count must not make the call cheaper.
 */
export function combineGeminiUsage(earlier: unknown, later: unknown): unknown {
  const before = recordOf(earlier)
  const combined: Record<string, unknown> = { ...before, ...recordOf(later) }
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

/** Returns the entries with the largest count of each modality, and those with invalid counts. */
function largestDetails(
  earlier: readonly unknown[],
  later: readonly unknown[],
): readonly unknown[] {
  const largest = new Map<unknown, unknown>()
  const invalid: unknown[] = []
  for (const entry of [earlier, later].flatMap((list) => list.slice(0, DETAILS_MAX))) {
    const { modality, tokenCount } = recordOf(entry)
    const { tokenCount: before } = recordOf(largest.get(modality))
    if (anomalyOf(tokenCount ?? 0, Number.POSITIVE_INFINITY) !== null) invalid.push(entry)
    else if (typeof before !== 'number' || Number(tokenCount) >= before) {
      largest.set(modality, entry)
    }
  }
  return [...largest.values(), ...invalid]
}
