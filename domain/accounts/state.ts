import type { PriceSnapshot, ProviderCost } from '../pricing/price-snapshot.ts'
import type { Usage } from '../pricing/usage.ts'
import type { Sealed } from '../shared/event.ts'
import type { Quota } from '../shared/quota.ts'
import type { SentRequest } from './call-event-members.ts'
import type { CallFacts, Served } from './events.ts'

/**
 * The ids of the last ended calls. The account recognizes repeated commands by these ids. Ids are
 * UUID v7 and sort by time. At most 8192 ids are kept. When a call ends, ids that are two days
 * older than the call are removed, except for the last 64 ids of the account. Otherwise, the
 * accounts of a large site would need a gigabyte for calls that nobody repeats. A removed id and
 * all earlier ids count as ended. A new call is therefore wrongly refused in two cases: more than
 * 8192 calls with later ids end before its admission, or at least 65 such calls end and two of them
 * arrived two days apart.
 */
export type EndedCalls = {
  readonly ids: Set<string>
  /** The ids as a binary heap. The oldest id is the root. */
  readonly oldestFirst: string[]
  /** The latest id that was removed, or an empty text if no id was removed. */
  forgottenUpTo: string
}

export const ENDED_MAX = 8_192
/** Twice the time during which a caller can repeat a call with its `Idempotency-Key`. */
const ENDED_KEPT_MS = 48 * 3_600_000
/**
 * The number of ids that are kept regardless of their age. Without these ids, two calls with wrong
 * times could block an account: if their times were weeks ahead and more than two days apart, the
 * account would refuse all calls until the clock reached the earlier time.
 */
export const ENDED_MIN = 64

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

/** Adds the id of an ended call, and removes ids that are too many or too old. */
export function addEndedCall(ended: EndedCalls, call: string): void {
  const { ids, oldestFirst } = ended
  ids.add(call)
  push(oldestFirst, call)
  if (oldestFirst.length > ENDED_MAX) forget(ended, pop(oldestFirst))
  for (const old of popBefore(oldestFirst, earliestKept(call), ENDED_MIN)) forget(ended, old)
}

function forget(ended: EndedCalls, call: string): void {
  ended.ids.delete(call)
  if (call > ended.forgottenUpTo) ended.forgottenUpTo = call
}

/** Rebuilds the ended calls of a stored state. The ids may be in any order. */
export function restoredEndedCalls(ids: readonly string[], forgottenUpTo: string): EndedCalls {
  const ended = { ...noEndedCalls(), forgottenUpTo }
  for (const call of ids) {
    ended.ids.add(call)
    push(ended.oldestFirst, call)
  }
  return ended
}

/**
 * Returns a function that reverts `addEndedCall`. Must be called before `addEndedCall`. Several
 * additions must be reverted in reverse order.
 */
export function undoAddedEndedCall(ended: EndedCalls, call: string): () => void {
  const { ids, oldestFirst, forgottenUpTo } = ended
  // The added call is one of the `ENDED_MIN` ids that are kept.
  const dropped = popBefore(oldestFirst, earliestKept(call), ENDED_MIN - 1)
  for (const old of dropped) push(oldestFirst, old)
  const [oldest] = oldestFirst
  if (oldestFirst.length >= ENDED_MAX && oldest !== undefined) dropped.push(oldest)
  return () => {
    ended.forgottenUpTo = forgottenUpTo
    if (ids.delete(call)) remove(oldestFirst, call)
    for (const old of dropped) {
      if (ids.has(old)) continue
      ids.add(old)
      push(oldestFirst, old)
    }
  }
}

/** The first eight digits of a UUID v7 count units of this length in milliseconds. */
const UNIT_MS = 65_536
const KEPT_UNITS = Math.ceil(ENDED_KEPT_MS / UNIT_MS)

/** The last result of `earliestKept`. All calls that arrive within the same 65 seconds share it. */
let latest = { start: '', earliest: '' }

/**
 * Returns the limit below which ids are too old when this call ends. An id that sorts before the
 * limit belongs to a call that arrived at least `ENDED_KEPT_MS` before this call. Ids stay up to
 * about two minutes longer, because the limit is in whole units of `UNIT_MS`. If the id of this
 * call is not a UUID v7, it contains no time. In this case, the limit is an empty text, and no id
 * sorts before it.
 */
function earliestKept(call: string): string {
  if (call[14] !== '7') return ''
  if (latest.start === '' || !call.startsWith(latest.start)) {
    const start = call.slice(0, 8)
    const units = Number.parseInt(start, 16) - KEPT_UNITS
    latest = { start, earliest: units > 0 ? units.toString(16).padStart(8, '0') : '' }
  }
  return latest.earliest
}

/**
 * Removes the ids that sort before `text`, oldest first, but leaves at least `min` ids in the heap.
 * Returns the removed ids.
 */
function popBefore(heap: string[], text: string, min: number): string[] {
  const removed: string[] = []
  while (heap.length > min && (heap[0] ?? text) < text) removed.push(pop(heap))
  return removed
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

/**
 * The budget of a token. `remain` does not include the holds of open calls. Calls change `remain`
 * even while the token is unlimited.
 */
type TokenBudget = {
  remain: Quota
  isUnlimited: boolean
  /**
   * The value of the account's `admissions` counter when an edit left the budget at 0 or below.
   * Open calls that were admitted before the edit are ended when their progress is recorded (see
   * `quotaUsedUpError`). The value is 0 if no call must end.
   */
  readonly emptiedAt: number
  /**
   * The number of times that the owner has set the budget since the token was created. Charges are
   * not counted.
   */
  readonly edits: number
}

export type OpenCall = {
  readonly facts: CallFacts
  /** The number of this admission, counted from 1 over all admissions of the account. */
  readonly admission: number
  hold: Quota
  readonly price: PriceSnapshot
  readonly clientIp: Sealed | null
  /** The time at which the request arrived, in Unix milliseconds. */
  readonly startedAt: number
  readonly isTask?: true
  /** Set if the call is a modal step: the task that the step completes. */
  readonly stepOf?: string
  leaseUntil: number
  progress: Progress | null
}

type Progress = Pick<ProviderCost, 'costRatio'> &
  Pick<SentRequest, 'formats' | 'calls'> & {
    readonly channelId: number
    readonly usage: Usage
    readonly served?: Served
  }

/**
 * The state of an account. Events change it in place, so that the time to apply an event does not
 * depend on the number of open calls.
 */
export type AccountState = {
  balance: Quota
  /** The sum of the holds of all open calls. */
  held: Quota
  admissions: number
  /**
   * The value of the `admissions` counter when a deduction, a refunded top-up or a correction left
   * the balance at 0 or below. Open calls that were admitted before this event are ended when their
   * progress is recorded (see `quotaUsedUpError`). The value is 0 if no call must end. It is reset
   * to 0 when added quota makes the balance positive.
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
