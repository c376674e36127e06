import { isNegative, parseDecimal } from '#console/ui/quota/exact-decimal.ts'

export const FALLBACK_KEYS = [
  'fallback_pricing_enabled',
  'fallback_single_price',
  'fallback_input_ratio',
  'fallback_completion_ratio',
] as const
export type FallbackKey = (typeof FALLBACK_KEYS)[number]
type FallbackDraft = Record<FallbackKey, string>

type FallbackErrorKey = 'notNumber' | 'negative' | 'mixed' | 'incomplete'

/**
 * Returns the draft with a new value for `key`. A fixed price that is not empty clears the ratios,
 * and a ratio that is not empty clears the fixed price.
 */
export function withFallback(draft: FallbackDraft, key: FallbackKey, value: string): FallbackDraft {
  const next = { ...draft, [key]: value }
  if (value.trim() === '' || key === 'fallback_pricing_enabled') return next
  if (key === 'fallback_single_price') {
    return { ...next, fallback_input_ratio: '', fallback_completion_ratio: '' }
  }
  return { ...next, fallback_single_price: '' }
}

export function validateFallback(draft: FallbackDraft): FallbackErrorKey | null {
  const price = draft.fallback_single_price.trim()
  const ratios = [draft.fallback_input_ratio.trim(), draft.fallback_completion_ratio.trim()]
  const filled = [price, ...ratios].filter((text) => text !== '')
  const values = filled.map(parseDecimal)
  if (values.includes(null)) return 'notNumber'
  if (values.some((value) => value !== null && isNegative(value))) return 'negative'
  const hasRatio = ratios.some((text) => text !== '')
  if (price !== '' && hasRatio) return 'mixed'
  if (hasRatio && ratios.includes('')) return 'incomplete'
  if (draft.fallback_pricing_enabled === 'true' && filled.length === 0) return 'incomplete'
  return null
}

export function fallbackErrorField(draft: FallbackDraft): FallbackKey | undefined {
  const errorKey = validateFallback(draft)
  if (errorKey === null) return undefined
  const invalidField = FALLBACK_VALUES.find((key) => isInvalidPrice(draft[key].trim()))
  if (invalidField !== undefined) return invalidField
  const empty = FALLBACK_RATIOS.filter((key) => draft[key].trim() === '')
  const [missing] = empty
  const isOneFieldMissing = errorKey === 'incomplete' && empty.length === 1
  return isOneFieldMissing && missing !== undefined ? missing : 'fallback_single_price'
}

const FALLBACK_RATIOS = ['fallback_input_ratio', 'fallback_completion_ratio'] as const
const FALLBACK_VALUES = ['fallback_single_price', ...FALLBACK_RATIOS] as const

function isInvalidPrice(text: string): boolean {
  if (text === '') return false
  const value = parseDecimal(text)
  return value === null || isNegative(value)
}

export const fallbackDraft = (value: (key: string) => string): FallbackDraft =>
  Object.fromEntries(FALLBACK_KEYS.map((key) => [key, value(key)])) as FallbackDraft

export function fallbackErrorKey(
  changed: ReadonlySet<string>,
  value: (key: string) => string,
): FallbackKey | undefined {
  const isChanged = FALLBACK_KEYS.some((key) => changed.has(key))
  return isChanged ? fallbackErrorField(fallbackDraft(value)) : undefined
}
