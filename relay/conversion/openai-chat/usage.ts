import { imageUsage } from '#domain/pricing/usage.ts'
import {
  type JsonObject,
  objectOf,
  objectOrEmpty,
  objectsOf,
} from '#relay/canonical/json-values.ts'
import { cacheWritesOf, withTokensBeside } from '#relay/canonical/tokens-beside-openai-counts.ts'
import type { CanonicalUsage } from '../../canonical/canonical-answer.ts'
import { tokenCountOf } from '../limit-ids-model-names-and-token-counts.ts'

/**
 * Reads the usage of an answer or a stream event, or returns null if there is none. OpenAI's prompt
 * count includes cached, audio and image tokens. If the sum of these tokens exceeds the prompt
 * count, the number of uncached tokens is 0.
 */
export function readUsage(body: JsonObject): CanonicalUsage | null {
  const usage = usageOf(body)
  if (usage === null) return null
  const input = objectOrEmpty(usage.prompt_tokens_details)
  const prompt = tokenCountOf(usage.prompt_tokens)
  const cached = cachedTokensOf(usage, input, body)
  const cacheWrite = readCacheWrite(input)
  let rest = prompt - cached - cacheWrite.cacheWrite5m - cacheWrite.cacheWrite1h
  // A provider may count a cached token as audio or image, too. The counts of audio and images are
  // therefore limited to the tokens that are not cached.
  const take = (count: unknown): number => {
    const taken = Math.min(tokenCountOf(count), Math.max(rest, 0))
    rest -= taken
    return taken
  }
  return {
    cacheRead: cached,
    ...cacheWrite,
    inputAudio: take(input.audio_tokens),
    inputImage: take(input.image_tokens),
    inputUncached: Math.max(rest, 0),
    ...readOutput(usage, prompt),
  }
}

/**
 * Returns the usage of an answer or an event. In a stream, Moonshot puts the usage into a choice,
 * and Groq into `x_groq`.
 */
function usageOf(body: JsonObject): JsonObject | null {
  const outer = objectOf(body.usage)
  if (outer !== null) return withTokensBeside(outer)
  for (const choice of objectsOf(body.choices)) {
    const usage = objectOf(choice.usage)
    if (usage !== null) return usage
  }
  return objectOf(objectOf(body.x_groq)?.usage)
}

/**
 * Returns the number of cached tokens. DeepSeek, Zhipu and llama.cpp report this number in members
 * that OpenAI does not have.
 */
function cachedTokensOf(usage: JsonObject, input: JsonObject, body: JsonObject): number {
  const cacheHits = objectOf(body.timings)?.cache_n
  return tokenCountOf(
    input.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens ?? cacheHits,
  )
}

/**
 * Reads the number of tokens that were written to the cache. Qwen also reports their lifetimes, in
 * Anthropic's form.
 */
function readCacheWrite(input: JsonObject): Pick<CanonicalUsage, 'cacheWrite5m' | 'cacheWrite1h'> {
  const written = tokenCountOf(cacheWritesOf(input))
  const lifetimes = objectOf(input.cache_creation)
  const cacheWrite1h = tokenCountOf(lifetimes?.ephemeral_1h_input_tokens)
  const cacheWrite5m = tokenCountOf(lifetimes?.ephemeral_5m_input_tokens)
  return { cacheWrite1h, cacheWrite5m: Math.max(cacheWrite5m, written - cacheWrite1h) }
}

/**
 * Reads the output counts. The completion count usually includes reasoning. If the total shows that
 * the count excludes reasoning, as xAI's does, reasoning is added.
 */
function readOutput(
  usage: JsonObject,
  prompt: number,
): Pick<CanonicalUsage, 'output' | 'reasoning' | 'outputAudio' | 'outputImage'> {
  const details = objectOrEmpty(usage.completion_tokens_details)
  const completion = tokenCountOf(usage.completion_tokens)
  const reasoning = tokenCountOf(details.reasoning_tokens)
  const isBeside = tokenCountOf(usage.total_tokens) === prompt + completion + reasoning
  const output = isBeside ? completion + reasoning : completion
  const outputAudio = Math.min(tokenCountOf(details.audio_tokens), output)
  return {
    output,
    reasoning: Math.min(reasoning, output),
    outputAudio,
    ...imageUsage(Math.min(tokenCountOf(details.image_tokens), output - outputAudio)),
  }
}

/** Writes a usage in OpenAI's format. The prompt count includes every input token. */
export function writeUsage(usage: CanonicalUsage): JsonObject {
  const { cacheRead, inputAudio, inputImage, output, outputImage = 0 } = usage
  const cacheWrite = usage.cacheWrite5m + usage.cacheWrite1h
  const prompt = usage.inputUncached + cacheRead + cacheWrite + inputAudio + inputImage
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: {
      cached_tokens: cacheRead,
      audio_tokens: inputAudio,
      ...(cacheWrite === 0 ? {} : { cache_write_tokens: cacheWrite }),
      ...(inputImage === 0 ? {} : { image_tokens: inputImage }),
      ...(usage.cacheWrite1h === 0 ? {} : { cache_creation: lifetimesOf(usage) }),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: usage.outputAudio,
      ...(outputImage === 0 ? {} : { image_tokens: outputImage }),
    },
  }
}

const lifetimesOf = ({ cacheWrite5m, cacheWrite1h }: CanonicalUsage): JsonObject => ({
  ephemeral_5m_input_tokens: cacheWrite5m,
  ephemeral_1h_input_tokens: cacheWrite1h,
})
