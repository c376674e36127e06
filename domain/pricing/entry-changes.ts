import { decimalText, parseDecimal } from './decimal.ts'
import { DEFAULT_RATIOS } from './default-ratios.ts'
import type { DecimalText } from './price.ts'
import { PRICE_KEYS } from './price-list.ts'
import { readNestedRatios, readRatios } from './ratio-map.ts'

/** Decimals; of the flag `true` or `false`. */
type Entries = ReadonlyMap<string, DecimalText>

/** Of one name, what it was and what it is; null: it has none of its own. */
export type EntryChange = readonly [
  name: string,
  before: DecimalText | null,
  after: DecimalText | null,
]

/** Options of name → decimal that make prices. */
export const PRICE_MAPS: ReadonlySet<string> = new Set([...PRICE_KEYS, 'GroupRatio'])

/** One value each, no map: what an unpriced model costs. */
const FALLBACK_PRICES: ReadonlySet<string> = new Set([
  'fallback_single_price',
  'fallback_input_ratio',
  'fallback_completion_ratio',
])

/** On or off; the other price options are decimals, or maps of them. */
export const FALLBACK_FLAG = 'fallback_pricing_enabled'

/** Options that a draft price list is made of, and that can be changed at a time to come. */
export const isPriceOption = (key: string): boolean =>
  PRICE_MAPS.has(key) ||
  key === 'GroupGroupRatio' ||
  key === FALLBACK_FLAG ||
  FALLBACK_PRICES.has(key)

/** Between the user's group and the token's, in the name of a special ratio. */
const AND = ' > '

/** `vip > default`; as JSON where that could be read another way. */
export const pairName = (user: string, token: string): string =>
  `${user}${token}`.includes('>') || user.startsWith('[')
    ? JSON.stringify([user, token])
    : `${user}${AND}${token}`

/** The user's group and the token's; null where it is not both. */
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
 * What another text of an option means for prices, name by name; none for other options. A name
 * taken out falls back to what is built in, and so may mean nothing. Names are models or groups;
 * `vip > default` for special ratios, empty for fallback prices and whether they are on.
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
