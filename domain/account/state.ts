import type { PriceSnapshot, ProviderCost } from '../pricing/price.ts'
import type { Usage } from '../pricing/usage.ts'
import type { Sealed } from '../shared/event.ts'
import type { Quota } from '../shared/quota.ts'
import type { CallFacts } from './events.ts'

/**
 * The calls that ended last, by which repeats are recognised. Ids are UUID v7 and sort by time. At
 * most 8192 are remembered, and the oldest are forgotten first. An id that is not younger than a
 * forgotten one counts as ended, too. A new call is refused for that only if 8192 younger ones
 * ended before it was admitted.
 */
export type EndedCalls = {
  readonly ids: Set<string>
  /** The same ids as a binary heap with the oldest at its root. */
  readonly oldestFirst: string[]
  /** The youngest forgotten id; empty while none was forgotten. */
  forgottenUpTo: string
}

export const ENDED_MAX = 8_192

export const noEndedCalls = (): EndedCalls => ({
  ids: new Set(),
  oldestFirst: [],
  forgottenUpTo: '',
})

type CallMemory = 'ended' | 'too-old' | 'unknown'

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

/**
 * Returns a function that forgets `call` again after `remember`. Call this before `remember`, and
 * undo later changes first.
 */
export function undoRemember(ended: EndedCalls, call: string): () => void {
  const { ids, oldestFirst, forgottenUpTo } = ended
  const dropped = oldestFirst.length >= ENDED_MAX ? (oldestFirst[0] ?? '') : null
  return () => {
    ended.forgottenUpTo = forgottenUpTo
    // The id was older than all others and was forgotten at once.
    if (!ids.delete(call)) return
    remove(oldestFirst, call)
    if (dropped === null) return
    ids.add(dropped)
    push(oldestFirst, dropped)
  }
}

function push(heap: string[], call: string): void {
  heap.push(call)
  siftUp(heap, heap.length - 1, call)
}

function pop(heap: string[]): string {
  const root = heap[0] ?? ''
  const moved = heap.pop() ?? ''
  if (heap.length > 0) siftDown(heap, 0, moved)
  return root
}

function remove(heap: string[], call: string): void {
  const at = heap.indexOf(call)
  const moved = heap.pop() ?? ''
  if (at < heap.length) siftUp(heap, siftDown(heap, at, moved), moved)
}

/** Moves `call` from `at` upwards to its position in the heap. */
function siftUp(heap: string[], at: number, call: string): void {
  let place = at
  while (place > 0) {
    const parent = (place - 1) >> 1
    const above = heap[parent] ?? ''
    if (above <= call) break
    heap[place] = above
    place = parent
  }
  heap[place] = call
}

/** Moves `call` downwards in the same way; returns its position. */
function siftDown(heap: string[], at: number, call: string): number {
  let place = at
  for (;;) {
    const left = 2 * place + 1
    const right = left + 1
    const isRightOlder = right < heap.length && (heap[right] ?? '') < (heap[left] ?? '')
    const child = isRightOlder ? right : left
    const below = heap[child]
    if (below === undefined || call <= below) break
    heap[place] = below
    place = child
  }
  heap[place] = call
  return place
}

/** `remain` excludes what open calls hold. It is also counted while the token is unlimited. */
type TokenBudget = {
  remain: Quota
  isUnlimited: boolean
  /** Like `AccountState.emptiedAt`; it is above 0 after the budget was set to 0 or below. */
  readonly emptiedAt: number
}

/** A call that was admitted and has not ended. */
export type OpenCall = {
  readonly facts: CallFacts
  /** The number of the admission in the account, from 1. */
  readonly admission: number
  hold: Quota
  readonly price: PriceSnapshot
  readonly clientIp: Sealed | null
  /** Unix milliseconds. */
  readonly startedAt: number
  readonly isTask?: true
  leaseUntil: number
  progress: Progress | null
}

/** The channel of the call and its usage so far. */
type Progress = Pick<ProviderCost, 'costRatio'> & {
  readonly channelId: number
  readonly usage: Usage
}

/**
 * The state of an account. Folding changes it in place, so that an event costs the same however
 * many calls are open.
 */
export type AccountState = {
  balance: Quota
  /** The sum of the holds of all open calls. */
  held: Quota
  /** How many calls were admitted. */
  admissions: number
  /**
   * The value of `admissions` when a deduction or a refund left no free quota; 0 if none did, or if
   * quota was gained since. The calls that were admitted up to then must end. Later calls are paid
   * from what those calls returned.
   */
  emptiedAt: number
  readonly budgets: Map<number, TokenBudget>
  readonly open: Map<string, OpenCall>
  readonly ended: EndedCalls
  readonly grantIds: Set<string>
  readonly deductionIds: Set<string>
  /** Rewards of invitations that have not been transferred. */
  affiliate: Quota
  readonly inviteeIds: Set<number>
  readonly transferIds: Set<string>
  /** The day of the last check-in; empty before the first. */
  checkInDay: string
}

export const initialAccount = (): AccountState => ({
  balance: 0n,
  held: 0n,
  admissions: 0,
  emptiedAt: 0,
  budgets: new Map(),
  open: new Map(),
  ended: noEndedCalls(),
  grantIds: new Set(),
  deductionIds: new Set(),
  affiliate: 0n,
  inviteeIds: new Set(),
  transferIds: new Set(),
  checkInDay: '',
})
