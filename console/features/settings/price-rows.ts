import { type JsonMap, readJsonMap, withEntry, writeJsonMap } from './json-map.ts'

const OPTIONS = {
  price: 'ModelPrice',
  ratio: 'ModelRatio',
  completionRatio: 'CompletionRatio',
  cacheRatio: 'CacheRatio',
  maxOutputTokens: 'MaxOutputTokens',
} as const satisfies Record<PriceField, string>
type PriceField = Exclude<keyof PriceRow, 'name'>
const FIELDS = Object.keys(OPTIONS) as PriceField[]
const RATIOS: ReadonlySet<PriceField> = new Set(['ratio', 'completionRatio', 'cacheRatio'])
export const PRICE_KEYS: readonly PriceKey[] = Object.values(OPTIONS)
const NAMING_KEYS = ['ModelPrice', 'ModelRatio', 'CompletionRatio'] as const
/** The options that have built-in values for models that the price table does not list. */
const BUILT_IN_KEYS: ReadonlySet<PriceKey> = new Set(['CacheRatio', 'MaxOutputTokens'])
export type PriceKey = (typeof OPTIONS)[PriceField]

/** The prices of one model. All values are decimal texts, and an empty text is a missing value. */
export type PriceRow = {
  name: string
  /**
   * The fixed price in dollars per call, or per second of a video. A fixed price takes precedence
   * over the ratios.
   */
  price: string
  ratio: string
  completionRatio: string
  cacheRatio: string
  /**
   * The number of output tokens for which quota is reserved (held) at the start of a call that sets
   * no output limit.
   */
  maxOutputTokens: string
}

export const priceRow = (name: string, read: (field: PriceField) => string): PriceRow =>
  ({ name, ...Object.fromEntries(FIELDS.map((field) => [field, read(field)])) }) as PriceRow

type Texts = ReadonlyMap<string, string>
export type PriceMaps = Readonly<Record<PriceKey, JsonMap>>

export function readPriceMaps(texts: Texts): PriceMaps | null {
  const maps = PRICE_KEYS.map((key) => [key, readJsonMap(texts.get(key) ?? '{}')] as const)
  if (maps.some(([, map]) => map === null)) return null
  return Object.fromEntries(maps) as PriceMaps
}

/**
 * Returns the rows of the price table. Models with only a cache ratio or an output limit are left
 * out, because these values are built in for many models that the site does not sell.
 */
export function priceRows(maps: PriceMaps): PriceRow[] {
  const names = new Set(NAMING_KEYS.flatMap((key) => [...maps[key].keys()]))
  const rowOf = (name: string) => priceRow(name, (field) => maps[OPTIONS[field]].get(name) ?? '')
  return [...names].sort().map(rowOf)
}

export const isPerCall = (row: PriceRow): boolean => row.price !== ''
export const isPriced = (row: PriceRow): boolean => row.price !== '' || row.ratio !== ''

const isNamed = (maps: PriceMaps, name: string): boolean =>
  NAMING_KEYS.some((key) => maps[key].has(name))

/**
 * Returns the new text of each price option that changes when the rows are written into the
 * options. An empty value removes the model's entry from the option. For a model that is not in the
 * price table yet, built-in values are kept instead.
 */
export function withRows(maps: PriceMaps, rows: readonly PriceRow[]): Map<PriceKey, string> {
  const changed = new Map<PriceKey, string>()
  for (const field of FIELDS) {
    const key = OPTIONS[field]
    let entries = maps[key]
    for (const row of rows) {
      const value = isPerCall(row) && RATIOS.has(field) ? '' : row[field]
      // An empty field of an added model must not delete a built-in value.
      if (BUILT_IN_KEYS.has(key) && value === '' && !isNamed(maps, row.name)) continue
      if ((entries.get(row.name) ?? '') !== value) {
        entries = withEntry(entries, row.name, value === '' ? null : value)
      }
    }
    if (entries !== maps[key]) changed.set(key, writeJsonMap(entries))
  }
  return changed
}

export const textsOfMaps = (before: PriceMaps, after: PriceMaps): Map<PriceKey, string> =>
  new Map(
    PRICE_KEYS.map((key) => [key, writeJsonMap(before[key]), writeJsonMap(after[key])] as const)
      .filter(([, old, fresh]) => old !== fresh)
      .map(([key, , text]) => [key, text]),
  )

export const emptyRow = (name: string): PriceRow => priceRow(name, () => '')

export const withoutRows = (maps: PriceMaps, names: readonly string[]): Map<PriceKey, string> =>
  withRows(maps, names.map(emptyRow))
