import type { Status } from '#read-api/contract/status.ts'
import type { PaymentMethod } from '#write-api/contract/top-ups.ts'

/** `amount` is null until the user enters an amount. */
export type TopUpDraft = { amount: string | null; code: string; method: PaymentMethod }

export const AMOUNT_MAX = 1_000_000
const PICKS = [5, 10, 20, 50, 100, 500]

/** Raises an amount below 1 to 1. Other texts are kept, so that their error is shown. */
export const typedOut = (text: string): string =>
  /^\d*$/.test(text) ? text.replace(/^0+/, '') || '1' : text

/** Returns whole dollars, or null for any other text. */
export const amountOf = (typed: string): number | null =>
  /^\d+$/.test(typed) ? Number(typed) : null

export const leastOf = (status: Pick<Status, 'min_topup'> | undefined): number =>
  Math.max(1, status?.min_topup ?? 1)

/** Returns the common amounts, without amounts below the minimum. */
export const picksFrom = (least: number): readonly number[] =>
  PICKS.some((pick) => pick >= least)
    ? PICKS.filter((pick) => pick >= least)
    : [least, least * 2, least * 5].filter((pick) => pick <= AMOUNT_MAX)
