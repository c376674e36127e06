import fc from 'fast-check'
import type { HoldTerms } from '#domain/accounts/affordable-terms.ts'
import type { AccountCommand } from '#domain/accounts/commands.ts'
import type { CallEnd } from '#domain/accounts/events.ts'
import { type CallBounds, holdFor } from '#domain/pricing/hold-amount.ts'
import type { PerTokenPrice, PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'
import type { Sealed } from '#domain/shared/event.ts'

/** `repeat` runs an earlier command again. `crash` loses the state in memory. */
export type Operation =
  | { readonly kind: 'command'; readonly command: AccountCommand }
  | { readonly kind: 'repeat'; readonly index: number }
  | { readonly kind: 'snapshot' }
  | { readonly kind: 'crash'; readonly from: 'events' | 'snapshot' }

export const USER = 7
const MAX = 2n ** 53n - 1n

const ratios = {
  cacheRead: '0.5',
  cacheWrite: '1.25',
  image: '2',
  audio: '8',
  audioCompletion: '2',
}
const tokens = (model: string, group: string): PerTokenPrice => ({
  mode: 'tokens',
  list: 3,
  model,
  completion: '4',
  ...ratios,
  group,
})
const PRICES: readonly PriceSnapshot[] = [
  tokens('1.25', '1'),
  tokens('0.075', '0.5'),
  tokens('0', '1'),
  { mode: 'call', list: 3, price: '0.00002', group: '1.5' },
]

const userId = fc.constant(USER)
const tokenId = fc.integer({ min: 1, max: 3 })
const call = fc.integer({ min: 0, max: 9 }).map((n) => `019376a0-0000-7000-8000-00000000000${n}`)
const small = fc.bigInt({ min: 0n, max: 60n })
const hold = fc.oneof(
  { weight: 15, arbitrary: fc.bigInt({ min: 0n, max: 20n }) },
  { weight: 1, arbitrary: fc.constantFrom(-1n, 61n, MAX + 1n) },
)
const amount = fc.oneof(
  { weight: 12, arbitrary: small },
  { weight: 1, arbitrary: fc.constantFrom(-1n, MAX - 30n, MAX, MAX + 1n) },
)
const usage: fc.Arbitrary<Usage> = fc
  .tuple(fc.nat(20), fc.nat(20), fc.nat(20), fc.nat(3))
  .map(([inputUncached, cacheRead, output, outputAudio]) => ({
    ...NO_USAGE,
    inputUncached,
    cacheRead,
    output: output + outputAudio,
    outputAudio,
  }))
const someUsage = fc.oneof(fc.constant(NO_USAGE), usage)
const time = fc.integer({ min: 1_000, max: 1_010 })
const end = fc.constantFrom<CallEnd>('done', 'client-gone', 'timeout', 'incomplete')
const timings = fc.constant({ startedAt: 900, firstByteMs: 5, durationMs: 50 })
const attempts = fc.constant([])
const channelId = fc.integer({ min: 1, max: 2 })

const record = <T extends AccountCommand>(
  model: {
    [K in keyof T]: fc.Arbitrary<T[K]>
  },
): fc.Arbitrary<T> => fc.record(model) as unknown as fc.Arbitrary<T>
type Of<Type extends AccountCommand['type']> = Extract<AccountCommand, { type: Type }>
const id = fc.integer({ min: 0, max: 5 }).map((n) => `id-${n}`)

const grant = record<Of<'GrantQuota'>>({
  type: fc.constant('GrantQuota'),
  userId,
  grantId: id,
  amount,
  reason: fc.constantFrom('setup', 'new-user', 'invited', 'admin'),
})
const deduct = record<Of<'DeductQuota'>>({
  type: fc.constant('DeductQuota'),
  userId,
  deductionId: id,
  amount,
  reason: fc.constant('admin'),
})
const setBalance: fc.Arbitrary<Of<'SetBalance'>> = fc
  .record({ id, balance: amount, expected: fc.option(small, { nil: undefined }) })
  .map(({ id: adjustmentId, balance, expected }) => ({
    ...{ type: 'SetBalance', userId: USER, adjustmentId, balance },
    ...(expected === undefined ? {} : { expected }),
  }))
const invite = record<Of<'RewardInvite'>>({
  type: fc.constant('RewardInvite'),
  userId,
  inviteeId: fc.integer({ min: 1, max: 5 }),
  reward: fc.oneof({ weight: 9, arbitrary: small }, { weight: 1, arbitrary: fc.constant(MAX) }),
})
const transfer = record<Of<'TransferAffiliate'>>({
  type: fc.constant('TransferAffiliate'),
  userId,
  transferId: id,
  amount,
  least: fc.constantFrom(1n, 5n),
})
const checkIn = record<Of<'CheckIn'>>({
  type: fc.constant('CheckIn'),
  userId,
  day: fc.integer({ min: 1, max: 9 }).map((n) => `2026-11-0${n}`),
  amount,
})
const orderId = fc.integer({ min: 1, max: 4 })
const refundNo = fc.integer({ min: 1, max: 2 })
const taken = fc.oneof(
  { weight: 12, arbitrary: fc.bigInt({ min: 0n, max: 20n }) },
  { weight: 1, arbitrary: fc.constantFrom(-1n, MAX, MAX + 1n) },
)
const provider = fc.constant('epay')
const credit = record<Of<'CreditTopUp'>>({
  type: fc.constant('CreditTopUp'),
  userId,
  orderId,
  provider,
  amount,
})
const reverse = record<Of<'ReverseTopUp'>>({
  type: fc.constant('ReverseTopUp'),
  userId,
  orderId,
  refundNo,
  provider,
  amount: taken,
  note: fc.constant('sealed:why' as Sealed),
})
const rebate = record<Of<'EarnRebate'>>({
  type: fc.constant('EarnRebate'),
  userId,
  orderId,
  inviteeId: fc.constant(9),
  amount: small,
})
const unrebate = record<Of<'ReverseRebate'>>({
  type: fc.constant('ReverseRebate'),
  userId,
  orderId,
  refundNo,
  amount: taken,
})
const setBudget: fc.Arbitrary<Of<'SetTokenBudget'>> = fc
  .record(
    {
      ...{ tokenId, remain: amount, expected: small, isUnlimited: fc.boolean() },
      edits: fc.nat({ max: 2 }),
    },
    { requiredKeys: ['tokenId'] },
  )
  .map((change) => ({ type: 'SetTokenBudget', userId: USER, ...change }))
const tokenIds = fc.uniqueArray(tokenId, { minLength: 1, maxLength: 3 })
const openBudgets = record<Of<'OpenTokenBudgets'>>({
  type: fc.constant('OpenTokenBudgets'),
  userId,
  tokenIds,
  remain: amount,
  isUnlimited: fc.boolean(),
})
const closeBudgets = record<Of<'CloseTokenBudgets'>>({
  type: fc.constant('CloseTokenBudgets'),
  userId,
  tokenIds,
})
/** Leaves out terms whose hold is not lower than the hold before them. */
function inDescendingOrder(all: readonly HoldTerms[], below: bigint): readonly HoldTerms[] {
  let lowest = below
  return all.filter(({ hold }) => {
    if (hold >= lowest) return false
    lowest = hold
    return true
  })
}

/** Returns terms whose hold is that of the bounds, with at most `most` tokens of output. */
function reducible({ price }: HoldTerms, within: CallBounds, most: number): HoldTerms {
  const bounds = { ...within, outputTokens: Math.min(most, within.outputTokens) }
  const { outputTokens: mostOutputTokens } = bounds
  const reduction = { bounds, leastOutputTokens: 1, mostOutputTokens }
  return { price, hold: holdFor(price, bounds), reduction }
}

const admit: fc.Arbitrary<Of<'AdmitCall'>> = fc
  .record({
    call,
    tokenId,
    hold,
    price: fc.constantFrom(...PRICES),
    leaseUntil: time,
    calls: fc.constantFrom(undefined, 1, 3),
    task: fc.constantFrom(undefined, undefined, { openMax: 2 }),
    bounds: fc.record({
      inputTokens: fc.nat(5),
      outputTokens: fc.integer({ min: 1, max: 20 }),
      choices: fc.constantFrom(1, 2),
    }),
    isReducible: fc.boolean(),
    timesPayable: fc.constantFrom(1n, 1n, 8n),
    cheaper: fc.array(
      fc.record({ hold, price: fc.constantFrom(...PRICES), most: fc.constantFrom(null, 5, 20) }),
      { maxLength: 3 },
    ),
  })
  .map(({ calls, task, bounds, isReducible, timesPayable, cheaper, ...terms }) => ({
    type: 'AdmitCall',
    userId: USER,
    model: 'm',
    group: 'default',
    isStream: true,
    clientIp: null,
    startedAt: 900,
    ...terms,
    ...(calls === undefined ? {} : { calls }),
    ...(task === undefined ? {} : { task }),
    ...(isReducible && task === undefined
      ? {
          hold: holdFor(terms.price, bounds),
          reduction: {
            ...{ bounds, leastOutputTokens: 1, mostOutputTokens: bounds.outputTokens },
            ...(timesPayable === 1n ? {} : { timesPayable }),
          },
          cheaper: inDescendingOrder(
            cheaper.map(({ most, ...each }) =>
              most === null ? each : reducible(each, bounds, most),
            ),
            holdFor(terms.price, bounds),
          ),
        }
      : {}),
  }))
const progress = record<Of<'RecordProgress'>>({
  type: fc.constant('RecordProgress'),
  call,
  channelId,
  usage: someUsage,
  leaseUntil: time,
})
const raise: fc.Arbitrary<Of<'RaiseHold'>> = fc
  .record({ call, least: fc.bigInt({ min: 0n, max: 30n }), more: fc.bigInt({ min: 0n, max: 30n }) })
  .map(({ call, least, more }) => ({ type: 'RaiseHold', call, least, hold: least + more }))
const settle: fc.Arbitrary<Of<'SettleCall'>> = fc
  .record({ call, channelId, usage: someUsage, isLimited: fc.boolean(), end, attempts, timings })
  .map(({ isLimited, ...course }) => ({
    type: 'SettleCall',
    upstreamModel: null,
    usageSource: 'upstream',
    anomaly: null,
    ...course,
    ...(isLimited ? { limits: { inputTokens: 2, outputTokens: 1 } } : {}),
  }))
const release = record<Of<'ReleaseCall'>>({
  type: fc.constant('ReleaseCall'),
  call,
  channelId: fc.constant(null),
  reason: fc.constant('no-channel'),
  errorCode: fc.constant('no_channel'),
  statusCode: fc.constant(503),
  attempts,
  timings,
})
const interrupt = record<Of<'InterruptCall'>>({
  type: fc.constant('InterruptCall'),
  call,
  at: time,
})

const command: fc.Arbitrary<AccountCommand> = fc.oneof(
  { weight: 3, arbitrary: grant },
  { weight: 1, arbitrary: deduct },
  { weight: 1, arbitrary: setBalance },
  { weight: 2, arbitrary: invite },
  { weight: 2, arbitrary: transfer },
  { weight: 1, arbitrary: checkIn },
  { weight: 1, arbitrary: credit },
  { weight: 1, arbitrary: reverse },
  { weight: 1, arbitrary: rebate },
  { weight: 1, arbitrary: unrebate },
  { weight: 3, arbitrary: setBudget },
  { weight: 1, arbitrary: openBudgets },
  { weight: 1, arbitrary: closeBudgets },
  { weight: 12, arbitrary: admit },
  { weight: 5, arbitrary: progress },
  { weight: 4, arbitrary: raise },
  { weight: 8, arbitrary: settle },
  { weight: 2, arbitrary: release },
  { weight: 2, arbitrary: interrupt },
)

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 20, arbitrary: command.map((made) => ({ kind: 'command', command: made }) as const) },
  {
    weight: 4,
    arbitrary: fc.nat(99).map((index) => ({ kind: 'repeat', index }) as const),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'snapshot' } as const) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom<'events' | 'snapshot'>('events', 'snapshot')
      .map((from) => ({ kind: 'crash', from }) as const),
  },
)

/**
 * Up to a hundred operations. The account starts with a grant and a budget, so that calls are
 * admitted.
 */
export const operations: fc.Arbitrary<readonly Operation[]> = fc
  .tuple(small, small, fc.array(operation, { maxLength: 100, size: 'max' }))
  .map(([granted, budget, others]) => {
    const first: AccountCommand[] = [
      { type: 'GrantQuota', userId: USER, grantId: 'first', amount: granted * 3n, reason: 'setup' },
      { type: 'SetTokenBudget', userId: USER, tokenId: 1, remain: budget, isUnlimited: false },
      { type: 'SetTokenBudget', userId: USER, tokenId: 2, remain: 0n, isUnlimited: true },
    ]
    return [...first.map((made) => ({ kind: 'command', command: made }) as const), ...others]
  })
