import type { AdmitCall, ReleaseCall, SettleCall } from '#domain/accounts/commands.ts'
import { accountDecider } from '#domain/accounts/decide.ts'
import type {
  AccountEvent,
  CallAdmitted,
  CallProgressed,
  Movement,
} from '#domain/accounts/events.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'
import { isCodedError } from '#domain/shared/coded-error.ts'
import type { Sealed } from '#domain/shared/event.ts'
import type { WireQuota } from '#domain/shared/quota.ts'
import { specificationOf } from '#test/support/given-when-then.ts'
import { perTokenPrice } from '#test/support/per-token-price.ts'

/**
 * The decider of accounts. Its events lack `balanceAfter` and `heldAfter`, like those of earlier
 * versions. `random-operations.test.ts` checks both figures for all histories.
 */
export const deciderWithoutBalances: typeof accountDecider = {
  ...accountDecider,
  decide: (command, state) => {
    const outcome = accountDecider.decide(command, state)
    return isCodedError(outcome) ? outcome : outcome.map(withoutBalances)
  },
}

export const { given } = specificationOf(deciderWithoutBalances)

function withoutBalances(event: AccountEvent): AccountEvent {
  const { balanceAfter: _, heldAfter: __, ...data } = event.data as Partial<Movement>
  return { ...event, data } as AccountEvent
}

export const USER = 7
export const CALL = '019376a0-0000-7000-8000-000000000001'
/** Adding 0 replaces a negative zero, which no store returns. */
export const wire = (quota: number): WireQuota => (quota + 0) as WireQuota
export const used = (usage: Partial<Usage>): Usage => ({ ...NO_USAGE, ...usage })

/** Costs one quota per input token, and four per output token. */
export const PER_TOKEN: PriceSnapshot = perTokenPrice({ completion: '4' })
/** Costs ten quota per call. */
export const PER_CALL: PriceSnapshot = { mode: 'call', list: 3, price: '0.00002', group: '1' }

export const granted = (amount: number, grantId = 'g1'): AccountEvent => ({
  type: 'QuotaGranted',
  v: 1,
  data: {
    userId: USER,
    grantId,
    amount: wire(amount),
    reason: 'admin',
    postings: [
      ['adjustment', wire(-amount)],
      ['user:7:main', wire(amount)],
    ],
  },
})

export const deducted = (amount: number, deductionId = 'd1'): AccountEvent => ({
  type: 'QuotaDeducted',
  v: 1,
  data: {
    userId: USER,
    deductionId,
    amount: wire(amount),
    reason: 'admin',
    postings: [
      ['user:7:main', wire(-amount)],
      ['adjustment', wire(amount)],
    ],
  },
})

export const budgetSet = (remain: number, isUnlimited = false, tokenId = 1): AccountEvent => ({
  type: 'TokenBudgetSet',
  v: 1,
  data: { userId: USER, tokenId, remain: wire(remain), isUnlimited },
})

export const budgetClosed: AccountEvent = {
  type: 'TokenBudgetsClosed',
  v: 1,
  data: { userId: USER, tokenIds: [1] },
}

export const budgetsOpened = (remain: number, tokenIds: readonly number[]): AccountEvent => ({
  type: 'TokenBudgetsOpened',
  v: 1,
  data: { userId: USER, tokenIds, remain: wire(remain), isUnlimited: false },
})

/** An unlimited token on an account with the balance `balance`. */
export const funded = (balance: number): readonly AccountEvent[] => [
  granted(balance),
  budgetSet(0, true),
]

const FACTS = { userId: USER, tokenId: 1, model: 'm', group: 'default', isStream: true }
const IP = 'sealed-ip' as Sealed

export const admitCall = (change: Partial<AdmitCall> = {}): AdmitCall => ({
  type: 'AdmitCall',
  call: CALL,
  ...FACTS,
  hold: 40n,
  price: PER_TOKEN,
  leaseUntil: 2_000,
  clientIp: IP,
  startedAt: 1_000,
  ...change,
})

export const admitted = (hold = 40, change: Partial<CallAdmitted['data']> = {}): CallAdmitted => ({
  type: 'CallAdmitted',
  v: 1,
  data: {
    call: CALL,
    ...FACTS,
    price: PER_TOKEN,
    leaseUntil: 2_000,
    clientIp: IP,
    startedAt: 1_000,
    hold: wire(hold),
    postings: [
      ['user:7:main', wire(-hold)],
      ['user:7:held', wire(hold)],
    ],
    ...change,
  },
})

export const progressed = (
  usage: Usage,
  leaseUntil = 3_000,
  costRatio?: string,
): CallProgressed => {
  const place = { channelId: 5, ...(costRatio === undefined ? {} : { costRatio }) }
  const data = { call: CALL, userId: USER, ...place, usage, leaseUntil }
  return { type: 'CallProgressed', v: 1, data }
}

const COURSE = {
  attempts: [{ channelId: 5, status: 200, error: null, latencyMs: 30 }],
  timings: { startedAt: 1_000, firstByteMs: 20, durationMs: 90 },
}
const SETTLEMENT = {
  channelId: 5,
  upstreamModel: null,
  usageSource: 'upstream',
  anomaly: null,
  end: 'done',
  ...COURSE,
} as const

export const settleCall = (change: Partial<SettleCall> = {}): SettleCall => ({
  type: 'SettleCall',
  call: CALL,
  usage: used({ inputUncached: 10, output: 5 }),
  ...SETTLEMENT,
  ...change,
})

const ended = (hold: number, charge: number) => ({
  hold: wire(hold),
  postings: [
    ['user:7:held', wire(-hold)],
    ['revenue', wire(charge)],
    ['user:7:main', wire(hold - charge)],
  ] as const,
})

type Settled = Extract<AccountEvent, { type: 'CallSettled' }>

export const settled = (
  hold: number,
  charge: number,
  change: Partial<Settled['data']> = {},
): Settled => ({
  type: 'CallSettled',
  v: 1,
  data: {
    call: CALL,
    ...FACTS,
    ...SETTLEMENT,
    usage: used({ inputUncached: 10, output: 5 }),
    price: PER_TOKEN,
    clientIp: IP,
    charge: wire(charge),
    ...ended(hold, charge),
    ...change,
  },
})

const REJECTION = {
  channelId: null,
  reason: 'no-channel',
  errorCode: 'no_channel',
  statusCode: 503,
  ...COURSE,
} as const

export const releaseCall = (change: Partial<ReleaseCall> = {}): ReleaseCall => ({
  type: 'ReleaseCall',
  call: CALL,
  ...REJECTION,
  ...change,
})

export const released = (hold: number): AccountEvent => ({
  type: 'CallReleased',
  v: 1,
  data: { call: CALL, ...FACTS, ...REJECTION, clientIp: IP, ...ended(hold, 0) },
})

type Interrupted = Extract<AccountEvent, { type: 'CallInterrupted' }>

export const interrupted = (
  hold: number,
  charge: number,
  change: Partial<Interrupted['data']> = {},
): Interrupted => ({
  type: 'CallInterrupted',
  v: 1,
  data: {
    call: CALL,
    ...FACTS,
    channelId: null,
    usage: NO_USAGE,
    price: PER_TOKEN,
    startedAt: 1_000,
    clientIp: IP,
    charge: wire(charge),
    ...ended(hold, charge),
    ...change,
  },
})
