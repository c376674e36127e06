import { isObject, type JsonObject, objectOrEmpty } from '#relay/canonical/json-values.ts'
import type { CanonicalUsage } from '../../canonical/canonical-answer.ts'
import type { Block } from './write-tool-input.ts'

/**
 * The counts in Anthropic's `usage`. `input_tokens` excludes tokens that were read from the cache
 * or written to it. `output_tokens` includes thinking. A count that was not reported is undefined.
 */
type Counts = {
  readonly input: number | undefined
  readonly cacheRead: number | undefined
  readonly cacheWrite: number | undefined
  readonly cacheWrite5m: number | undefined
  readonly cacheWrite1h: number | undefined
  readonly output: number | undefined
  readonly thinking: number | undefined
}

/**
 * Reads the `usage` of a complete answer, or returns null if there is none. Counts that can't be
 * read are 0.
 */
export function readUsage(usage: unknown): CanonicalUsage | null {
  return isObject(usage) ? toCanonicalUsage(countsOf(usage)) : null
}

/**
 * Collects the usage reports of a stream. All counts are cumulative, so a later count replaces an
 * earlier one.
 */
export class UsageReports {
  private counts: Counts | null = null

  /** Adds a report and returns the counts so far. Returns null if `usage` is not a report. */
  add(usage: unknown): CanonicalUsage | null {
    if (!isObject(usage)) return null
    this.counts = this.counts === null ? countsOf(usage) : merge(this.counts, countsOf(usage))
    return toCanonicalUsage(this.counts)
  }
}

/**
 * Writes a usage in Anthropic's format. `input_tokens` includes audio and images, but not cached
 * tokens.
 */
export function writeUsage(usage: CanonicalUsage | null): Block {
  const cacheWrite5m = usage?.cacheWrite5m ?? 0
  const cacheWrite1h = usage?.cacheWrite1h ?? 0
  const uncached = usage?.inputUncached ?? 0
  const reasoning = usage?.reasoning ?? 0
  return {
    input_tokens: uncached + (usage?.inputAudio ?? 0) + (usage?.inputImage ?? 0),
    cache_creation_input_tokens: cacheWrite5m + cacheWrite1h,
    cache_read_input_tokens: usage?.cacheRead ?? 0,
    cache_creation: {
      ephemeral_5m_input_tokens: cacheWrite5m,
      ephemeral_1h_input_tokens: cacheWrite1h,
    },
    output_tokens: usage?.output ?? 0,
    ...(reasoning > 0 && { output_tokens_details: { thinking_tokens: reasoning } }),
  }
}

function countsOf(usage: JsonObject): Counts {
  const split = objectOrEmpty(usage.cache_creation)
  return {
    input: countOf(usage.input_tokens),
    cacheRead: countOf(usage.cache_read_input_tokens),
    cacheWrite: countOf(usage.cache_creation_input_tokens),
    cacheWrite5m: countOf(split.ephemeral_5m_input_tokens),
    cacheWrite1h: countOf(split.ephemeral_1h_input_tokens),
    output: countOf(usage.output_tokens),
    thinking: countOf(objectOrEmpty(usage.output_tokens_details).thinking_tokens),
  }
}

/** Returns a count as an integer of 0 or more, or undefined for any other value. */
function countOf(value: unknown): number | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return undefined
  return Math.min(Math.trunc(value), Number.MAX_SAFE_INTEGER)
}

/**
 * Merges a later report into the earlier ones. Some providers report input counts of 0 at the end.
 * If the later report has no input count above 0, the earlier input counts are kept.
 */
function merge(earlier: Counts, later: Counts): Counts {
  const output = {
    output: later.output ?? earlier.output,
    thinking: later.thinking ?? earlier.thinking,
  }
  const { input, cacheRead, cacheWrite, cacheWrite5m, cacheWrite1h } = later
  const hasInput = [input, cacheRead, cacheWrite, cacheWrite5m, cacheWrite1h].some(
    (count) => count !== undefined && count > 0,
  )
  if (!hasInput) return { ...earlier, ...output }
  const isSplit = cacheWrite5m !== undefined || cacheWrite1h !== undefined
  // Anthropic's later reports repeat the total of cache writes, but don't divide it by lifetime.
  // The earlier division still applies, unless the later total is 0.
  const split = isSplit || cacheWrite === 0 ? later : earlier
  return {
    ...output,
    input: input ?? earlier.input,
    cacheRead: cacheRead ?? earlier.cacheRead,
    cacheWrite: cacheWrite ?? (isSplit ? undefined : earlier.cacheWrite),
    cacheWrite5m: split.cacheWrite5m,
    cacheWrite1h: split.cacheWrite1h,
  }
}

function toCanonicalUsage(counts: Counts): CanonicalUsage {
  const output = counts.output ?? 0
  return {
    inputUncached: counts.input ?? 0,
    cacheRead: counts.cacheRead ?? 0,
    ...splitCacheWrites(counts),
    inputAudio: 0,
    inputImage: 0,
    output,
    reasoning: Math.min(counts.thinking ?? 0, output),
    outputAudio: 0,
  }
}

/**
 * Divides the cache writes by lifetime. Writes without a known lifetime count as five-minute
 * writes, which are the default and cheaper.
 */
function splitCacheWrites(counts: Counts): { cacheWrite5m: number; cacheWrite1h: number } {
  const cacheWrite5m = counts.cacheWrite5m ?? 0
  const cacheWrite1h = counts.cacheWrite1h ?? 0
  const total = counts.cacheWrite ?? 0
  if (total === 0) return { cacheWrite5m, cacheWrite1h }
  const hour = Math.min(cacheWrite1h, total)
  return { cacheWrite5m: total - hour, cacheWrite1h: hour }
}
