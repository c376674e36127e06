import type { CacheMark, CanonicalMessage, ContentPart } from '../canonical-request.ts'
import { addLoss } from '../collect-losses.ts'

/**
 * Marks the last cacheable part of the conversation. This is what a `cache_control` at the top
 * level of an Anthropic request means. If the part already has a mark, that mark is kept.
 */
export function markLastPart(
  messages: readonly CanonicalMessage[],
  cache: CacheMark,
  losses: string[],
): readonly CanonicalMessage[] {
  const at = messages.findLastIndex(({ parts }) => parts.some(isCacheable))
  const message = messages[at]
  if (message === undefined) {
    addLoss(losses, 'cache_control')
    return messages
  }
  const last = message.parts.findLastIndex(isCacheable)
  const parts = message.parts.map((part, index) =>
    index === last && isMarkable(part) ? { ...part, cache: part.cache ?? cache } : part,
  )
  return messages.with(at, { ...message, parts })
}

type MarkablePart = Exclude<ContentPart, { kind: 'thinking' | 'refusal' }>

const isMarkable = (part: ContentPart): part is MarkablePart =>
  part.kind !== 'thinking' && part.kind !== 'refusal'

const isCacheable = (part: ContentPart): boolean =>
  isMarkable(part) && (part.kind !== 'text' || part.text.trim() !== '')
