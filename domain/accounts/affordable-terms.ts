import { type CallBounds, holdFor, outputTokensWithin } from '../pricing/hold-amount.ts'
import type { PriceSnapshot } from '../pricing/price-snapshot.ts'
import { isSame } from '../shared/deep-equal.ts'
import { isPlayground } from '../shared/playground-token-id.ts'
import { fromWire, type Quota } from '../shared/quota.ts'
import type { CallAdmitted } from './events.ts'
import type { AccountState } from './state.ts'

/** The price and the hold of a new call, and how the hold may be reduced. */
export type HoldTerms = {
  readonly hold: Quota
  readonly price: PriceSnapshot
  readonly reduction?: OutputReduction | undefined
}

/** Settings for reducing a call's output limit if the account cannot pay the hold. */
export type OutputReduction = {
  /** The maximum usage of the request as the caller sent it. `outputTokens` is per choice. */
  readonly bounds: CallBounds
  /** The lowest output limit, in tokens per choice. It is at least 1. */
  readonly leastOutputTokens: number
  readonly mostOutputTokens: number
  /**
   * The output limit is reduced if the account cannot pay this multiple of the hold. The default is
   * 1.
   */
  readonly timesPayable?: bigint
}

/**
 * Returns the quota that new calls with the token can hold: the balance, or the budget of a limited
 * token if it is lower. The result may be negative.
 */
export function quotaAvailableToToken({ balance, budgets }: AccountState, tokenId: number): Quota {
  const budget = isPlayground(tokenId) ? undefined : budgets.get(tokenId)
  if (budget === undefined || budget.isUnlimited || budget.remain > balance) return balance
  return budget.remain
}

type WithOutputLimit<T> = T & { readonly outputLimit?: number }

/**
 * Returns a command with the first of its terms that need no reduced output limit. If there are
 * none, it has the terms with the highest reduced limit, and the first of them if several have the
 * same. A dear model or group with which a call may be served therefore shortens no answer that
 * another one can give in full or longer. Returns the command unchanged if `payable` is not enough
 * for any of the terms.
 */
export function withAffordableTerms<
  C extends HoldTerms & { readonly cheaper?: readonly HoldTerms[] | undefined },
>(command: C, payable: Quota): WithOutputLimit<C> {
  const { cheaper } = command
  if (cheaper === undefined) return withReducedOutput(command, payable)
  let best: WithOutputLimit<HoldTerms> | null = null
  for (const terms of [command, ...cheaper]) {
    const reduced = withReducedOutput(terms, payable)
    if (reduced.hold > payable) continue
    if (reduced.outputLimit === undefined) return { ...command, ...reduced }
    if (reduced.outputLimit > (best?.outputLimit ?? 0)) best = reduced
  }
  return best === null ? command : { ...command, ...best }
}

/**
 * Returns the index of those terms with which the account has admitted a call. If several terms
 * would result in the same event, their hold and their price are the same.
 */
export function indexOfAdmittedTerms(
  { price, hold, outputLimit }: Pick<CallAdmitted['data'], 'price' | 'hold' | 'outputLimit'>,
  all: readonly HoldTerms[],
): number {
  return all.findIndex((terms) => {
    const { reduction } = terms
    if (!isSame(terms.price, price)) return false
    if (outputLimit === undefined) return terms.hold === fromWire(hold)
    if (reduction === undefined) return false
    return holdFor(price, { ...reduction.bounds, outputTokens: outputLimit }) === fromWire(hold)
  })
}

/**
 * Reduces the output limit and the hold if the account cannot pay `timesPayable` times the hold.
 * Returns the terms unchanged if they permit no reduction, or if no permitted limit is payable.
 */
function withReducedOutput<T extends HoldTerms>(terms: T, payable: Quota): WithOutputLimit<T> {
  const { reduction, hold, price } = terms
  if (reduction === undefined || payable <= 0n) return terms
  const { timesPayable = 1n } = reduction
  if (hold * timesPayable <= payable) return terms
  return { ...terms, ...reduceOutput(price, reduction, payable) }
}

/** The largest reduced output limit per choice with which a call may hold all payable quota. */
const MODEST_OUTPUT_TOKENS = 4_096

/**
 * Returns the largest output limit, up to `mostOutputTokens`, whose hold is at most `payable`, and
 * this hold. The hold of a limit above `MODEST_OUTPUT_TOKENS` is at most half of `payable`, so that
 * the account can also pay for other calls. Returns null if the limit is below the minimum.
 */
function reduceOutput(
  price: PriceSnapshot,
  { bounds, leastOutputTokens, mostOutputTokens }: OutputReduction,
  payable: Quota,
): { readonly outputLimit: number; readonly hold: Quota } | null {
  const within = (most: Quota) => outputTokensWithin(price, bounds, most) ?? 0
  const modest = Math.min(within(payable), MODEST_OUTPUT_TOKENS)
  const outputLimit = Math.min(Math.max(modest, within(payable / 2n)), mostOutputTokens)
  const hold = holdFor(price, { ...bounds, outputTokens: outputLimit })
  return outputLimit < leastOutputTokens || hold > payable ? null : { outputLimit, hold }
}
