/**
 * The calls that ended last, to know a repeat by. Ids are UUID v7: they sort by their time. At most
 * 8192 are remembered; the oldest ids go first, and whatever is no younger than one that went
 * counts as ended too. A fresh call is refused by that only if 8192 younger ones ended before it
 * was admitted.
 */
export type EndedCalls = {
  readonly ids: Set<string>
  /** The same ids as a binary heap, the oldest at its root. */
  readonly oldestFirst: string[]
  /** The youngest id that was forgotten; empty while none was. */
  forgottenUpTo: string
}

export const ENDED_MAX = 8_192

export const noEndedCalls = (): EndedCalls => ({
  ids: new Set(),
  oldestFirst: [],
  forgottenUpTo: '',
})

export type CallMemory = 'ended' | 'too-old' | 'unknown'

export function recall({ ids, forgottenUpTo }: EndedCalls, call: string): CallMemory {
  if (ids.has(call)) return 'ended'
  return call <= forgottenUpTo ? 'too-old' : 'unknown'
}

/** Changes `ended` in place. */
export function remember(ended: EndedCalls, call: string): void {
  ended.ids.add(call)
  push(ended.oldestFirst, call)
  if (ended.oldestFirst.length <= ENDED_MAX) return
  const oldest = pop(ended.oldestFirst)
  ended.ids.delete(oldest)
  if (oldest > ended.forgottenUpTo) ended.forgottenUpTo = oldest
}

function push(heap: string[], call: string): void {
  let at = heap.length
  heap.push(call)
  while (at > 0) {
    const parent = (at - 1) >> 1
    const above = heap[parent] ?? ''
    if (above <= call) break
    heap[at] = above
    at = parent
  }
  heap[at] = call
}

function pop(heap: string[]): string {
  const root = heap[0] ?? ''
  const moved = heap.pop() ?? ''
  if (heap.length === 0) return root
  let at = 0
  for (;;) {
    const left = 2 * at + 1
    const right = left + 1
    const isRightOlder = right < heap.length && (heap[right] ?? '') < (heap[left] ?? '')
    const child = isRightOlder ? right : left
    const below = heap[child]
    if (below === undefined || moved <= below) break
    heap[at] = below
    at = child
  }
  heap[at] = moved
  return root
}
