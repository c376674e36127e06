import type { HoldTerms } from '#domain/accounts/affordable-terms.ts'
import type { AccountCommand } from '#domain/accounts/commands.ts'
import { holdFor } from '#domain/pricing/hold-amount.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { NO_USAGE, type Usage, type UsageCount, type UsageLimits } from '#domain/pricing/usage.ts'
import { recomputedCharge } from '../pricing/independent-charge.ts'

const MAX = 2n ** 53n - 1n

type Call = {
  readonly tokenId: number
  hold: bigint
  /** The increases of the hold, with their times. */
  raises: { readonly amount: bigint; readonly at: number }[]
  readonly price: PriceSnapshot
  readonly calls: number
  readonly admittedAt: number
  readonly isTask: boolean
  /** True if the account (or the token) was emptied while the call was open. */
  isUnpaid: boolean
  isTokenUnpaid: boolean
  leaseUntil: number
  usage: Usage
  progress: string
  end: { readonly charge: bigint; readonly at: number } | null
}

type Budget = {
  readonly remain: bigint
  readonly isUnlimited: boolean
  readonly setAt: number
  readonly edits: number
}

/** The expected result of a command: nothing, the type of an event, or the code of an error. */
export type Verdict =
  | { readonly nothing: true }
  | { readonly event: string; readonly charge?: bigint }
  | { readonly code: string }

const NOTHING: Verdict = { nothing: true }
const sum = (amounts: Iterable<bigint>): bigint => [...amounts].reduce((a, b) => a + b, 0n)

/**
 * The simplest model of an account: it stores all facts and sums them for every query. It is slow,
 * and shares no code with the product.
 */
export class ReferenceAccount {
  readonly grants = new Map<string, bigint>()
  readonly deductions = new Map<string, bigint>()
  readonly invites = new Map<number, bigint>()
  readonly transfers = new Map<string, bigint>()
  readonly checkIns: [day: string, amount: bigint][] = []
  /** Keyed by order; reversals are keyed by order and refund. */
  readonly credits = new Map<number, bigint>()
  readonly reversals = new Map<string, bigint>()
  readonly rebates = new Map<number, bigint>()
  /** Taken from the affiliate balance, and from the balance. */
  readonly rebateReversals = new Map<string, bigint>()
  readonly rebateDebts = new Map<string, bigint>()
  readonly calls = new Map<string, Call>()
  private readonly budgets = new Map<number, Budget>()
  private clock = 0

  get open(): [string, Call][] {
    return [...this.calls].filter(([, { end }]) => end === null)
  }

  get held(): bigint {
    return sum(this.open.map(([, { hold }]) => hold))
  }

  heldBy(tokenId: number): bigint {
    return sum(this.open.map(([, call]) => (call.tokenId === tokenId ? call.hold : 0n)))
  }

  get charged(): bigint {
    return sum([...this.calls.values()].map(({ end }) => end?.charge ?? 0n))
  }

  get balance(): bigint {
    const gained = sum(this.transfers.values()) + sum(this.checkIns.map(([, gift]) => gift))
    const given = sum(this.grants.values()) + gained - sum(this.deductions.values())
    return given + this.toppedUp - this.charged - this.held
  }

  get affiliate(): bigint {
    const earned = sum(this.invites.values()) + sum(this.rebates.values())
    return earned - sum(this.rebateReversals.values()) - sum(this.transfers.values())
  }

  private get toppedUp(): bigint {
    return (
      sum(this.credits.values()) - sum(this.reversals.values()) - sum(this.rebateDebts.values())
    )
  }

  /**
   * The lowest possible balance, as a positive amount: the charges above holds, and the refunds.
   */
  get excess(): bigint {
    const outgrown = sum(
      [...this.calls.values()].map(({ end, hold }) =>
        end !== null && end.charge > hold ? end.charge - hold : 0n,
      ),
    )
    return outgrown + sum(this.reversals.values()) + sum(this.rebateDebts.values())
  }

  get tokenIds(): number[] {
    return [...this.budgets.keys()]
  }

  /**
   * Returns the budget that was set, less the charges of later calls, plus the amounts that earlier
   * calls have returned since then.
   */
  remain(tokenId: number): bigint {
    const budget = this.budgets.get(tokenId)
    if (budget === undefined) throw new Error('no such budget')
    const moves = [...this.calls.values()]
      .filter((call) => call.tokenId === tokenId)
      .map(({ hold, raises, admittedAt, end }) => {
        const raised = sum(raises.map(({ amount }) => amount))
        const since = sum(raises.map(({ amount, at }) => (at > budget.setAt ? amount : 0n)))
        const taken = (admittedAt > budget.setAt ? hold - raised : 0n) + since
        return end !== null && end.at > budget.setAt ? hold - end.charge - taken : -taken
      })
    return budget.remain + sum(moves)
  }

  isUnlimited(tokenId: number): boolean {
    return this.budgets.get(tokenId)?.isUnlimited ?? false
  }

  /** The number of changes of the token's budget since it was created. */
  editsOf(tokenId: number): number {
    return this.budgets.get(tokenId)?.edits ?? 0
  }

  /** The tokens whose last edit ended their open calls. */
  private readonly emptied = new Set<number>()

  /** Executes the command if that is possible, and returns the expected result. */
  apply(command: AccountCommand): Verdict {
    const budget = command.type === 'SetTokenBudget' ? this.budgets.get(command.tokenId) : undefined
    const before =
      command.type === 'SetTokenBudget' && budget !== undefined
        ? this.remain(command.tokenId)
        : null
    const verdict = this.carryOut(command)
    const event = 'event' in verdict ? verdict.event : ''
    const calls = this.open.map(([, call]) => call)
    const isTaking = ['QuotaDeducted', 'TopUpReversed'].includes(event)
    if (isTaking && this.balance < 1n) for (const call of calls) call.isUnpaid = true
    const gains = ['QuotaGranted', 'TopUpCredited', 'AffiliateTransferred', 'CheckedIn']
    const isGain = gains.includes(event) && this.balance > 0n
    if (isGain) for (const call of calls) call.isUnpaid = false
    if (command.type === 'SetTokenBudget' && event !== '') {
      const { tokenId: id } = command
      const isCovered = this.remain(id) === 0n && this.heldBy(id) > 0n
      const isLeft = isCovered && (command.remain ?? 0n) > 0n
      // A call may overspend the budget. The others continue, also if the owner then raises it.
      const isLimited = budget?.isUnlimited === false && !this.emptied.has(id)
      const isRaised = isLimited && before !== null && this.remain(id) > before
      const isEmptied = !this.isUnlimited(id) && this.remain(id) < 1n && !isLeft && !isRaised
      if (isEmptied && this.calls.size > 0) this.emptied.add(id)
      else this.emptied.delete(id)
      const ofToken = calls.filter(({ tokenId }) => tokenId === id)
      for (const call of ofToken) call.isTokenUnpaid = isEmptied
    }
    const closed = command.type === 'CloseTokenBudgets' ? command.tokenIds : []
    for (const call of calls) if (closed.includes(call.tokenId)) call.isTokenUnpaid = false
    return verdict
  }

  private carryOut(command: AccountCommand): Verdict {
    this.clock += 1
    switch (command.type) {
      case 'GrantQuota': {
        if (this.grants.has(command.grantId)) return NOTHING
        const { amount } = command
        const isTooMuch = this.balance + this.held + amount > MAX
        if (amount < 1n || amount > MAX || isTooMuch) return { code: 'AmountOutOfRange' }
        this.grants.set(command.grantId, amount)
        return { event: 'QuotaGranted' }
      }
      case 'DeductQuota': {
        if (this.deductions.has(command.deductionId)) return NOTHING
        const { amount } = command
        if (amount < 1n || amount > MAX) return { code: 'AmountOutOfRange' }
        if (this.balance < amount) return { code: 'InsufficientQuota' }
        this.deductions.set(command.deductionId, amount)
        return { event: 'QuotaDeducted' }
      }
      case 'SetBalance': {
        const { userId, adjustmentId: id, balance, expected } = command
        if (this.grants.has(id) || this.deductions.has(id)) return NOTHING
        if (expected !== undefined && expected !== this.balance) return { code: 'BalanceMoved' }
        const change = balance - this.balance
        if (change === 0n) return NOTHING
        if (balance < 0n) return { code: 'AmountOutOfRange' }
        return change > 0n
          ? this.apply({ type: 'GrantQuota', userId, grantId: id, amount: change, reason: 'admin' })
          : this.apply({
              type: 'DeductQuota',
              userId,
              deductionId: id,
              amount: -change,
              reason: 'admin',
            })
      }
      case 'RewardInvite': {
        const { inviteeId, reward } = command
        if (this.invites.has(inviteeId)) return NOTHING
        const room = MAX - this.affiliate
        this.invites.set(inviteeId, reward > room ? room : reward)
        return { event: 'InviteRewarded' }
      }
      case 'TransferAffiliate':
        return this.transfer(command)
      case 'CheckIn':
        return this.checkIn(command)
      case 'CreditTopUp': {
        const { orderId, amount } = command
        if (this.credits.has(orderId)) return NOTHING
        const isTooMuch = this.balance + this.held + amount > MAX
        if (amount < 1n || amount > MAX || isTooMuch) return { code: 'AmountOutOfRange' }
        this.credits.set(orderId, amount)
        return { event: 'TopUpCredited' }
      }
      case 'EarnRebate': {
        const { orderId, amount } = command
        const room = MAX - this.affiliate
        if (this.rebates.has(orderId) || amount < 1n || room < 1n) return NOTHING
        this.rebates.set(orderId, amount > room ? room : amount)
        return { event: 'RebateEarned' }
      }
      case 'ReverseTopUp':
        return this.takeBack(command, this.reversals, this.balance, 'TopUpReversed')
      case 'ReverseRebate':
        return this.takeRebate(command)
      case 'SetTokenBudget':
        return this.setBudget(command)
      case 'OpenTokenBudgets':
        return this.openBudgets(command)
      case 'CloseTokenBudgets': {
        const closed = command.tokenIds.filter((tokenId) => this.budgets.delete(tokenId))
        return closed.length > 0 ? { event: 'TokenBudgetsClosed' } : NOTHING
      }
      case 'AdmitCall':
        return this.admit(command)
      case 'CorrectCharges':
        throw new Error('random operations do not correct charges')
      default:
        return this.carryOn(command)
    }
  }

  private takeBack(
    { orderId, refundNo, amount }: { orderId: number; refundNo: number; amount: bigint },
    taken: Map<string, bigint>,
    from: bigint,
    event: string,
  ): Verdict {
    const id = `${orderId}/${refundNo}`
    if (taken.has(id)) return NOTHING
    const isTooMuch = amount > MAX || from - amount < -MAX / 2n
    if (amount < 1n || isTooMuch) return { code: 'AmountOutOfRange' }
    taken.set(id, amount)
    return { event }
  }

  private takeRebate(command: Extract<AccountCommand, { type: 'ReverseRebate' }>): Verdict {
    const { orderId, refundNo, amount } = command
    const id = `${orderId}/${refundNo}`
    if (this.rebateReversals.has(id)) return NOTHING
    const owed = amount > this.affiliate ? amount - this.affiliate : 0n
    const isTooMuch = amount > MAX || this.balance - owed < -MAX / 2n
    if (amount < 1n || isTooMuch) return { code: 'AmountOutOfRange' }
    this.rebateReversals.set(id, amount - owed)
    this.rebateDebts.set(id, owed)
    return { event: 'RebateReversed' }
  }

  private transfer(command: Extract<AccountCommand, { type: 'TransferAffiliate' }>): Verdict {
    const { transferId, amount, least } = command
    if (this.transfers.has(transferId)) return NOTHING
    if (amount < 1n || amount < least) return { code: 'TransferTooSmall' }
    if (amount > this.affiliate) return { code: 'InsufficientAffiliate' }
    if (amount > MAX - this.balance - this.held) return { code: 'AmountOutOfRange' }
    this.transfers.set(transferId, amount)
    return { event: 'AffiliateTransferred' }
  }

  private checkIn({ day, amount }: Extract<AccountCommand, { type: 'CheckIn' }>): Verdict {
    if (this.checkIns.some(([other]) => other >= day)) return { code: 'CheckedInAlready' }
    const isTooMuch = this.balance + this.held + amount > MAX || amount > MAX
    if (amount < 0n || isTooMuch) return { code: 'AmountOutOfRange' }
    this.checkIns.push([day, amount])
    return { event: 'CheckedIn' }
  }

  private setBudget(command: Extract<AccountCommand, { type: 'SetTokenBudget' }>): Verdict {
    const { tokenId, expected } = command
    const isSet = this.budgets.has(tokenId)
    const remainNow = isSet ? this.remain(tokenId) : 0n
    const edits = this.editsOf(tokenId)
    const { edits: editsBefore = expected === undefined || expected === remainNow ? edits : -1 } =
      command
    if (editsBefore !== edits) return { code: 'TokenBudgetMoved' }
    const used = (expected ?? remainNow) - remainNow
    const asked = command.remain ?? remainNow
    const isGain = command.remain !== undefined && expected !== undefined && used < 0n
    const isCapped = isGain && asked < expected
    const change = command.remain === undefined || expected === undefined ? 0n : -used
    const remain = asked + (isCapped ? 0n : change)
    const isUnlimited = command.isUnlimited ?? this.isUnlimited(tokenId)
    const most = remain + this.heldBy(tokenId)
    if (most > MAX || remain < -MAX) return { code: 'AmountOutOfRange' }
    const isSame = isSet && remainNow === remain
    if (isSame && this.isUnlimited(tokenId) === isUnlimited) return NOTHING
    this.budgets.set(tokenId, { remain, isUnlimited, setAt: this.clock, edits: edits + 1 })
    return { event: 'TokenBudgetSet' }
  }

  private openBudgets(command: Extract<AccountCommand, { type: 'OpenTokenBudgets' }>): Verdict {
    const { remain, isUnlimited } = command
    const fresh = command.tokenIds.filter((tokenId) => !this.budgets.has(tokenId))
    if (fresh.length === 0) return NOTHING
    if (remain < -MAX || fresh.some((tokenId) => remain + this.heldBy(tokenId) > MAX)) {
      return { code: 'AmountOutOfRange' }
    }
    const budget = { remain, isUnlimited, setAt: this.clock, edits: 0 }
    for (const id of fresh) this.budgets.set(id, budget)
    return { event: 'TokenBudgetsOpened' }
  }

  private admit(command: Extract<AccountCommand, { type: 'AdmitCall' }>): Verdict {
    const { call, tokenId, leaseUntil, calls = 1, task } = command
    const isTask = task !== undefined
    const known = this.calls.get(call)
    if (known !== undefined && isTask) {
      return { code: known.end === null ? 'CallKnown' : 'CallEnded' }
    }
    if (known !== undefined) return NOTHING
    const { hold, price } = this.payableTerms(command)
    if (hold < 0n || hold > MAX) return { code: 'AmountOutOfRange' }
    if (!this.budgets.has(tokenId)) return { code: 'TokenBudgetUnknown' }
    const isOverBudget = !this.isUnlimited(tokenId) && hold > this.remain(tokenId)
    if (isOverBudget) return { code: 'TokenBudgetExhausted' }
    const isShort = this.balance < hold || (isTask && this.balance < 1n)
    if (isShort) return { code: 'InsufficientQuota' }
    const tasks = this.open.filter(([, other]) => other.isTask)
    if (isTask && tasks.length >= task.openMax) return { code: 'TooManyTasks' }
    const admittedAt = this.clock
    const paid = { isTask, isUnpaid: false, isTokenUnpaid: false }
    const fresh = { usage: NO_USAGE, progress: '', end: null, ...paid, raises: [] }
    this.calls.set(call, { tokenId, hold, price, calls, admittedAt, leaseUntil, ...fresh })
    return { event: 'CallAdmitted' }
  }

  /** Returns the payable terms with the longest output, or the first of several such terms. */
  private payableTerms(command: Extract<AccountCommand, { type: 'AdmitCall' }>): HoldTerms {
    const payable = this.payable(command.tokenId)
    const all = [command, ...(command.cheaper ?? [])]
    const reduced = all.map((terms) => ({ ...terms, ...this.payableOutput(terms, payable) }))
    const possible = reduced.filter(({ hold }) => hold <= payable)
    const longest = Math.max(...possible.map(({ limit }) => limit))
    return possible.find(({ limit }) => limit === longest) ?? command
  }

  /** Returns the requested hold, or the hold for the largest output limit that can be paid. */
  private payableOutput({ hold, price, reduction }: HoldTerms, payable: bigint) {
    const full = { hold, limit: Number.POSITIVE_INFINITY }
    if (reduction === undefined || payable < 1n) return full
    const { bounds, leastOutputTokens: least, mostOutputTokens: most, timesPayable } = reduction
    if (hold <= payable / (timesPayable ?? 1n)) return full
    const worst = (outputTokens: number) => holdFor(price, { ...bounds, outputTokens })
    for (let limit = Math.min(most, bounds.outputTokens); limit >= least; limit -= 1) {
      const isShare = limit <= 4_096 || worst(limit) <= payable / 2n
      if (isShare && worst(limit) <= payable) return { hold: worst(limit), limit }
    }
    return full
  }

  /** Returns the amount that calls of the token can use. */
  private payable(tokenId: number): bigint {
    if (!this.budgets.has(tokenId) || this.isUnlimited(tokenId)) return this.balance
    const remain = this.remain(tokenId)
    return remain < this.balance ? remain : this.balance
  }

  private raise(
    { hold, least }: Extract<AccountCommand, { type: 'RaiseHold' }>,
    call: Call,
  ): Verdict {
    if (call.end !== null) return { code: 'CallEnded' }
    if (hold <= call.hold) return NOTHING
    const payable = this.payable(call.tokenId)
    const amount = hold - call.hold < payable ? hold - call.hold : payable
    if (amount < 1n || call.hold + amount < least) return { code: 'InsufficientQuota' }
    call.hold += amount
    call.raises.push({ amount, at: this.clock })
    return { event: 'HoldRaised' }
  }

  private carryOn(
    command: Extract<
      AccountCommand,
      { type: 'RecordProgress' | 'RaiseHold' | 'SettleCall' | 'ReleaseCall' | 'InterruptCall' }
    >,
  ): Verdict {
    const call = this.calls.get(command.call)
    if (call === undefined) return { code: 'CallUnknown' }
    if (command.type === 'RaiseHold') return this.raise(command, call)
    if (command.type === 'RecordProgress') {
      if (call.end !== null) return { code: 'CallEnded' }
      const isPaying = call.hold > 0n && !call.isTask
      if (isPaying && call.isUnpaid) return { code: 'InsufficientQuota' }
      if (isPaying && call.isTokenUnpaid) return { code: 'TokenBudgetExhausted' }
      const progress = JSON.stringify([command.channelId, command.usage, command.leaseUntil])
      if (call.progress === progress) return NOTHING
      call.usage = command.usage
      call.leaseUntil = command.leaseUntil
      call.progress = progress
      return { event: 'CallProgressed' }
    }
    if (call.end !== null) return NOTHING
    if (command.type === 'ReleaseCall') return this.end(call, 'CallReleased', 0n)
    if (command.type === 'SettleCall') {
      const chargeOf = (usage: Usage): bigint => {
        const isDone = command.end === 'done' || hasAny(usage)
        return recomputedCharge(call.price, usage, isDone ? call.calls : 0)
      }
      const full = chargeOf(command.usage)
      const free = this.payable(call.tokenId)
      const covered = call.hold + (free > 0n ? free : 0n)
      const isPaid = full <= covered
      const { limits } = command
      if (isPaid || limits === undefined) return this.end(call, 'CallSettled', full)
      const charges = partsBeyond(command.usage, limits).map(chargeOf)
      const payable = charges.findLast((charge) => charge <= covered)
      return this.end(call, 'CallSettled', payable ?? charges[0] ?? full)
    }
    if (command.at <= call.leaseUntil) return { code: 'LeaseNotOver' }
    const charge = recomputedCharge(call.price, call.usage, hasAny(call.usage) ? call.calls : 0)
    return this.end(call, 'CallInterrupted', charge)
  }

  private end(call: Call, event: string, charge: bigint): Verdict {
    call.end = { charge, at: this.clock }
    return event === 'CallReleased' ? { event } : { event, charge }
  }
}

const hasAny = (usage: Usage): boolean => Object.values(usage).some((count) => Number(count) > 0)

const INPUT = [
  'inputUncached',
  'cacheRead',
  'cacheWrite5m',
  'cacheWrite1h',
  'inputAudio',
  'inputImage',
] as const

/**
 * Returns the part of the usage within the limits, followed by each part with one more token: first
 * the tokens of the input, then audio and text of the output.
 */
function partsBeyond(usage: Usage, { inputTokens, outputTokens }: UsageLimits): readonly Usage[] {
  const input = INPUT.flatMap((kind) => Array.from({ length: usage[kind] }, () => kind))
  const parts: Usage[] = []
  const least = Math.min(inputTokens, input.length)
  for (let count = least; count <= input.length; count += 1) {
    const part: Record<UsageCount, number> = { ...(NO_USAGE as Record<UsageCount, number>) }
    for (const kind of input.slice(0, count)) part[kind] += 1
    parts.push(withOutput(part, usage, Math.min(outputTokens, usage.output)))
  }
  const whole = parts.at(-1) ?? NO_USAGE
  for (let output = outputTokens + 1; output <= usage.output; output += 1) {
    parts.push(withOutput(whole, usage, output))
  }
  return parts
}

const withOutput = (part: Usage, { outputAudio }: Usage, output: number): Usage => ({
  ...{ ...part, output },
  outputAudio: Math.min(outputAudio, output),
})
