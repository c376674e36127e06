import type { ToolCounts, ToolName } from '#domain/pricing/usage.ts'
import type { ByteEdit } from './byte-edits.ts'
import type { ToolElement } from './openai-chat/find-message-parts-and-tools.ts'
import { integerOf } from './read-common-request-members.ts'
import type { Member } from './scan-request-object.ts'

/** The limits on a request's use of the provider tools that have a price (see `TOOL_NAMES`). */
export type ToolLimits = {
  /**
   * The maximum number of uses of each tool. The call's hold (the reserved quota) covers these
   * uses.
   */
  readonly uses: ToolCounts
  /**
   * The highest number of uses of each tool that a usage report may state, if the provider can't
   * limit the uses. The default is `uses`.
   */
  readonly usesAcceptedMax?: ToolCounts
  /**
   * The uses that are billed although the answer does not report them. Omitted if there are none.
   */
  readonly assumedUses?: AssumedUses
  /**
   * The number of input tokens that tools without a price per use may add. The hold covers these
   * tokens.
   */
  readonly inputTokens?: number
  /**
   * The edits that set the limits in the body. Empty if the limits in the body are already low
   * enough, or if the provider can't limit the uses.
   */
  readonly edits: readonly ByteEdit[]
  /**
   * The top-level member that contains the limit. Omitted if another place contains the limit or
   * there is none.
   */
  readonly member?: string
  /**
   * The entry in a channel's list of allowed members that permits the tools. The default is
   * `PROVIDER_TOOLS`.
   */
  readonly allowedBy?: string
}

/** The tools of a request. Tools that no price covers are marked as unpriced. */
export type LimitedTools = {
  readonly tools: readonly ToolElement[]
  readonly toolLimits?: ToolLimits
}

type AssumedUses = {
  readonly uses: ToolCounts
  /** The answers for which the uses are assumed. A `cut-answer` is an incomplete answer. */
  readonly of: 'every-answer' | 'cut-answer'
}

/** The maximum number of uses of a tool, if the caller has set no limit. */
export const USES_DEFAULT = 10
/** The highest accepted number of uses. A higher limit of the caller is reduced to this number. */
export const USES_MAX = 100

/**
 * The likely maximum and the absolute maximum of input tokens that one use of a tool adds, for
 * example by the pages that a search finds. Providers charge these tokens as input.
 */
export const INPUT_TOKENS_PER_USE = { likely: 10_000, most: 50_000 } as const

/** Returns the total number of uses of all tools. */
export const totalUses = (uses: ToolCounts = {}): number =>
  Object.values(uses).reduce((sum, count) => sum + count, 0)

/** An object in a body. `end` is the offset after the object. */
type LimitedObject = { readonly members: readonly Member[]; readonly end: number }

/**
 * Reads the member `name`, which limits the uses of a tool, from an object in the body. If the
 * limit is absent, invalid or too high, the returned edits set it to `uses`.
 */
export function readUsesLimit(
  body: Buffer,
  { members, end }: LimitedObject,
  name: string,
): { readonly uses: number; readonly edits: readonly ByteEdit[] } {
  const member = members.find(({ key }) => key === name)
  const own = integerOf(body, member, 0, Number.MAX_SAFE_INTEGER)
  const uses = Math.min(own ?? USES_DEFAULT, USES_MAX)
  if (own === uses) return { uses, edits: NO_EDITS }
  if (member !== undefined) {
    return { uses, edits: [{ start: member.valueStart, end: member.valueEnd, text: `${uses}` }] }
  }
  const comma = members.length === 0 ? '' : ','
  return { uses, edits: [{ start: end - 1, end: end - 1, text: `${comma}"${name}":${uses}` }] }
}

const NO_EDITS: readonly ByteEdit[] = []

/**
 * Returns the largest count of each tool over all elements of `counts`. Returns undefined if no
 * element contains a count.
 */
export function largestUses(counts: Iterable<ToolCounts | undefined>): ToolCounts | undefined {
  let largest: Partial<Record<ToolName, number>> | undefined
  for (const uses of counts) {
    for (const name in uses) {
      const tool = name as ToolName
      largest = { ...largest, [tool]: Math.max(largest?.[tool] ?? 0, uses[tool] ?? 0) }
    }
  }
  return largest
}
