/** The provider's tools that have a price per use. A code interpreter is priced per container. */
export const TOOL_NAMES = [
  'web_search',
  'web_search_preview',
  'x_search',
  'file_search',
  'code_interpreter',
  'image_generation',
  'google_search',
  'google_maps',
] as const
export type ToolName = (typeof TOOL_NAMES)[number]

/** The number of uses of each of the provider's tools. A missing tool was not used. */
export type ToolCounts = Readonly<Partial<Record<ToolName, number>>>

/**
 * The conditions that change the price of a whole call: a service tier, the region in which the
 * provider computes the answer, or the sound of a video.
 */
export const PRICE_CONDITIONS = ['fast', 'ultrafast', 'flex', 'us_inference', 'audio'] as const
export type PriceCondition = (typeof PRICE_CONDITIONS)[number]

/**
 * The usage of one call in the units that have a price. Counts are integers of 0 or more. `output`
 * includes `reasoning`, `outputAudio` and `outputImage`. Each input token is counted in exactly one
 * of the input counts.
 */
export type Usage = {
  readonly inputUncached: number
  readonly cacheRead: number
  readonly cacheWrite5m: number
  readonly cacheWrite1h: number
  readonly inputAudio: number
  readonly inputImage: number
  readonly output: number
  readonly reasoning: number
  readonly outputAudio: number
  /** The tokens of images in the answer. Omitted if there are none. */
  readonly outputImage?: number
  /** The sum of `tools`. */
  readonly toolCalls: number
  /** Omitted if no tool was used. */
  readonly tools?: ToolCounts
  /** The conditions under which the provider made the answer. Omitted if there are none. */
  readonly conditions?: readonly PriceCondition[]
  readonly images: number
  readonly seconds: number
  readonly characters: number
  readonly searchUnits: number
}

/** The members of `Usage` that are numbers. */
export type UsageCount = Exclude<keyof Usage, 'tools' | 'conditions'>

/**
 * `upstream`: reported by the provider. `estimated`: counted by the gateway. `partial`: counted
 * only for the part received before the answer was cut.
 */
export type UsageSource = 'upstream' | 'estimated' | 'partial'

export const NO_USAGE: Usage = Object.freeze({
  inputUncached: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  inputAudio: 0,
  inputImage: 0,
  output: 0,
  reasoning: 0,
  outputAudio: 0,
  toolCalls: 0,
  images: 0,
  seconds: 0,
  characters: 0,
  searchUnits: 0,
})

/**
 * Usage within these limits is always charged. `outputTokens` is the sum over all choices. `tools`
 * contains the maximum number of uses of each tool. For a missing tool, this number is 0.
 */
export type UsageLimits = {
  readonly inputTokens: number
  readonly outputTokens: number
  /**
   * The maximum number of tokens that are charged as writes to the one-hour cache. Writes above
   * this maximum are charged as writes to the five-minute cache. Omitted if the hold covers any
   * number of writes to the one-hour cache.
   */
  readonly hourWrites?: number
  readonly tools?: ToolCounts
}

/**
 * Returns the part of `usage` within `limits`. This part never costs more than the hold for the
 * same limits.
 */
export function usageWithin(
  usage: Usage,
  { inputTokens, outputTokens, hourWrites = usage.cacheWrite1h, tools = NO_TOOLS }: UsageLimits,
): Usage {
  const excessHourWrites = Math.max(0, usage.cacheWrite1h - hourWrites)
  const isWithin = inputTokensOf(usage) <= inputTokens && usage.output <= outputTokens
  if (isWithin && excessHourWrites === 0 && areToolsWithin(usage.tools, tools)) return usage
  const input = new Allowance(inputTokens)
  const output = Math.min(usage.output, outputTokens)
  const outputAudio = Math.min(usage.outputAudio, output)
  return {
    ...NO_USAGE,
    inputUncached: input.take(usage.inputUncached),
    cacheRead: input.take(usage.cacheRead),
    cacheWrite5m: input.take(usage.cacheWrite5m + excessHourWrites),
    cacheWrite1h: input.take(usage.cacheWrite1h - excessHourWrites),
    inputAudio: input.take(usage.inputAudio),
    inputImage: input.take(usage.inputImage),
    output,
    reasoning: Math.min(usage.reasoning, output),
    outputAudio,
    ...imageUsage(Math.min(usage.outputImage ?? 0, output - outputAudio)),
    ...toolUsage(usage.tools, tools),
    ...conditionsOfUsage(usage.conditions),
    // Images are charged only by a price per image, whose hold covers all requested images.
    images: usage.images,
  }
}

const NO_TOOLS: ToolCounts = Object.freeze({})

const areToolsWithin = (used: ToolCounts = NO_TOOLS, most: ToolCounts): boolean =>
  TOOL_NAMES.every((name) => (used[name] ?? 0) <= (most[name] ?? 0))

/**
 * Returns the members of a usage that count the uses of tools. The uses of each tool are limited to
 * the tool's count in `most`.
 */
export function toolUsage(
  used: ToolCounts = NO_TOOLS,
  most: ToolCounts,
): Pick<Usage, 'toolCalls' | 'tools'> {
  const tools: Partial<Record<ToolName, number>> = {}
  let toolCalls = 0
  for (const name of TOOL_NAMES) {
    const uses = Math.min(used[name] ?? 0, most[name] ?? 0)
    if (uses === 0) continue
    tools[name] = uses
    toolCalls += uses
  }
  return toolCalls === 0 ? { toolCalls } : { toolCalls, tools }
}

/**
 * Returns an object with the member `conditions` of a usage, or an empty object if there are no
 * conditions.
 */
export const conditionsOfUsage = (
  conditions: readonly PriceCondition[] = [],
): Pick<Usage, 'conditions'> => (conditions.length === 0 ? {} : { conditions })

/** Returns an object with the member `outputImage` of a usage, or an empty object if it is 0. */
export const imageUsage = (outputImage: number): Pick<Usage, 'outputImage'> =>
  outputImage === 0 ? {} : { outputImage }

export const inputTokensOf = (usage: Usage): number =>
  usage.inputUncached +
  usage.cacheRead +
  usage.cacheWrite5m +
  usage.cacheWrite1h +
  usage.inputAudio +
  usage.inputImage

class Allowance {
  private left: number

  constructor(tokens: number) {
    this.left = tokens
  }

  take(tokens: number): number {
    const part = Math.min(tokens, this.left)
    this.left -= part
    return part
  }
}
