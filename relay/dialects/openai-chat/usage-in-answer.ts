import { type JsonObject, objectOf } from '#relay/canonical/json-values.ts'
import { closingBrace } from '../scan-json-tokens.ts'

/**
 * Returns the usage in a stream event or a complete answer. Moonshot sends the usage inside a
 * choice, and Groq inside `x_groq`. llama.cpp sends the count of cached tokens as
 * `timings.cache_n`, outside the usage. This count is added to a usage without
 * `prompt_tokens_details` as `cached_tokens`.
 */
export function usageInEvent(event: object): unknown {
  const { usage: outer, choices, timings, x_groq: groq } = event as JsonObject
  const usage = objectOf(outer) ?? usageInChoices(choices) ?? objectOf(objectOf(groq)?.usage)
  if (usage === null) return undefined
  const cached = objectOf(timings)?.cache_n
  if (typeof cached !== 'number' || objectOf(usage.prompt_tokens_details) !== null) return usage
  return { ...usage, prompt_tokens_details: { cached_tokens: cached } }
}

function usageInChoices(choices: unknown): JsonObject | null {
  if (!Array.isArray(choices)) return null
  for (const choice of choices.toReversed()) {
    const usage = objectOf(objectOf(choice)?.usage)
    if (usage !== null) return usage
  }
  return null
}

const KEY = Buffer.from('"usage"')
/** The key of llama.cpp's count of cached tokens. The key is outside the `usage` object. */
const OUTSIDE = Buffer.from('"cache_n"')
const OPEN_BRACE = 123

/**
 * Returns the `usage` of a complete answer (not a stream), usually without parsing the answer. The
 * answer is parsed if the key `"usage"` occurs twice or has a value other than an object, or if the
 * answer contains llama.cpp's count.
 */
export function usageInAnswer(body: Buffer): unknown {
  const at = body.indexOf(KEY)
  if (at < 0) return undefined
  if (body.indexOf(KEY, at + 1) >= 0 || body.includes(OUTSIDE)) return usageOfWhole(body)
  let start = at + KEY.length
  while (isSpaceOrColon(body[start])) start += 1
  if (body[start] !== OPEN_BRACE) return usageOfWhole(body)
  const end = closingBrace(body, start)
  return end < 0 ? undefined : parsed(body, start, end + 1)
}

function usageOfWhole(body: Buffer): unknown {
  const value = parsed(body, 0, body.length)
  return typeof value === 'object' && value !== null ? usageInEvent(value) : undefined
}

const isSpaceOrColon = (byte: number | undefined): boolean =>
  byte === 58 || byte === 32 || byte === 10 || byte === 13 || byte === 9

function parsed(bytes: Buffer, start: number, end: number): unknown {
  try {
    return JSON.parse(bytes.toString('utf8', start, end))
  } catch {
    return undefined
  }
}
