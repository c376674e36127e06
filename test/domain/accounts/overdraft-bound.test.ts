import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AccountEvent } from '#domain/accounts/events.ts'
import { holdFor } from '#domain/pricing/hold-amount.ts'
import type { PerTokenPrice, PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import {
  inputTokensOf,
  NO_USAGE,
  type Usage,
  type UsageCount,
  type UsageLimits,
  usageWithin,
} from '#domain/pricing/usage.ts'
import { isCodedError } from '#domain/shared/coded-error.ts'
import { fromWire } from '#domain/shared/quota.ts'
import { exactCharge, type Fraction, recomputedCharge } from '../pricing/independent-charge.ts'
import {
  Account,
  type CallRequest,
  MeteredCall,
  type Model,
  type Report,
  USER,
} from './metered-calls.ts'

/**
 * The bound in README.md. An account or limited token with a quota of 0 or more owes nothing.
 * A quota below 0 is at least the negative sum, over the open-ended streams that were open when the
 * quota was last 0 or more, of ceil(1 024 × the dearest output ratio × the model's ratio × the
 * group's ratio).
 * A stream is open-ended if the caller, the model and the gateway set no output limit. Every other
 * call adds 0, because usage beyond its hold is charged only if it can be paid.
 */
const STEP_TOKENS = 1_024n
const RUNS = 600
const LEASE_UNTIL = 1_000
const TOKENS = [1, 2, 3] as const

const tokens = (
  model: string,
  completion: string,
  group: string,
  images: Pick<PerTokenPrice, 'imageCompletion'> = {},
): PerTokenPrice => ({
  ...{ mode: 'tokens', list: 1, model, completion, group },
  ...{ cacheRead: '0.5', cacheWrite: '1.25', image: '1.5', audio: '1.5', audioCompletion: '2' },
  ...images,
})
const PRICES: readonly PriceSnapshot[] = [
  tokens('1.25', '4', '1'),
  tokens('0.0333', '1', '0.7'),
  tokens('15', '5', '1.1', { imageCompletion: '50' }),
  tokens('0', '1', '1'),
  { mode: 'call', list: 1, price: '0.002', group: '1.5' },
]
/** Prices whose tiers the tokens of the tests reach. */
const TIERED: readonly PerTokenPrice[] = [
  {
    ...tokens('1.25', '4', '1', { imageCompletion: '0.5' }),
    tiers: [{ above: 100, input: '2', output: '1.5' }],
  },
  {
    ...tokens('0.0333', '1', '0.7'),
    tiers: [
      { above: 8, input: '5', output: '5' },
      { above: 2_000, input: '7', output: '5' },
    ],
  },
]
const MODELS: readonly Model[] = [...PRICES, ...TIERED].flatMap((price, index) => [
  { name: `capped-${index}`, price, outputCap: 3_000 },
  { name: `unknown-${index}`, price, outputCap: null },
])

const MILLION = 1_000_000n
/** Ratios with up to six decimals, as whole millionths. */
const millionths = (text: string): bigint => BigInt(Math.round(Number(text) * Number(MILLION)))

/** Computed from the ratios alone, without the product's arithmetic. */
function stepPriceOf(price: PriceSnapshot): bigint {
  if (price.mode === 'call') return 0n
  const text = millionths(price.completion) * MILLION
  const audio = millionths(price.audio) * millionths(price.audioCompletion)
  const image = millionths(price.imageCompletion ?? '0') * MILLION
  const dearest = [text, audio, image].reduce((a, b) => (a > b ? a : b))
  const tier = millionths(price.tiers?.at(-1)?.output ?? '1')
  const ratio = dearest * tier * millionths(price.model) * millionths(price.group)
  const scale = MILLION ** 5n
  return (STEP_TOKENS * ratio + scale - 1n) / scale
}

type Operation =
  | { readonly kind: 'admit'; readonly request: CallRequest; readonly count: number }
  | { readonly kind: 'deliver'; readonly call: number; readonly words: number }
  | { readonly kind: 'learn-hold'; readonly call: number }
  | { readonly kind: 'progress'; readonly call: number; readonly rawUsage: unknown }
  | { readonly kind: 'die' | 'sweep'; readonly call: number }
  | { readonly kind: 'settle'; readonly call: number; readonly report: Report }
  | { readonly kind: 'grant' | 'deduct'; readonly amount: bigint }
  /** An admin deducts the whole balance that no call holds. */
  | { readonly kind: 'drain' }
  | {
      readonly kind: 'budget'
      readonly tokenId: number
      readonly remain: bigint
      readonly isUnlimited: boolean
    }

/** Mostly selects one of the oldest calls, so that some streams become long. */
const call = fc.oneof({ weight: 3, arbitrary: fc.nat(1) }, { weight: 1, arbitrary: fc.nat(99) })
const funds = fc.oneof(
  { weight: 1, arbitrary: fc.bigInt({ min: 1n, max: 5_000n }) },
  { weight: 3, arbitrary: fc.bigInt({ min: 5_000n, max: 40_000n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: 40_000n, max: 400_000n }) },
)
const request: fc.Arbitrary<CallRequest> = fc.record({
  model: fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(...MODELS) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(...MODELS.filter(({ outputCap }) => outputCap === null)),
    },
  ),
  tokenId: fc.constantFrom(...TOKENS),
  isStream: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.constant(false)),
  maxTokens: fc.option(fc.integer({ min: 1, max: 9_000 }), { freq: 1 }),
  override: fc.option(fc.integer({ min: 1, max: 9_000 }), { freq: 1 }),
  choices: fc.constantFrom(1, 1, 1, 3),
  textBytes: fc.constantFrom(6, 6, 6, 6, 6, 5_000, 20_000),
  countedShare: fc.constantFrom(0.25, 0.4, 1),
  hasHourCache: fc.boolean(),
  allowsHourCache: fc.boolean(),
})

const promptTokens = fc.oneof(fc.nat(500), fc.nat(20_000))
/** The usage of a provider that reports correctly, not at all, or wrongly. */
const rawUsage = fc.oneof(
  fc.constant(undefined),
  fc.constant({ prompt_tokens: 0, completion_tokens: 0 }),
  fc.constant({ prompt_tokens: 9_999_999, completion_tokens: 9_999_999 }),
  fc.constantFrom({ prompt_tokens: -1, completion_tokens: 5 }, { completion_tokens: 1e300 }),
  /** The most expensive input that the cache prices allow, with a long answer. */
  fc.tuple(promptTokens, fc.nat(20_000)).map(([prompt, completion]) => ({
    prompt_tokens: prompt,
    completion_tokens: completion,
    prompt_tokens_details: { cache_write_tokens: prompt },
  })),
  /** Writes to a longer cache than the request may ask for. */
  fc.tuple(promptTokens, fc.nat(20_000)).map(([prompt, completion]) => ({
    prompt_tokens: prompt,
    completion_tokens: completion,
    prompt_tokens_details: {
      cache_write_tokens: prompt,
      cache_write_tokens_details: { ttl_12h_tokens: prompt },
    },
  })),
  fc
    .tuple(promptTokens, fc.nat(20_000), promptTokens, fc.nat(20_000))
    .map(([prompt, completion, cached, audio]) => ({
      prompt_tokens: prompt,
      completion_tokens: completion,
      prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: cached },
      completion_tokens_details: { audio_tokens: audio },
    })),
)
const report: fc.Arbitrary<Report> = fc.record({
  rawUsage,
  isWhole: fc.boolean(),
  countFactor: fc.constantFrom(0.5, 1, 3),
})

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('admit' as const),
      request,
      count: fc.constantFrom(1, 1, 2, 60),
    }),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      kind: fc.constant('deliver' as const),
      call,
      words: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 6_000 })),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('learn-hold' as const), call }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('progress' as const), call, rawUsage }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('die' as const), call }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sweep' as const), call }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('settle' as const), call, report }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('grant' as const), amount: funds }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deduct' as const), amount: funds }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'drain' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('budget' as const),
      tokenId: fc.constantFrom(...TOKENS),
      remain: fc.oneof(fc.constant(0n), funds),
      isUnlimited: fc.boolean(),
    }),
  },
)

const scenario = fc.record({
  /** The account's initial balance in excess of the limited token's quota. */
  more: fc.oneof(fc.constant(0n), funds, fc.constant(10_000_000n)),
  /** The limit of tokens 1 and 3. Token 2 is unlimited. */
  remain: funds,
  defaultOutputCap: fc.constantFrom(500, 2_048, 6_000),
  preConsumedQuota: fc.constantFrom(0n, 0n, 3_000n),
  operations: fc.array(operation, { minLength: 20, maxLength: 80, size: 'max' }),
  /** The report with which the remaining calls end. */
  last: report,
})
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never

const seen = new Map<string, number>()
const count = (kind: string): void => {
  seen.set(kind, (seen.get(kind) ?? 0) + 1)
}

const settleLive = async (target: MeteredCall, made: Report): Promise<void> => {
  if (!target.isOrphaned) await target.settle(made)
}

/**
 * An account with its calls, and the amount that the account and its tokens may owe at the moment.
 */
class Run {
  private readonly account = new Account((event) => this.check(event))
  private readonly calls: MeteredCall[] = []
  private readonly terms: Pick<Scenario, 'defaultOutputCap' | 'preConsumedQuota'>
  private readonly mayOwe = new Map<'account' | number, bigint>()
  private readonly counted = new Set<string>()
  private commands = 0
  private admitted = 0

  constructor({ more, remain, defaultOutputCap, preConsumedQuota }: Scenario) {
    this.terms = { defaultOutputCap, preConsumedQuota }
    this.change({ kind: 'grant', amount: remain + more })
    for (const tokenId of TOKENS) {
      this.change({ kind: 'budget', tokenId, remain, isUnlimited: tokenId === 2 })
    }
  }

  async step(operation: Operation): Promise<void> {
    if (!('call' in operation)) {
      this.change(operation)
      return this.grantSteps()
    }
    const at = operation.call % Math.max(1, this.calls.length)
    const target = this.calls[at]
    if (target === undefined) return
    if (operation.kind === 'deliver') target.deliver(operation.words)
    else if (operation.kind === 'learn-hold') target.learnHold()
    else if (operation.kind === 'progress') target.recordProgress(operation.rawUsage)
    else if (operation.kind === 'die') target.isOrphaned = true
    else if (operation.kind === 'settle') await settleLive(target, operation.report)
    else this.sweep(target)
    this.forgetEnded()
  }

  /** Ends all remaining calls, so that no hold is left. */
  async finish(last: Report): Promise<void> {
    for (const open of [...this.calls]) {
      if (open.isOrphaned) open.interrupt()
      else await open.settle(last)
      this.forgetEnded()
    }
    expect(this.account.state.held).toBe(0n)
    expect(this.account.state.open.size).toBe(0)
  }

  private change(operation: Exclude<Operation, { readonly call: number }>): void {
    this.commands += 1
    const id = `id-${this.commands}`
    const ofUser = { userId: USER, reason: 'admin' as const }
    switch (operation.kind) {
      case 'admit':
        for (let made = 0; made < operation.count; made += 1) this.admit(operation.request)
        return
      case 'grant':
        this.account.handle({
          type: 'GrantQuota',
          ...ofUser,
          grantId: id,
          amount: operation.amount,
        })
        return
      case 'deduct':
      case 'drain': {
        const { balance } = this.account.state
        const amount = operation.kind === 'drain' ? balance : operation.amount
        this.account.handle({ type: 'DeductQuota', ...ofUser, deductionId: id, amount })
        return
      }
      case 'budget': {
        const { kind, ...budget } = operation
        this.account.handle({ type: 'SetTokenBudget', userId: USER, ...budget })
      }
    }
  }

  private admit(asked: CallRequest): void {
    this.admitted += 1
    const id = `019376a0-0000-7000-8000-${String(this.admitted).padStart(12, '0')}`
    const { defaultOutputCap, preConsumedQuota } = this.terms
    const made = MeteredCall.admit(this.account, id, asked, defaultOutputCap, preConsumedQuota)
    if (made === null) return count('refused')
    if (made.isCounted) {
      count('counted')
      this.counted.add(id)
    }
    this.calls.push(made)
  }

  private sweep(target: MeteredCall): void {
    if (target.isOrphaned) target.interrupt()
  }

  private forgetEnded(): void {
    const { open } = this.account.state
    const left = this.calls.filter(({ id }) => open.has(id))
    this.calls.splice(0, this.calls.length, ...left)
    this.grantSteps()
  }

  /**
   * Recomputes the bound of each payer that owes nothing: it may later owe one progress step for
   * each of its open-ended streams that are open now.
   */
  private grantSteps(): void {
    for (const [payer, quota] of this.payers()) {
      if (quota < 0n) continue
      const streams = this.calls.filter(
        ({ isOpenEnded, request: { tokenId } }) =>
          isOpenEnded && (payer === 'account' || payer === tokenId),
      )
      const steps = streams.map((stream) => stepPriceOf(stream.request.model.price))
      this.mayOwe.set(
        payer,
        steps.reduce((sum, price) => sum + price, 0n),
      )
    }
  }

  private check(event: AccountEvent): void {
    count(event.type)
    if (event.type === 'CallAdmitted' && event.data.outputLimit !== undefined) count('reduced')
    if (event.type === 'CallSettled' && event.data.unpaidUsage !== undefined) {
      count(event.data.isStream ? 'unpaid usage of a stream' : 'unpaid usage of a plain call')
      if (this.counted.has(event.data.call)) count('unpaid usage of a counted call')
    }
    for (const [payer, quota] of this.payers()) {
      if (quota >= 0n) continue
      count(payer === 'account' ? 'debt of the account' : 'debt of a token')
      const mayOwe = this.mayOwe.get(payer) ?? 0n
      expect(-quota, `${payer} owes after ${event.type}`).toBeLessThanOrEqual(mayOwe)
    }
  }

  private payers(): readonly (readonly ['account' | number, bigint])[] {
    const { balance, budgets } = this.account.state
    const limited = [...budgets].filter(([, { isUnlimited }]) => !isUnlimited)
    return [['account', balance], ...limited.map(([id, { remain }]) => [id, remain] as const)]
  }
}

describe('the cost that the open calls of an account or a token can still cause', () => {
  it('exceeds the available quota by at most one step per open-ended stream', async () => {
    const property = fc.asyncProperty(scenario, async (made) => {
      const run = new Run(made)
      for (const operation of made.operations) await run.step(operation)
      await run.finish(made.last)
    })
    await fc.assert(property, { numRuns: RUNS })
  }, 300_000)

  it('is tested with debts, refusals, interruptions, and raised, reduced and counted holds', () => {
    const events = ['CallAdmitted', 'CallProgressed', 'HoldRaised', 'CallSettled']
    const limits = ['CallInterrupted', 'reduced', 'refused', 'QuotaDeducted']
    const unpaid = ['unpaid usage of a stream', 'unpaid usage of a plain call']
    const debts = ['debt of the account', 'debt of a token']
    const counted = ['counted', 'unpaid usage of a counted call']
    for (const kind of [...events, ...limits, ...unpaid, ...debts, ...counted]) {
      expect(seen.get(kind) ?? 0, kind).toBeGreaterThan(20)
    }
  })
})

/** The terms under which a call of 1 to 3 choices is settled. */
type Terms = {
  readonly price: PriceSnapshot
  readonly calls: number
  readonly limits: UsageLimits
  /** True if the hold covers the limits, as for every call but an open-ended stream. */
  readonly isCovered: boolean
  readonly hold: bigint
  readonly free: bigint
}
const tokenCount = fc.oneof(fc.nat(12), fc.nat(3_000))
const termsAt = (...prices: readonly PriceSnapshot[]): fc.Arbitrary<Terms> =>
  fc
    .record({
      price: fc.constantFrom(...prices),
      calls: fc.integer({ min: 1, max: 3 }),
      limits: fc.record(
        { inputTokens: tokenCount, outputTokens: tokenCount, hourWrites: fc.constant(0) },
        { requiredKeys: ['inputTokens', 'outputTokens'] },
      ),
      isCovered: fc.boolean(),
      least: fc.bigInt({ min: 0n, max: 40_000n }),
      free: fc.bigInt({ min: 0n, max: 40_000n }),
    })
    .map(({ least, ...made }) => {
      const { inputTokens, outputTokens, hourWrites } = made.limits
      const inputKinds = { hasHourCache: hourWrites === undefined }
      const worst = holdFor(made.price, { inputTokens, outputTokens, choices: 1, inputKinds })
      return { ...made, hold: made.isCovered && worst > least ? worst : least }
    })
const terms = termsAt(...PRICES, tokens('7.3', '0.9', '1'))
const tieredTerms = termsAt(...TIERED)
const counts = { inputUncached: tokenCount, cacheRead: tokenCount, cacheWrite1h: tokenCount }
const usage: fc.Arbitrary<Usage> = fc
  .record({
    ...{ ...counts, inputImage: tokenCount, text: tokenCount },
    ...{ outputAudio: fc.nat(400), outputImage: fc.nat(400) },
  })
  .map(({ text, ...made }) => {
    const output = text + made.outputAudio + made.outputImage
    return { ...NO_USAGE, ...made, output }
  })

/** Returns the usage with more tokens of each kind. */
const sumOf = (one: Usage, other: Usage): Usage => {
  const sums = Object.entries(one).map(([kind, tokens]) => [
    kind,
    (tokens as number) + (other[kind as UsageCount] ?? 0),
  ])
  return Object.fromEntries(sums) as Usage
}

/** The charge in units, and the exact price of the charged usage before it is rounded to units. */
type Settled = { readonly charge: bigint; readonly exact: Fraction }

/** Settles a call that has these terms and this usage. */
function settle({ price, calls, limits, hold, free }: Terms, usage: Usage): Settled {
  const account = new Account(() => {})
  const ofUser = { userId: USER, call: 'c', tokenId: 1 }
  const texts = { model: 'm', group: 'default', isStream: true, clientIp: null }
  const [amount, reason] = [hold + free, 'admin' as const]
  if (amount > 0n)
    account.handle({ type: 'GrantQuota', userId: USER, grantId: 'g', amount, reason })
  account.handle({ type: 'SetTokenBudget', ...ofUser, remain: 0n, isUnlimited: true })
  const times = { leaseUntil: LEASE_UNTIL, startedAt: 0 }
  account.handle({ type: 'AdmitCall', ...ofUser, ...texts, ...times, hold, price, calls })
  const outcome = account.handle({
    ...{ type: 'SettleCall', call: 'c', channelId: 1, upstreamModel: null },
    ...{ usage, limits },
    ...{ usageSource: 'upstream', anomaly: null, end: 'done', attempts: [] },
    timings: { startedAt: 0, firstByteMs: null, durationMs: 1 },
  })
  const [event] = isCodedError(outcome) ? [] : outcome
  if (event?.type !== 'CallSettled') throw new Error('not settled')
  const charged = [price, event.data.usage, event.data.calls] as const
  expect(BigInt(event.data.charge)).toBe(recomputedCharge(...charged))
  const hasUsage = Object.values(event.data.usage).some((count) => Number(count) > 0)
  const exact = exactCharge(price, event.data.usage, event.data.calls ?? (hasUsage ? 1 : 0))
  return { charge: fromWire(event.data.charge), exact }
}

const chargeOf = (made: Terms, usage: Usage): bigint => settle(made, usage).charge

/**
 * True if `later` costs less than `earlier` by the price of a token or more. Exact prices are
 * compared, too: if a token costs less than a unit, rounding alone can change a charge by a unit.
 * Of two parts with the same charge, the one with the lower exact price may be charged.
 */
function fallsByToken(made: Terms, earlier: Settled, later: Settled): boolean {
  const [[a, b], [c, d], [token, scale]] = [earlier.exact, later.exact, dearestToken(made)]
  const fall = a * d - c * b
  return later.charge < earlier.charge && fall > 0n && fall * scale >= token * b * d
}

/** The exact price of the dearest token, computed from the ratios alone. */
function dearestToken({ price }: Terms): Fraction {
  if (price.mode === 'call') return [0n, 1n]
  const one = MILLION * MILLION
  const audio = millionths(price.audio) * millionths(price.audioCompletion)
  const write = (millionths(price.cacheWrite) * MILLION * 8n) / 5n
  const { imageCompletion = '0' } = price
  const ratios = [price.cacheRead, price.image, price.audio, price.completion, imageCompletion]
  const single = ratios.map(millionths)
  const dearest = [one, audio, write, ...single.map((ratio) => ratio * MILLION)].reduce((a, b) =>
    a > b ? a : b,
  )
  const scale = MILLION ** 4n
  const inTier = Math.max(1, ...(price.tiers ?? []).map(({ input }) => Number(input)))
  return [dearest * BigInt(inTier) * millionths(price.model) * millionths(price.group), scale]
}

const least = (one: bigint, other: bigint): bigint => (one < other ? one : other)
const most = (one: bigint, other: bigint): bigint => (one > other ? one : other)

describe('the charge of usage beyond the limits of a call', () => {
  const cut = { times: 0 }

  it('is all that the hold and the free quota cover, to less than one token', () => {
    const property = fc.property(terms, usage, (made, used) => {
      const { price, calls, limits, hold, free } = made
      const full = recomputedCharge(price, used, calls)
      const within = recomputedCharge(price, usageWithin(used, limits), calls)
      const charge = chargeOf(made, used)
      if (charge < full) cut.times += 1
      expect(charge).toBeLessThanOrEqual(full)
      expect(charge).toBeLessThanOrEqual(most(hold + free, within))
      expect(charge).toBeGreaterThanOrEqual(least(full, within))
      const short = least(full, hold + free) - charge
      const [token, scale] = dearestToken(made)
      if (short > 0n) expect(short * scale).toBeLessThan(token)
    })
    fc.assert(property, { numRuns: 2_000 })
    expect(cut.times).toBeGreaterThan(200)
  })

  it('never falls when a call with input within its limits produces more output', () => {
    const property = fc.property(terms, usage, fc.nat(4_000), (wide, used, more) => {
      const inputTokens = Math.max(wide.limits.inputTokens, inputTokensOf(used))
      const limits = { ...wide.limits, inputTokens, hourWrites: used.cacheWrite1h }
      const made = { ...wide, limits }
      const longer = { ...used, output: used.output + more }
      expect(chargeOf(made, longer)).toBeGreaterThanOrEqual(chargeOf(made, used))
    })
    fc.assert(property, { numRuns: 2_000 })
  })

  it('never falls by a token or more when a call reports more usage of any kind', () => {
    const covered = terms.filter(({ isCovered }) => isCovered)
    const property = fc.property(covered, usage, usage, (made, used, added) => {
      const later = settle(made, sumOf(used, added))
      expect(fallsByToken(made, settle(made, used), later)).toBe(false)
    })
    fc.assert(property, { numRuns: 2_000 })
  })

  it('never falls by a token or more when the input reaches a context tier', () => {
    const covered = tieredTerms.filter(({ isCovered }) => isCovered)
    const property = fc.property(covered, usage, usage, (made, used, added) => {
      const { price, calls, limits, hold, free } = made
      const settled = settle(made, used)
      const within = recomputedCharge(price, usageWithin(used, limits), calls)
      expect(settled.charge).toBeLessThanOrEqual(most(hold + free, within))
      expect(settled.charge).toBeGreaterThanOrEqual(within)
      expect(fallsByToken(made, settled, settle(made, sumOf(used, added)))).toBe(false)
    })
    fc.assert(property, { numRuns: 3_000 })
  })
})
