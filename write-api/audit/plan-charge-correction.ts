import { createHash, type Hash } from 'node:crypto'
import type { CorrectedCallAttributes } from '#domain/accounts/call-event-members.ts'
import { type AccountEvent, accountStream } from '#domain/accounts/events.ts'
import type { Correction } from '#domain/corrections/decide.ts'
import type { CorrectionScope, CorrectionSums } from '#domain/corrections/events.ts'
import { applyPriceCorrection, chargeAtPrice } from '#domain/pricing/charge-at-corrected-price.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { fromWire, QUOTA_MAX, toWire } from '#domain/shared/quota.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { firstRevision } from '#infra/event-store/binary-search-events.ts'
import { chargedUsers } from '#projections/logs/query.ts'
import type { SkipReason } from '../contract/repricing-and-corrections.ts'
import { correctionError } from './audit-errors.ts'

export type PlannedCall = CorrectedCallAttributes & {
  readonly call: string
  readonly tokenId: number
  /**
   * The charge of the call before this correction. This charge includes earlier corrections.
   * `corrected` is the charge after this correction.
   */
  readonly charge: bigint
  readonly corrected: bigint
}

export type PlannedAccount = {
  readonly userId: number
  readonly calls: readonly PlannedCall[]
  /** The ids of the account's calls that an earlier run of this correction has corrected. */
  readonly corrected: ReadonlySet<string>
}

export type CorrectionPlan = {
  /**
   * Identifies the plan. It is a digest of the scope, and of each changed call with its user and
   * its charges before and after the correction.
   */
  readonly id: string
  readonly sums: CorrectionSums
  readonly skipped: number
  /**
   * The first skipped calls, up to a maximum number. `skipped` is the number of all skipped calls.
   */
  readonly skippedCalls: readonly SkippedCall[]
  readonly accounts: readonly PlannedAccount[]
  /**
   * The users whose events can't be read. If there are such users, the plan is incomplete, and `id`
   * is not the id of the complete plan.
   */
  readonly unreadable: readonly number[]
}

export type SkippedCall = {
  readonly call: string
  readonly userId: number
  readonly reason: SkipReason
}

const PAGE = 500
const CALLS_MAX = 50_000
const TIME_MAX_MS = 25_000
const CLOCKS_MS = 60_000
const ID_LENGTH = 32
const SKIPPED_SHOWN_MAX = 100

type Limits = {
  readonly callsMax: number
  readonly until: number
  /**
   * If true, users whose events can't be read are listed in the plan. If false, the plan fails if
   * the events of a user can't be read.
   */
  readonly skipsUnreadable?: boolean
}

const { POSITIVE_INFINITY } = Number
/**
 * Limits that no plan reaches. They are used for a confirmed correction, because such a correction
 * must be completed.
 */
const NO_LIMITS = { callsMax: POSITIVE_INFINITY, until: POSITIVE_INFINITY, skipsUnreadable: true }

/**
 * Plans a correction: finds the calls in a scope, and computes their charges before and after the
 * correction. The usage log only tells which users have calls in the scope. All other data comes
 * from the events of these users' accounts. `ownId` is the id of an interrupted correction, or
 * null. The events of the interrupted correction are ignored, so that the result is the original
 * plan.
 */
export async function planCorrection(
  { store, db }: Pick<Core, 'store' | 'db'>,
  scope: CorrectionScope,
  ownId: string | null,
  limitsOfPlan: Limits = { callsMax: CALLS_MAX, until: performance.now() + TIME_MAX_MS },
): Promise<CorrectionPlan> {
  const { callsMax, until, skipsUnreadable = false } = limitsOfPlan
  const unreadable: number[] = []
  const digest = createHash('sha256').update(JSON.stringify(scope))
  const accounts: PlannedAccount[] = []
  const skippedCalls: SkippedCall[] = []
  let [skipped, calls, refunded, charged] = [0, 0, 0n, 0n]
  for (const userId of await chargedUsers(db, scope)) {
    const limits = { callsMax: callsMax - calls, until }
    const planned = await planAccount(store, userId, scope, ownId, limits).catch(
      (error: unknown) => {
        if (!skipsUnreadable) throw error
        unreadable.push(userId)
        return null
      },
    )
    if (planned === null) continue
    skipped += planned.skipped
    skippedCalls.push(...planned.skippedCalls.slice(0, SKIPPED_SHOWN_MAX - skippedCalls.length))
    calls += planned.calls.length
    if (planned.calls.length === 0) continue
    accounts.push({ userId, calls: planned.calls, corrected: planned.corrected })
    addToDigest(digest, userId, planned.calls)
    const changes = sumChanges(planned.calls)
    refunded += changes.refunded
    charged += changes.charged
  }
  if (charged > QUOTA_MAX || refunded > QUOTA_MAX) throw correctionError('CorrectionOutOfRange')
  const sums = { calls, accounts: accounts.length }
  return {
    id: digest.digest('hex').slice(0, ID_LENGTH),
    sums: { ...sums, refunded: toWire(refunded), charged: toWire(charged) },
    ...{ skipped, skippedCalls, accounts, unreadable },
  }
}

/** Returns the sum of the refunds for the calls, and the sum of their additional charges. */
export function sumChanges(calls: readonly PlannedCall[]) {
  const sums = { refunded: 0n, charged: 0n }
  for (const { charge, corrected } of calls) {
    if (corrected < charge) sums.refunded += charge - corrected
    else sums.charged += corrected - charge
  }
  return sums
}

/** Computes the plan of a correction that has already started, in order to complete it. */
export const planAgain = (
  core: Pick<Core, 'store' | 'db'>,
  { id, scope }: Pick<Correction, 'id' | 'scope'>,
): Promise<CorrectionPlan> => planCorrection(core, scope, id, NO_LIMITS)

function addToDigest(digest: Hash, userId: number, calls: readonly PlannedCall[]): void {
  for (const { call, charge, corrected } of calls) {
    digest.update(`\n${userId} ${call} ${charge} ${corrected}`)
  }
}

type PlannedScope = Pick<CorrectionPlan, 'skipped' | 'skippedCalls'> &
  Omit<PlannedAccount, 'userId'>

/**
 * Plans the correction of one account. Reads the account's events from a minute before the start of
 * the scope. In the result, calls with refunds come first.
 */
async function planAccount(
  store: Core['store'],
  userId: number,
  scope: CorrectionScope,
  ownId: string | null,
  { callsMax, until }: Limits,
): Promise<PlannedScope> {
  const stream = accountStream(userId)
  const start = scope.from * 1_000 - CLOCKS_MS
  const planned = new Map<string, PlannedCall>()
  const skippedCalls: SkippedCall[] = []
  const corrected = new Set<string>()
  let skipped = 0
  let revision = await firstRevision(store, stream, ({ meta }) => meta.at >= start)
  for (;;) {
    const events = (await store.readStream(stream, revision, PAGE)) as Recorded<AccountEvent>[]
    for (const event of events) {
      if (event.type === 'ChargeCorrected') {
        const { calls } = event.data
        if (event.data.correctionId !== ownId) applyEarlier(planned, calls)
        else for (const { call } of calls) corrected.add(call)
        continue
      }
      if (!isInScope(event, scope)) continue
      const call = planCall(event, scope)
      if (typeof call === 'string') {
        skipped += 1
        if (skippedCalls.length < SKIPPED_SHOWN_MAX) {
          skippedCalls.push({ call: event.data.call, userId, reason: call })
        }
      } else planned.set(call.call, call)
    }
    if (planned.size > callsMax + PAGE || performance.now() > until) {
      throw correctionError('CorrectionTooLarge', { max: CALLS_MAX })
    }
    if (events.length < PAGE) break
    revision += events.length
  }
  const changed = [...planned.values()].filter(({ charge, corrected }) => charge !== corrected)
  if (changed.length > callsMax) throw correctionError('CorrectionTooLarge', { max: CALLS_MAX })
  const [refunds, raises] = [true, false].map((isRefund) =>
    changed.filter(({ charge, corrected }) => corrected < charge === isRefund),
  ) as [PlannedCall[], PlannedCall[]]
  return { calls: [...refunds, ...raises], corrected, skipped, skippedCalls }
}

type EndedCall = Extract<Recorded<AccountEvent>, { type: 'CallSettled' | 'CallInterrupted' }>

function isInScope(event: Recorded<AccountEvent>, scope: CorrectionScope): event is EndedCall {
  if (event.type !== 'CallSettled' && event.type !== 'CallInterrupted') return false
  const { data, meta, position } = event
  const second = Math.floor(meta.at / 1_000)
  if (position > scope.upTo || second < scope.from || second > scope.to) return false
  return data.model === scope.model && (scope.group === null || data.group === scope.group)
}

/** Plans the correction of one call, or returns the reason why it can't be corrected. */
function planCall(event: EndedCall, { price: change }: CorrectionScope): PlannedCall | SkipReason {
  const { call, tokenId, charge, channelId, group, cost } = event.data
  if (event.type === 'CallSettled' && event.data.billedLines !== undefined) return 'batch'
  const price = applyPriceCorrection(event.data.price, change)
  if (price === null) return 'other-kind-of-price'
  const corrected = chargeAtPrice(event.data, price)
  const place = { channelId, group, isCosted: cost !== undefined }
  return { call, tokenId, charge: fromWire(charge), corrected, ...place }
}

/**
 * Replaces the charges of planned calls with their charges after an earlier correction. The new
 * correction starts from these charges.
 */
function applyEarlier(
  planned: Map<string, PlannedCall>,
  calls: readonly { readonly call: string; readonly corrected: number }[],
): void {
  for (const { call, corrected } of calls) {
    const before = planned.get(call)
    if (before !== undefined) planned.set(call, { ...before, charge: BigInt(corrected) })
  }
}
