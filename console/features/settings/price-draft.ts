import type { Translations } from '#console/i18n/translation-types.ts'
import type { FieldErrors } from '#console/ui/forms/use-draft-form.ts'
import { formatDecimal, isNegative, isZero, parseDecimal } from '#console/ui/quota/exact-decimal.ts'
import { completionRatioOf, priceOfRatio, ratioOfPrice, scaledPrice } from './price-conversion.ts'
import { emptyRow, type PriceRow, priceRow } from './price-rows.ts'

type PriceMode = 'ratio' | 'price' | 'call'

export type PriceErrorKey = keyof Translations['pricing']['error'] | 'notNumber' | 'negative'
type PriceErrorKeys = FieldErrors<PriceDraft, PriceErrorKey>

/**
 * The values of a price form. Only the prices or ratios of the selected mode are saved. The output
 * limit is kept in every mode.
 */
export type PriceDraft = typeof emptyPrice

export const emptyPrice = {
  name: '',
  mode: 'price' as PriceMode,
  ratio: '',
  completionRatio: '',
  inputPrice: '',
  outputPrice: '',
  cacheRatio: '',
  maxOutputTokens: '',
  callPrice: '',
}

export const draftOfRow = ({ price, ...row }: PriceRow): PriceDraft => ({
  ...row,
  mode: price === '' ? 'price' : 'call',
  inputPrice: priceOfRatio(row.ratio),
  outputPrice: scaledPrice(row.ratio, row.completionRatio),
  callPrice: price,
})

export function convertToMode(draft: PriceDraft, mode: PriceMode): PriceDraft {
  if (mode === 'price' && draft.mode === 'ratio') {
    const { ratio, completionRatio } = draft
    const output = scaledPrice(ratio, completionRatio)
    return { ...draft, mode, inputPrice: priceOfRatio(ratio), outputPrice: output }
  }
  if (mode === 'ratio' && draft.mode === 'price') return { ...draft, mode, ...ratiosOf(draft) }
  return { ...draft, mode }
}

/**
 * The accepted form of a price in dollars: up to 5 integer digits and 6 decimals. Such a price can
 * be converted to a ratio without rounding.
 */
const PRICE_SHAPE = /^\d{1,5}(\.\d{1,6})?$/

const COUNT_SHAPE = /^[1-9]\d{0,8}$/

/**
 * Returns an error key for each invalid field. A stored price that the user has not changed may
 * have more digits than a newly entered price.
 */
export function validatePrice(
  draft: PriceDraft,
  existingNames: ReadonlySet<string>,
  before: PriceDraft = emptyPrice,
): PriceErrorKeys {
  const errorKeys: PriceErrorKeys = {}
  const name = draft.name.trim()
  if (name === '') errorKeys.name = 'nameMissing'
  else if (existingNames.has(name)) errorKeys.name = 'nameTaken'
  const check = (field: keyof PriceDraft, isNeeded: boolean, refusesZero = false) => {
    const text = draft[field].trim()
    if (text === '' && !isNeeded) return
    const value = parseDecimal(text)
    if (value === null) errorKeys[field] = 'notNumber'
    else if (isNegative(value)) errorKeys[field] = 'negative'
    else if (refusesZero && isZero(value)) errorKeys[field] = 'zeroPrice'
  }
  if (draft.mode === 'call') check('callPrice', true)
  else {
    check('cacheRatio', false)
    if (countOf(draft.maxOutputTokens) === null) errorKeys.maxOutputTokens = 'notCount'
  }
  if (draft.mode === 'ratio') {
    check('ratio', true)
    check('completionRatio', false)
  }
  if (draft.mode === 'price') {
    check('inputPrice', true, true)
    check('outputPrice', false)
    for (const field of ['inputPrice', 'outputPrice'] as const) {
      if (errorKeys[field] !== undefined || draft[field] === before[field]) continue
      if (!PRICE_SHAPE.test(plain(draft[field]) || '0')) errorKeys[field] = 'tooFine'
    }
  }
  return errorKeys
}

/** Converts a draft to a row. The draft must be valid according to `validatePrice`. */
export function rowOfDraft(draft: PriceDraft): PriceRow {
  const name = draft.name.trim()
  const maxOutputTokens = countOf(draft.maxOutputTokens) ?? ''
  if (draft.mode === 'call') {
    return { ...emptyRow(name), price: plain(draft.callPrice), maxOutputTokens }
  }
  const ratios =
    draft.mode === 'price'
      ? ratiosOf(draft)
      : { ratio: plain(draft.ratio), completionRatio: plain(draft.completionRatio) }
  return {
    name,
    price: '',
    ...ratios,
    cacheRatio: plain(draft.cacheRatio),
    maxOutputTokens,
  }
}

/**
 * Returns the row with the values that the user has changed. Unchanged values keep all stored
 * digits, because the form may show fewer digits.
 */
export function changedRow(row: PriceRow, before: PriceDraft, after: PriceDraft): PriceRow {
  const [old, fresh] = [rowOfDraft(before), rowOfDraft(after)]
  return priceRow(fresh.name, (field) => (old[field] === fresh[field] ? row : fresh)[field])
}

const ratiosOf = (draft: PriceDraft) => ({
  ratio: ratioOfPrice(draft.inputPrice),
  completionRatio: completionRatioOf(draft.inputPrice, draft.outputPrice),
})

/**
 * Parses a number of tokens. The text may be empty, and may contain separators between groups of
 * digits: `16,384`. Returns null for an invalid text.
 */
function countOf(text: string): string | null {
  const digits = text.trim().replace(/(\d)[, ](?=\d{3}(?:\D|$))/g, '$1')
  return digits === '' || COUNT_SHAPE.test(digits) ? digits : null
}

function plain(text: string): string {
  const value = parseDecimal(text)
  return value === null ? '' : formatDecimal(value)
}
