import { type JsonMap, readJsonMap, withEntry, writeJsonMap } from './json-map.ts'

export const PRICE_KEYS = [
  'ModelPrice',
  'ModelRatio',
  'CompletionRatio',
  'CacheRatio',
  'MaxOutputTokens',
] as const
const NAMING_KEYS = ['ModelPrice', 'ModelRatio', 'CompletionRatio'] as const
/** Options whose built-in entries include models that are not in the price table. */
const BUILT_IN_KEYS: ReadonlySet<PriceKey> = new Set(['CacheRatio', 'MaxOutputTokens'])
export type PriceKey = (typeof PRICE_KEYS)[number]

/** The prices of a model as decimal texts. An empty text means that no value is set. */
export type PriceRow = {
  name: string
  /** The price per call in dollars, which takes precedence over the ratios. */
  price: string
  ratio: string
  completionRatio: string
  cacheRatio: string
  /**
   * The maximum output tokens of a response. If a call sets no limit, quota for this number of
   * tokens is held (reserved).
   */
  maxOutputTokens: string
}

type Texts = ReadonlyMap<string, string>
export type PriceMaps = Readonly<Record<PriceKey, JsonMap>>

/**
 * Parses the price options. Returns null if a text is not a map of numbers and must be corrected
 * first.
 */
export function readPriceMaps(texts: Texts): PriceMaps | null {
  const read = (key: PriceKey) => readJsonMap(texts.get(key) ?? '{}')
  const [ModelPrice, ModelRatio] = [read('ModelPrice'), read('ModelRatio')]
  const [CompletionRatio, CacheRatio] = [read('CompletionRatio'), read('CacheRatio')]
  const MaxOutputTokens = read('MaxOutputTokens')
  if (!ModelPrice || !ModelRatio || !CompletionRatio || !CacheRatio || !MaxOutputTokens) return null
  return { ModelPrice, ModelRatio, CompletionRatio, CacheRatio, MaxOutputTokens }
}

/**
 * Returns every model that has a price or a ratio, sorted by name. Models with only a cache ratio
 * or an output limit are omitted, because most of them are built-in entries that the site does not
 * sell.
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

/**
 * Returns the texts of the options that change because of the edited rows. An empty value removes
 * the model's entry.
 */
export function withRows(maps: PriceMaps, rows: readonly PriceRow[]): Map<PriceKey, string> {
  const changed = new Map<PriceKey, string>()
  for (const key of PRICE_KEYS) {
    let entries = maps[key]
    for (const row of rows) {
      const value = valueFor(row, key)
      // An empty field of an added model must not delete a built-in value, because the table does
      // not show built-in values.
      if (BUILT_IN_KEYS.has(key) && value === '' && !isNamed(maps, row.name)) continue
      if ((entries.get(row.name) ?? '') !== value) {
        entries = withEntry(entries, row.name, value === '' ? null : value)
      }
    }
    if (entries !== maps[key]) changed.set(key, writeJsonMap(entries))
  }
  return changed
}

/** Returns the texts of those options in `after` that differ from `before`. */
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

/** Returns a row's value for an option. A model with a fixed price has no ratios. */
function valueFor(row: PriceRow, key: PriceKey): string {
  if (key === 'ModelPrice') return row.price
  if (key === 'MaxOutputTokens') return row.maxOutputTokens
  if (row.price !== '') return ''
  if (key === 'ModelRatio') return row.ratio
  return key === 'CompletionRatio' ? row.completionRatio : row.cacheRatio
}
