import { imageUsage } from '#domain/pricing/usage.ts'
import { type JsonObject, objectOf, objectOrEmpty } from '#relay/canonical/json-values.ts'
import type { CanonicalUsage } from '../../canonical/canonical-answer.ts'
import { tokenCountOf } from '../limit-ids-model-names-and-token-counts.ts'

/**
 * Reads the usage of a response, or returns null if there is none. The input count includes cached
 * tokens. If more tokens are cached than the input count states, the number of uncached tokens is
 * 0. Tokens that are cached for 12 hours are counted as cached for one hour, which is the longer of
 * the two lifetimes of `CanonicalUsage`.
 */
export function readUsage(response: JsonObject): CanonicalUsage | null {
  const usage = objectOf(response.usage)
  if (usage === null) return null
  const input = objectOrEmpty(usage.input_tokens_details)
  const cacheRead = tokenCountOf(input.cached_tokens)
  const written = tokenCountOf(input.cache_write_tokens)
  const lifetimes = objectOf(input.cache_write_tokens_details)
  const cacheWrite1h = Math.min(tokenCountOf(lifetimes?.ttl_12h_tokens), written)
  const output = tokenCountOf(usage.output_tokens)
  const details = objectOf(usage.output_tokens_details)
  const reasoning = tokenCountOf(details?.reasoning_tokens)
  return {
    inputUncached: Math.max(tokenCountOf(usage.input_tokens) - cacheRead - written, 0),
    cacheRead,
    cacheWrite5m: written - cacheWrite1h,
    cacheWrite1h,
    inputAudio: 0,
    inputImage: 0,
    output,
    reasoning: Math.min(reasoning, output),
    outputAudio: 0,
    ...imageUsage(Math.min(tokenCountOf(details?.image_tokens), output)),
  }
}

/**
 * Returns a usage in the format of the Responses API. The input count includes every input token.
 */
export function writeUsage(usage: CanonicalUsage): JsonObject {
  const { inputUncached, cacheRead, inputAudio, inputImage, output, reasoning } = usage
  const { outputImage = 0 } = usage
  const cacheWrite = usage.cacheWrite5m + usage.cacheWrite1h
  const input = inputUncached + cacheRead + cacheWrite + inputAudio + inputImage
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: output,
    output_tokens_details: {
      reasoning_tokens: reasoning,
      ...(outputImage === 0 ? {} : { image_tokens: outputImage }),
    },
    total_tokens: input + output,
  }
}
