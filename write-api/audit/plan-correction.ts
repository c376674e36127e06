import { createHash, type Hash } from 'node:crypto'
import type { PlaceOfCorrectedCall } from '#domain/accounts/call-trace.ts'
import { type AccountEvent, accountStream } from '#domain/accounts/events.ts'
import type { Correction, CorrectionScope, CorrectionSums } from '#domain/corrections/events.ts'
import { changedPrice, chargeAtPrice } from '#domain/pricing/price-corrections.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { fromWire, toWire } from '#domain/shared/quota.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { firstRevision } from '#infra/event-store/binary-search-events.ts'
import { chargedUsers } from '#projections/logs/query.ts'
import type { SkipReason } from '../contract/corrections.ts'
import { correctionError } from './correction-errors.ts'

export type PlannedCall = PlaceOfCorrectedCall & {
  readonly call: string
  readonly tokenId: number
  /** The charge in force before the correction, and after it. */
  readonly charge: bigint
  readonly corrected: bigint
}

export type PlannedAccount = {
  readonly userId: number
  readonly calls: readonly PlannedCall[]
  /** The ids of the calls that the correction has already corrected. */
  readonly corrected: ReadonlySet<string>
}

export type CorrectionPlan = {
  /**
   * The digest of the scope, and of each call with its charge before and after. It identifies the
   * plan.
   */
  readonly id: string
  readonly sums: CorrectionSums
  readonly skipped: number
  /** The first of the skipped calls. */
  readonly skippedCalls: readonly SkippedCall[]
  readonly accounts: readonly PlannedAccount[]
  /**
   * The users whose events can't be read. If there are any, the plan is incomplete, and `id` is not
   * that of the complete plan.
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
   * If true, accounts whose events can't be read are listed in the plan. Otherwise, they cause an
   * exception.
   */
  readonly skipsUnreadable?: boolean
}

const { POSITIVE_INFINITY } = Number
/** A confirmed correction must be completed, so its plan has no limits. */
const NO_LIMITS = { callsMax: POSITIVE_INFINITY, until: POSITIVE_INFINITY, skipsUnreadable: true }

/**
 * Finds the calls of a scope, and their charges before and after the correction. The usage log is
 * used only to find the users with such calls. All other data comes from the events of their
 * accounts. The events of the correction `ownId` are ignored, so that an interrupted correction
 * gets the same plan again.
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
    const found = await planAccount(store, userId, scope, ownId, limits).catch((error: unknown) => {
      if (!skipsUnreadable) throw error
      unreadable.push(userId)
      return null
    })
    if (found === null) continue
    skipped += found.skipped
    skippedCalls.push(...found.skippedCalls.slice(0, SKIPPED_SHOWN_MAX - skippedCalls.length))
    calls += found.calls.length
    if (found.calls.length === 0) continue
    accounts.push({ userId, calls: found.calls, corrected: found.corrected })
    addToDigest(digest, userId, found.calls)
    for (const { charge, corrected } of found.calls) {
      if (corrected < charge) refunded += charge - corrected
      else charged += corrected - charge
    }
  }
  const sums = { calls, accounts: accounts.length }
  return {
    id: digest.digest('hex').slice(0, ID_LENGTH),
    sums: { ...sums, refunded: toWire(refunded), charged: toWire(charged) },
    ...{ skipped, skippedCalls, accounts, unreadable },
  }
}

/** Makes the plan of a started correction again, in order to complete it. */
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
 * Plans the correction of an account from the events since the start of the scope. Refunds come
 * first.
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

/** Plans the correction of a call. If the call can't be corrected, returns the reason. */
function planCall(event: EndedCall, { price: change }: CorrectionScope): PlannedCall | SkipReason {
  const { call, tokenId, charge, channelId, group, cost } = event.data
  if (event.type === 'CallSettled' && event.data.billedLines !== undefined) return 'batch'
  const price = changedPrice(event.data.price, change)
  if (price === null) return 'other-kind-of-price'
  const corrected = chargeAtPrice(event.data, price)
  const place = { channelId, group, isCosted: cost !== undefined }
  return { call, tokenId, charge: fromWire(charge), corrected, ...place }
}

/** Applies an earlier correction, so that the plan starts from the corrected charge. */
function applyEarlier(
  planned: Map<string, PlannedCall>,
  calls: readonly { readonly call: string; readonly corrected: number }[],
): void {
  for (const { call, corrected } of calls) {
    const before = planned.get(call)
    if (before !== undefined) planned.set(call, { ...before, charge: BigInt(corrected) })
  }
}
