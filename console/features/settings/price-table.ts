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
/** The built-in entries of these options include models that are not in the price table. */
const BUILT_IN_KEYS: ReadonlySet<PriceKey> = new Set(['CacheRatio', 'MaxOutputTokens'])
export type PriceKey = (typeof OPTIONS)[PriceField]

/** The fields are decimal texts. An empty text means that there is no value. */
export type PriceRow = {
  name: string
  /** The price per call is in dollars and takes precedence over the ratios. */
  price: string
  ratio: string
  completionRatio: string
  cacheRatio: string
  /** If a call sets no limit, quota is held for this number of tokens. */
  maxOutputTokens: string
}

export const priceRow = (name: string, read: (field: PriceField) => string): PriceRow =>
  ({ name, ...Object.fromEntries(FIELDS.map((field) => [field, read(field)])) }) as PriceRow

type Texts = ReadonlyMap<string, string>
export type PriceMaps = Readonly<Record<PriceKey, JsonMap>>

/** Returns null if a text is not a map of numbers and must be corrected first. */
export function readPriceMaps(texts: Texts): PriceMaps | null {
  const maps = PRICE_KEYS.map((key) => [key, readJsonMap(texts.get(key) ?? '{}')] as const)
  if (maps.some(([, map]) => map === null)) return null
  return Object.fromEntries(maps) as PriceMaps
}

/** Most models with only a cache ratio or an output limit are not sold, so they are left out. */
export function priceRows(maps: PriceMaps): PriceRow[] {
  const names = new Set(NAMING_KEYS.flatMap((key) => [...maps[key].keys()]))
  const rowOf = (name: string) => priceRow(name, (field) => maps[OPTIONS[field]].get(name) ?? '')
  return [...names].sort().map(rowOf)
}

export const isPerCall = (row: PriceRow): boolean => row.price !== ''
export const isPriced = (row: PriceRow): boolean => row.price !== '' || row.ratio !== ''

const isNamed = (maps: PriceMaps, name: string): boolean =>
  NAMING_KEYS.some((key) => maps[key].has(name))

/** Returns only the texts that change. An empty value removes the model's entry. */
export function withRows(maps: PriceMaps, rows: readonly PriceRow[]): Map<PriceKey, string> {
  const changed = new Map<PriceKey, string>()
  for (const field of FIELDS) {
    const key = OPTIONS[field]
    let entries = maps[key]
    for (const row of rows) {
      const value = isPerCall(row) && RATIOS.has(field) ? '' : row[field]
      // An added model's empty field must not delete a built-in value that the table omits.
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
