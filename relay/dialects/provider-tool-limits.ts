import type { ToolCounts, ToolName } from '#domain/pricing/usage.ts'
import type { ByteEdit } from './byte-edits.ts'
import { wholeOf } from './check-common-request-members.ts'
import type { ToolElement } from './openai-chat/find-message-parts-and-tools.ts'
import type { Member } from './scan-request-object.ts'

/** The limits of the cost of the provider's tools in a request (see `TOOL_NAMES`). */
export type ToolLimits = {
  /** The most uses of each tool with a price, which the hold of the call covers. */
  readonly uses: ToolCounts
  /** The most uses that are believed, if the provider accepts no limit. The default is `uses`. */
  readonly usesBelieved?: ToolCounts
  /** The uses that are billed although the answer does not show them. The default is none. */
  readonly assumedUses?: AssumedUses
  /** The input tokens that tools without a price may add. The hold covers them. */
  readonly inputTokens?: number
  /** The edits that set these limits in the body, if it has no limits or higher ones. */
  readonly edits: readonly ByteEdit[]
  /** The top-level member that has the limit. Omitted if the limit is in another place. */
  readonly member?: string
  /**
   * The entry in a channel's list of allowed members that allows the tools. The default is
   * `PROVIDER_TOOLS`.
   */
  readonly allowedBy?: string
}

/** The tools of a request. Those that no price covers are marked. */
export type LimitedTools = {
  readonly tools: readonly ToolElement[]
  readonly toolLimits?: ToolLimits
}

export type AssumedUses = {
  readonly uses: ToolCounts
  /** `cut-answer` assumes them only for an answer that is not whole. */
  readonly of: 'every-answer' | 'cut-answer'
}

/** The limit of a tool for which the caller has set none. */
export const USES_DEFAULT = 10
/** The highest limit. A higher limit of the caller is reduced to it. */
export const USES_MAX = 100

/**
 * The likely and the absolute maximum of input tokens that one use of a tool adds, such as the
 * pages that a search has found. Providers charge them as input.
 */
export const INPUT_TOKENS_PER_USE = { likely: 10_000, most: 50_000 } as const

/** Returns the number of uses of all tools. */
export const usesIn = (uses: ToolCounts = {}): number =>
  Object.values(uses).reduce((sum, count) => sum + count, 0)

/** An object in a body, which ends before the offset `end`. */
type LimitedObject = { readonly members: readonly Member[]; readonly end: number }

/**
 * Reads the member `name`, which limits the uses of tools, from an object in the body. If it is
 * absent, invalid or too high, the returned edit sets it.
 */
export function limitIn(
  body: Buffer,
  { members, end }: LimitedObject,
  name: string,
): { readonly uses: number; readonly edits: readonly ByteEdit[] } {
  const member = members.find(({ key }) => key === name)
  const own = wholeOf(body, member, 0, Number.MAX_SAFE_INTEGER)
  const uses = Math.min(own ?? USES_DEFAULT, USES_MAX)
  if (own === uses) return { uses, edits: NO_EDITS }
  if (member !== undefined) {
    return { uses, edits: [{ start: member.valueStart, end: member.valueEnd, text: `${uses}` }] }
  }
  const comma = members.length === 0 ? '' : ','
  return { uses, edits: [{ start: end - 1, end: end - 1, text: `${comma}"${name}":${uses}` }] }
}

const NO_EDITS: readonly ByteEdit[] = []

/** Returns the larger count of each tool in any of `counts`, or undefined if there is none. */
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
