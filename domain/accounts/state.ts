import type { PriceSnapshot, ProviderCost } from '../pricing/price.ts'
import type { Usage } from '../pricing/usage.ts'
import type { Sealed } from '../shared/event.ts'
import type { Quota } from '../shared/quota.ts'
import type { CallFacts } from './events.ts'

/**
 * The calls that ended most recently, at most 8192, so that repeated commands are recognised. Ids
 * are UUID v7 and sort by time. Every id up to the youngest removed id also counts as ended. A new
 * call is therefore only refused if 8192 younger calls ended before its admission.
 */
export type EndedCalls = {
  readonly ids: Set<string>
  /** The ids as a binary heap. The oldest id is the root. */
  readonly oldestFirst: string[]
  /** The youngest id that was removed. It is empty if no id was removed. */
  forgottenUpTo: string
}

export const ENDED_MAX = 8_192

export const noEndedCalls = (): EndedCalls => ({
  ids: new Set(),
  oldestFirst: [],
  forgottenUpTo: '',
})

type CallMemory = 'ended' | 'too-old' | 'unknown'

export function findEndedCall({ ids, forgottenUpTo }: EndedCalls, call: string): CallMemory {
  if (ids.has(call)) return 'ended'
  return call <= forgottenUpTo ? 'too-old' : 'unknown'
}

/** Adds the id of an ended call in place, and removes the oldest id above the limit. */
export function addEndedCall(ended: EndedCalls, call: string): void {
  ended.ids.add(call)
  push(ended.oldestFirst, call)
  if (ended.oldestFirst.length <= ENDED_MAX) return
  const oldest = pop(ended.oldestFirst)
  ended.ids.delete(oldest)
  if (oldest > ended.forgottenUpTo) ended.forgottenUpTo = oldest
}

/**
 * Returns a function that reverts `addEndedCall`. Call `removeEndedCall` before `addEndedCall`, and
 * revert later changes first.
 */
export function removeEndedCall(ended: EndedCalls, call: string): () => void {
  const { ids, oldestFirst, forgottenUpTo } = ended
  const dropped = oldestFirst.length >= ENDED_MAX ? (oldestFirst[0] ?? '') : null
  return () => {
    ended.forgottenUpTo = forgottenUpTo
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

/** Moves `call` from the index `at` towards the root of the heap. */
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

/** Moves `call` from the index `at` away from the root. Returns its new index. */
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

/** `remain` excludes the holds of open calls, and is also updated while the token is unlimited. */
type TokenBudget = {
  remain: Quota
  isUnlimited: boolean
  /**
   * The value of the account's `admissions` at the time when the budget was set to 0 or below;
   * otherwise 0. Calls with an `admission` up to this value must end.
   */
  readonly emptiedAt: number
  /** How often the owner has set the budget since the token was created. Calls do not count. */
  readonly edits: number
}

export type OpenCall = {
  readonly facts: CallFacts
  /** The sequence number of the admission in the account, starting with 1. */
  readonly admission: number
  hold: Quota
  readonly price: PriceSnapshot
  readonly clientIp: Sealed | null
  /** The time at which the request arrived, in unix milliseconds. */
  readonly startedAt: number
  readonly isTask?: true
  leaseUntil: number
  progress: Progress | null
}

type Progress = Pick<ProviderCost, 'costRatio'> & {
  readonly channelId: number
  readonly usage: Usage
}

/**
 * Events change the state in place, so that the time for an event does not grow with the number of
 * open calls.
 */
export type AccountState = {
  balance: Quota
  /** The sum of the holds of all open calls. */
  held: Quota
  admissions: number
  /**
   * The value of `admissions` at the time when a deduction or a refund used up the free quota;
   * otherwise 0. Calls with an `admission` up to this value must end. Added quota resets the value
   * to 0.
   */
  emptiedAt: number
  readonly budgets: Map<number, TokenBudget>
  readonly open: Map<string, OpenCall>
  readonly ended: EndedCalls
  readonly grantIds: Set<string>
  readonly deductionIds: Set<string>
  /** The affiliate balance: rewards that have not been transferred to the balance. */
  affiliate: Quota
  readonly inviteeIds: Set<number>
  readonly transferIds: Set<string>
  /** The UTC day of the last check-in. It is empty before the first check-in. */
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
