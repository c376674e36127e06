import { isCount } from './combine-usage-reports.ts'
import { type JsonObject, objectOrEmpty } from './json-values.ts'

/**
 * Returns a usage in OpenAI's format whose counts include the tokens that some vendors report
 * beside them. Other usages are returned unchanged.
 *
 * - Perplexity's deep research charges `citation_tokens` at the price of input, and top-level
 *   `reasoning_tokens`. They are in neither the prompt, nor the completion, nor the total.
 * - Mistral's prompt count excludes audio. If the request has audio (`prompt_audio_seconds`), the
 *   audio tokens are the total without the prompt and the completion.
 */
export function withTokensBeside(usage: JsonObject): JsonObject {
  const { citation_tokens: citations, prompt_audio_seconds: seconds } = usage
  if (isCount(citations)) return withResearch(usage, citations)
  return typeof seconds === 'number' && seconds > 0 ? withAudio(usage) : usage
}

function withResearch(usage: JsonObject, citations: number): JsonObject {
  const { prompt_tokens: prompt, completion_tokens: completion } = usage
  const { reasoning_tokens: reported = 0, completion_tokens_details: details } = usage
  const reasoning = isCount(reported) ? reported : 0
  if (!isCount(prompt) || !isCount(completion)) return usage
  return {
    ...usage,
    prompt_tokens: prompt + citations,
    completion_tokens: completion + reasoning,
    completion_tokens_details: { ...objectOrEmpty(details), reasoning_tokens: reasoning },
  }
}

function withAudio(usage: JsonObject): JsonObject {
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage
  if (!isCount(prompt) || !isCount(completion) || !isCount(total)) return usage
  const audio = total - prompt - completion
  if (audio <= 0) return usage
  const details = { ...objectOrEmpty(usage.prompt_tokens_details), audio_tokens: audio }
  return { ...usage, prompt_tokens: prompt + audio, prompt_tokens_details: details }
}

/**
 * Reports whether a usage is FastGPT's placeholder, which has the same counts for every answer. No
 * answer has these counts, because the total would be 2.
 */
export const isPlaceholder = (usage: JsonObject): boolean =>
  usage.prompt_tokens === 1 && usage.completion_tokens === 1 && usage.total_tokens === 1

/**
 * Returns the reported number of tokens that were written to the cache. `details` are the details
 * of the prompt. OpenRouter's name comes first, then those of Qwen, LiteLLM and New API.
 */
export const cacheWritesOf = (details: JsonObject): unknown =>
  details.cache_write_tokens ??
  details.cache_creation_input_tokens ??
  details.cache_creation_tokens ??
  details.cached_creation_tokens
