import { type Amount, parseAmount } from '#domain/channel-checks/amount.ts'
import { type ExactJson, isNumber, isObject } from '#domain/shared/json-text.ts'

export type Balance = { readonly amount: Amount; readonly currency: 'USD' | 'CNY' }

/** How a provider is asked what is left of the account that a key belongs to. */
export type BalanceQuery = {
  /** The path to ask next, after these answers; null once nothing is left to ask. */
  readonly pathAfter: (answers: readonly ExactJson[], now: number) => string | null
  readonly keyHeader?: 'api-key'
  /** null when the answers don't say. */
  readonly read: (answers: readonly ExactJson[], baseUrl: string) => Balance | null
}

/** One question, answered with an amount at `place`: names from the outside in. */
export function askedOnce(
  path: string,
  place: readonly string[],
  currency: Balance['currency'] | ((baseUrl: string) => Balance['currency']) = 'USD',
): BalanceQuery {
  return {
    pathAfter: (answers) => (answers.length === 0 ? path : null),
    read: ([answer = null], baseUrl) => {
      const amount = amountAt(answer, ...place)
      if (amount === null) return null
      return { amount, currency: typeof currency === 'string' ? currency : currency(baseUrl) }
    },
  }
}

/** Providers of China count in yuan at their address at home, and in dollars abroad. */
export const yuanAt =
  (host: string) =>
  (baseUrl: string): Balance['currency'] =>
    new URL(baseUrl).hostname === host ? 'CNY' : 'USD'

export function memberAt(value: ExactJson, ...names: readonly string[]): ExactJson {
  let found = value
  for (const name of names) found = isObject(found) ? (found.get(name) ?? null) : null
  return found
}

/** Written as a number or as a text, exactly; null when it is neither. */
export function amountAt(value: ExactJson, ...names: readonly string[]): Amount | null {
  const found = memberAt(value, ...names)
  if (typeof found === 'string') return parseAmount(found)
  return isNumber(found) ? parseAmount(found.numberText) : null
}
