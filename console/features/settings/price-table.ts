import { type JsonMap, readJsonMap, withEntry, writeJsonMap } from './json-map.ts'

export const PRICE_KEYS = [
  'ModelPrice',
  'ModelRatio',
  'CompletionRatio',
  'CacheRatio',
  'MaxOutputTokens',
] as const
const NAMING_KEYS = ['ModelPrice', 'ModelRatio', 'CompletionRatio'] as const
/** Options with built-in entries for models that are not in the table. */
const BUILT_IN_KEYS: ReadonlySet<PriceKey> = new Set(['CacheRatio', 'MaxOutputTokens'])
export type PriceKey = (typeof PRICE_KEYS)[number]

/** The prices of a model as decimal texts; an empty text means unset. */
export type PriceRow = {
  name: string
  /** Dollars per call; takes precedence over the ratios. */
  price: string
  ratio: string
  completionRatio: string
  cacheRatio: string
  /** The maximum output tokens of a response; they determine the hold of a call without a limit. */
  maxOutputTokens: string
}

type Texts = ReadonlyMap<string, string>
export type PriceMaps = Readonly<Record<PriceKey, JsonMap>>

/** Returns null if a text is not a map of numbers; the user must then correct the JSON. */
export function readPriceMaps(texts: Texts): PriceMaps | null {
  const read = (key: PriceKey) => readJsonMap(texts.get(key) ?? '{}')
  const [ModelPrice, ModelRatio] = [read('ModelPrice'), read('ModelRatio')]
  const [CompletionRatio, CacheRatio] = [read('CompletionRatio'), read('CacheRatio')]
  const MaxOutputTokens = read('MaxOutputTokens')
  if (!ModelPrice || !ModelRatio || !CompletionRatio || !CacheRatio || !MaxOutputTokens) return null
  return { ModelPrice, ModelRatio, CompletionRatio, CacheRatio, MaxOutputTokens }
}

/**
 * Returns every model that has a price or a ratio, by name. Models with only a cache ratio or an
 * output limit are omitted, because most of them are built-in entries of models not on sale.
 */
export function priceRows(maps: PriceMaps): PriceRow[] {
  const names = new Set(NAMING_KEYS.flatMap((key) => [...maps[key].keys()]))
  return [...names].sort().map((name) => ({
    name,
    price: maps.ModelPrice.get(name) ?? '',
    ratio: maps.ModelRatio.get(name) ?? '',
    completionRatio: maps.CompletionRatio.get(name) ?? '',
    cacheRatio: maps.CacheRatio.get(name) ?? '',
    maxOutputTokens: maps.MaxOutputTokens.get(name) ?? '',
  }))
}

export const isPerCall = (row: PriceRow): boolean => row.price !== ''
export const isPriced = (row: PriceRow): boolean => row.price !== '' || row.ratio !== ''

const isNamed = (maps: PriceMaps, name: string): boolean =>
  NAMING_KEYS.some((key) => maps[key].has(name))

/** Returns the option texts that the rows change; an empty value removes the entry. */
export function withRows(maps: PriceMaps, rows: readonly PriceRow[]): Map<PriceKey, string> {
  const changed = new Map<PriceKey, string>()
  for (const key of PRICE_KEYS) {
    let entries = maps[key]
    for (const row of rows) {
      const value = valueFor(row, key)
      // The table hides built-in values, so an added model must not delete them.
      if (BUILT_IN_KEYS.has(key) && value === '' && !isNamed(maps, row.name)) continue
      if ((entries.get(row.name) ?? '') !== value) {
        entries = withEntry(entries, row.name, value === '' ? null : value)
      }
    }
    if (entries !== maps[key]) changed.set(key, writeJsonMap(entries))
  }
  return changed
}

/** Returns the option texts that differ between the maps. */
export const textsOfMaps = (before: PriceMaps, after: PriceMaps): Map<PriceKey, string> =>
  new Map(
    PRICE_KEYS.map((key) => [key, writeJsonMap(before[key]), writeJsonMap(after[key])] as const)
      .filter(([, old, fresh]) => old !== fresh)
      .map(([key, , text]) => [key, text]),
  )

export const emptyRow = (name: string): PriceRow => ({
  name,
  price: '',
  ratio: '',
  completionRatio: '',
  cacheRatio: '',
  maxOutputTokens: '',
})

export const withoutRows = (maps: PriceMaps, names: readonly string[]): Map<PriceKey, string> =>
  withRows(maps, names.map(emptyRow))

/** A model with a fixed price must not have ratios. */
function valueFor(row: PriceRow, key: PriceKey): string {
  if (key === 'ModelPrice') return row.price
  if (key === 'MaxOutputTokens') return row.maxOutputTokens
  if (row.price !== '') return ''
  if (key === 'ModelRatio') return row.ratio
  return key === 'CompletionRatio' ? row.completionRatio : row.cacheRatio
}
