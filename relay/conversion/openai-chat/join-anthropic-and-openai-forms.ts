import type {
  ContentPart,
  ThinkingPart,
  ToolCallPart,
  ToolResultPart,
} from '../../canonical/canonical-request.ts'
import { withPathOf } from '../caller-paths-of-canonical-parts.ts'

/**
 * Leaves out the calls of the content that `calls` contains, too. Some clients, such as Cursor,
 * send each call as a block of Anthropic's and as a call of OpenAI's. A call keeps what only the
 * block has.
 */
export function withoutRepeatedCalls(
  content: readonly ContentPart[],
  calls: readonly ToolCallPart[],
): { readonly others: readonly ContentPart[]; readonly calls: readonly ToolCallPart[] } {
  const ids = new Set(calls.map(({ id }) => id))
  const blocks = new Map<string, ToolCallPart>()
  const others = content.filter((part) => {
    const isRepeated = part.kind === 'tool-call' && ids.has(part.id)
    if (isRepeated) blocks.set(part.id, part)
    return !isRepeated
  })
  return { others, calls: calls.map((call) => joined(blocks.get(call.id), call)) }
}

function joined(block: ToolCallPart | undefined, call: ToolCallPart): ToolCallPart {
  return block === undefined ? call : withPathOf(call, { ...block, ...call })
}

/**
 * Leaves out the thinking that the content contains, too, as a block of Anthropic's with a
 * signature.
 */
export function withoutRepeatedThinking(
  thinking: readonly ThinkingPart[],
  content: readonly ContentPart[],
): readonly ThinkingPart[] {
  const blocks = content.filter((part) => part.kind === 'thinking')
  if (blocks.length === 0) return thinking
  const repeated = new Set(blocks.map(keyOfThinking))
  repeated.add(keyOfThinking({ text: blocks.map(({ text }) => text).join('') }))
  return thinking.filter((part) => !repeated.has(keyOfThinking(part)))
}

const keyOfThinking = ({ text, signature, redacted }: Omit<ThinkingPart, 'kind'>): string =>
  JSON.stringify([text, signature ?? null, redacted ?? null])

/** The content of the result of a call. */
export type ResultContent = {
  readonly parts: ContentPart[]
  isError: boolean
  cache?: NonNullable<ToolResultPart['cache']>
}

/**
 * Moves the cache mark of the last part of a result to the result, because it has the same effect
 * there.
 */
export function withMarkOfLastPart({
  parts,
  isError,
  cache,
}: ResultContent): Pick<ToolResultPart, 'parts' | 'isError' | 'cache'> {
  const last = parts.at(-1)
  const mark = last !== undefined && 'cache' in last ? last.cache : undefined
  if (last === undefined || mark === undefined) {
    return { parts, isError, ...(cache === undefined ? {} : { cache }) }
  }
  return { parts: parts.with(-1, withoutMark(last)), isError, cache: mark }
}

function withoutMark(part: ContentPart): ContentPart {
  const { cache: _, ...rest } = part as ContentPart & { readonly cache?: unknown }
  return withPathOf(part, rest as ContentPart)
}
