import { decimalText, parseDecimal } from './decimal.ts'
import { DEFAULT_RATIOS } from './default-ratios.ts'
import { PRICE_KEYS } from './price-list.ts'
import type { DecimalText } from './price-snapshot.ts'
import { readNestedRatios, readRatios } from './read-ratios.ts'

/**
 * The values of a price option by name. A value is a decimal, or `true` or `false` for
 * `FALLBACK_FLAG`.
 */
type Entries = ReadonlyMap<string, DecimalText>

/**
 * The values of one name before and after a change. Null means that the option has no entry with
 * this name.
 */
export type EntryChange = readonly [
  name: string,
  before: DecimalText | null,
  after: DecimalText | null,
]

/** The price options that map names to decimals. */
export const PRICE_MAPS: ReadonlySet<string> = new Set([...PRICE_KEYS, 'GroupRatio'])

/**
 * The price options whose value is a single decimal. These prices apply to all models without an
 * entry in any other price option.
 */
const FALLBACK_PRICES: ReadonlySet<string> = new Set([
  'fallback_single_price',
  'fallback_input_ratio',
  'fallback_completion_ratio',
])

export const FALLBACK_FLAG = 'fallback_pricing_enabled'

/**
 * Reports whether an option sets prices. Changes of such an option can be previewed and scheduled.
 */
export const isPriceOption = (key: string): boolean =>
  PRICE_MAPS.has(key) ||
  key === 'GroupGroupRatio' ||
  key === FALLBACK_FLAG ||
  FALLBACK_PRICES.has(key)

const AND = ' > '

/**
 * Returns the name of the ratio for users of one group who use a token of another group. The name
 * is `vip > default`, or a JSON array if a group's name contains `>`.
 */
const pairName = (user: string, token: string): string =>
  `${user}${token}`.includes('>') || user.startsWith('[')
    ? JSON.stringify([user, token])
    : `${user}${AND}${token}`

/**
 * Returns the user's group and the token's group, or null if the name does not contain exactly two
 * groups.
 */
export function pairOf(name: string): readonly [user: string, token: string] | null {
  const [user = '', token = '', ...more] = jsonPair(name) ?? name.split(AND)
  return user === '' || token === '' || more.length > 0 ? null : [user, token]
}

function jsonPair(name: string): readonly string[] | null {
  if (!name.startsWith('["')) return null
  try {
    const pair: unknown = JSON.parse(name)
    return Array.isArray(pair) && pair.every((one) => typeof one === 'string') ? pair : null
  } catch {
    return null
  }
}

/**
 * Returns the price changes that a new text of the option causes. Each change is named after a
 * model, a group or a pair such as `vip > default`. Changes of fallback options have an empty name.
 * If the new text lacks a name, the built-in price of the name applies again. An equal price is not
 * a change.
 */
export function entryChanges(
  option: string,
  before: string,
  after: string,
): readonly EntryChange[] {
  const [old, fresh] = [entriesOf(option, before), entriesOf(option, after)]
  const names = new Set([...old.keys(), ...fresh.keys()])
  return [...names]
    .map((name) => [name, old.get(name) ?? null, fresh.get(name) ?? null] as const)
    .filter(([, from, to]) => from !== to)
}

function entriesOf(option: string, text: string): Entries {
  if (PRICE_MAPS.has(option)) {
    return new Map([...(DEFAULT_RATIOS.get(option) ?? []), ...readRatios(text)])
  }
  if (option === 'GroupGroupRatio') return flattened(readNestedRatios(text))
  if (option === FALLBACK_FLAG) return new Map([['', text === 'true' ? 'true' : 'false']])
  const value = FALLBACK_PRICES.has(option) ? parseDecimal(text) : null
  return value === null ? new Map() : new Map([['', decimalText(value)]])
}

const flattened = (nested: ReadonlyMap<string, Entries>): Entries =>
  new Map(
    [...nested].flatMap(([outer, ratios]) =>
      [...ratios].map(([inner, ratio]) => [pairName(outer, inner), ratio] as const),
    ),
  )
