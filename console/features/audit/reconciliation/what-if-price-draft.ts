import { formatDecimal, parseDecimal } from '#console/ui/quota/exact-decimal.ts'
import type { CorrectedPrice } from '#write-api/contract/repricing-and-corrections.ts'

/**
 * The price options that have one entry per model. Maps each option to the field of a correction
 * request that contains the same price. A draft contains only the changed entries of these options.
 */
const CORRECTED_FIELDS = {
  ModelRatio: 'model_ratio',
  CompletionRatio: 'completion_ratio',
  CacheRatio: 'cache_ratio',
  CreateCacheRatio: 'create_cache_ratio',
  ImageRatio: 'image_ratio',
  AudioRatio: 'audio_ratio',
  AudioCompletionRatio: 'audio_completion_ratio',
  ImageCompletionRatio: 'image_completion_ratio',
  ModelPrice: 'model_price',
} as const satisfies Record<string, keyof CorrectedPrice>
const MODEL_OPTIONS = Object.keys(CORRECTED_FIELDS) as (keyof typeof CORRECTED_FIELDS)[]

/**
 * The options that the table can edit, each in one column. Maps each option to a field of a model's
 * current price. This field contains the initial value of the column.
 */
export const TABLE_OPTIONS = {
  ModelRatio: 'model',
  CompletionRatio: 'completion',
  CacheRatio: 'cacheRead',
  CreateCacheRatio: 'cacheWrite',
  ModelPrice: 'price',
} as const

/**
 * Returns the translation key for the name of a price factor. The key for `price` is `fixedPrice`,
 * whose text is “Price per call or second”. The text of the key `price` mentions calls only, but
 * this price can also be for a second of a video.
 */
export const labelOf = <Name extends string>(name: Name): Exclude<Name, 'price'> | 'fixedPrice' =>
  name === 'price' ? 'fixedPrice' : (name as Exclude<Name, 'price'>)

export type TableOption = keyof typeof TABLE_OPTIONS
export const TABLE_COLUMNS = Object.keys(TABLE_OPTIONS) as TableOption[]

type Values = Readonly<Record<TableOption, string>>

export type DraftRow = {
  readonly model: string
  /** How the model is charged, or null if it has no price. */
  readonly mode: 'tokens' | 'call' | null
  /**
   * The values of the current price. A value is an empty text if the current price does not contain
   * it.
   */
  readonly currentValues: Values
  readonly values: Values
}

export type WhatIfPriceDraft = { readonly rows: readonly DraftRow[]; readonly json: string }
export const NO_DRAFT: WhatIfPriceDraft = { rows: [], json: '' }

/** Creates a row that contains the current price of a model. */
export function draftRowOf(
  model: string,
  price: Readonly<Record<string, unknown>> | null,
): DraftRow {
  const mode = price === null ? null : price.mode === 'call' ? 'call' : 'tokens'
  const currentValues = Object.fromEntries(
    TABLE_COLUMNS.map((option) => [option, String(price?.[TABLE_OPTIONS[option]] ?? '')]),
  ) as Values
  return { model, mode, currentValues, values: currentValues }
}

/**
 * Reports whether an option applies to a row. A model with a fixed price has no ratios. A model
 * that is charged per token has no fixed price. For a model without a price, all options apply.
 */
export const appliesTo = ({ mode }: DraftRow, option: TableOption): boolean =>
  mode === null || (option === 'ModelPrice') === (mode === 'call')

const isDecimal = (text: string): boolean => /^\d{1,9}(?:\.\d{1,12})?$/.test(text.trim())

/**
 * Reports whether a value is invalid. An empty value is valid and means that the current value
 * stays.
 */
export const isInvalidDecimal = (text: string): boolean => text.trim() !== '' && !isDecimal(text)

type Entries = Record<string, unknown>
type Changes = Map<string, Entries>

/**
 * Returns the changed price options. For options with one entry per model, only the changed entries
 * are returned. If an entry is both in the JSON and in the table, the JSON applies. Returns null if
 * the JSON is invalid.
 */
export function changesOf({ rows, json }: WhatIfPriceDraft): ReadonlyMap<string, unknown> | null {
  const changes: Changes = new Map()
  for (const { model, currentValues, values } of rows) {
    for (const option of TABLE_COLUMNS) {
      const text = values[option].trim()
      if (text === '' || text === currentValues[option]) continue
      changes.set(option, { ...changes.get(option), [model]: Number(text) })
    }
  }
  const pasted = entriesOf(json.trim() === '' ? '{}' : json)
  if (pasted === null) return null
  const all = new Map<string, unknown>(changes)
  for (const [option, value] of Object.entries(pasted)) {
    if (!isModelOption(option)) all.set(option, value)
    else if (!isObject(value)) return null
    else all.set(option, { ...changes.get(option), ...value })
  }
  return all
}

export const countOf = (changes: ReadonlyMap<string, unknown>): number =>
  [...changes].reduce(
    (sum, [option, value]) =>
      sum + (isModelOption(option) ? Object.keys(value as object).length : 1),
    0,
  )

/**
 * Returns the new text of each changed option. The changed entries are merged into the current
 * text, because the server replaces each option as a whole. An entry that is null removes the model
 * from the option. `currentTexts` contains the current texts of the options.
 */
export function pricesOf(
  changes: ReadonlyMap<string, unknown>,
  currentTexts: Readonly<Record<string, unknown>>,
): Record<string, string> {
  return Object.fromEntries(
    [...changes].map(([option, value]) => {
      if (!isModelOption(option)) return [option, textOf(value)]
      const merged = { ...entriesOf(String(currentTexts[option] ?? '{}')), ...(value as Entries) }
      const kept = Object.entries(merged).filter(([, entry]) => entry !== null)
      return [option, JSON.stringify(Object.fromEntries(kept))]
    }),
  )
}

/**
 * Returns the changed values of a model as the price fields of a correction request. These values
 * are the initial values of the form for the correction. Removed and invalid entries are left out.
 * The ratios of groups are also left out, because a draft can change the ratios of several groups,
 * but a correction has only one group ratio.
 */
export function correctedPriceOf(draft: WhatIfPriceDraft, model: string): CorrectedPrice {
  const changes = changesOf(draft)
  const entries = MODEL_OPTIONS.map((option) => {
    const values = (changes?.get(option) ?? {}) as Entries
    const value = Object.hasOwn(values, model) ? values[model] : null
    // The server accepts no exponent, but `String` writes one for a small number such as 1e-7.
    const decimal = parseDecimal(String(value))
    return [CORRECTED_FIELDS[option], decimal === null ? '' : formatDecimal(decimal)] as const
  })
  return Object.fromEntries(entries.filter(([, text]) => isDecimal(text)))
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

const isModelOption = (option: string): boolean => MODEL_OPTIONS.some((name) => name === option)

const isObject = (value: unknown): value is Entries =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function entriesOf(json: string): Entries | null {
  try {
    const value: unknown = JSON.parse(json)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
