import { imageUsage } from '#domain/pricing/usage.ts'
import { isObject, type JsonObject } from '#relay/canonical/json-values.ts'
import type { CanonicalUsage } from '../../canonical/canonical-answer.ts'

/** The largest count that the format can express as a 32-bit integer. */
const COUNT_MAX = 2 ** 31 - 1

/**
 * Reads `usageMetadata`, or returns null if there is none. `promptTokenCount` includes the cached
 * tokens. `toolUsePromptTokenCount` is added to `promptTokenCount`, and `thoughtsTokenCount` is
 * added to `candidatesTokenCount`. A count that can't be read is 0.
 */
export function readUsage(value: unknown): CanonicalUsage | null {
  if (!isObject(value)) return null
  const prompt = count(value.promptTokenCount)
  const toolUse = count(value.toolUsePromptTokenCount)
  const thoughts = count(value.thoughtsTokenCount)
  // Gemini omits a count of 0. A missing count is therefore calculated from the total.
  const answer =
    value.candidatesTokenCount === undefined || value.candidatesTokenCount === null
      ? Math.max(0, count(value.totalTokenCount) - prompt - toolUse - thoughts)
      : count(value.candidatesTokenCount)
  const cacheRead = count(value.cachedContentTokenCount)
  const media = (modality: string): number =>
    tokensOf(value.promptTokensDetails, modality) +
    tokensOf(value.toolUsePromptTokensDetails, modality) -
    tokensOf(value.cacheTokensDetails, modality)
  // The cached tokens are subtracted first. The counts of audio and images may include cached
  // tokens, so these counts are limited to the rest.
  let rest = Math.max(0, prompt + toolUse - cacheRead)
  const inputAudio = Math.min(rest, Math.max(0, media('AUDIO')))
  rest -= inputAudio
  const outputAudio = Math.min(answer, tokensOf(value.candidatesTokensDetails, 'AUDIO'))
  const outputImage = tokensOf(value.candidatesTokensDetails, 'IMAGE')
  const inputImage = Math.min(rest, Math.max(0, media('IMAGE')))
  return {
    inputUncached: rest - inputImage,
    cacheRead,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    inputAudio,
    inputImage,
    output: answer + thoughts,
    reasoning: thoughts,
    outputAudio,
    ...imageUsage(Math.min(answer - outputAudio, outputImage)),
  }
}

/**
 * Returns a usage as `usageMetadata`. The prompt's count includes the cached tokens. The answer's
 * count excludes the thoughts.
 */
export function writeUsage(usage: CanonicalUsage): JsonObject {
  const { cacheRead, inputAudio, inputImage, output, outputAudio, outputImage = 0 } = usage
  const text = usage.inputUncached + cacheRead + usage.cacheWrite5m + usage.cacheWrite1h
  const prompt = text + inputAudio + inputImage
  const thoughts = Math.min(usage.reasoning, output)
  const answer = output - thoughts
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: answer,
    totalTokenCount: prompt + output,
    ...(cacheRead > 0 && { cachedContentTokenCount: cacheRead }),
    promptTokensDetails: details({ TEXT: text, IMAGE: inputImage, AUDIO: inputAudio }),
    ...(outputAudio + outputImage > 0 && {
      candidatesTokensDetails: details({
        TEXT: Math.max(0, answer - outputAudio - outputImage),
        AUDIO: outputAudio,
        IMAGE: outputImage,
      }),
    }),
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
  }
}

const details = (counts: Readonly<Record<string, number>>): JsonObject[] =>
  Object.entries(counts)
    .filter(([modality, tokenCount]) => tokenCount > 0 || modality === 'TEXT')
    .map(([modality, tokenCount]) => ({ modality, tokenCount }))

function tokensOf(value: unknown, modality: string): number {
  if (!Array.isArray(value)) return 0
  let tokens = 0
  for (const detail of value) {
    if (isObject(detail) && detail.modality === modality) tokens += count(detail.tokenCount)
  }
  return Math.min(tokens, COUNT_MAX)
}

const DIGITS = /^\d{1,16}$/

function count(value: unknown): number {
  const number = typeof value === 'string' && DIGITS.test(value) ? Number(value) : value
  if (typeof number !== 'number' || Number.isNaN(number)) return 0
  return Math.min(Math.ceil(Math.max(number, 0)), COUNT_MAX)
}
