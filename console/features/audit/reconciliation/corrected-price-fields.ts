import type { CorrectedPrice } from '#write-api/contract/corrections.ts'

/**
 * Maps each field that a corrected price can have in a request to the name of the price factor that
 * the field replaces.
 */
export const FACTOR_BY_PRICE_FIELD = {
  model_ratio: 'model',
  completion_ratio: 'completion',
  cache_ratio: 'cacheRead',
  create_cache_ratio: 'cacheWrite',
  image_ratio: 'image',
  audio_ratio: 'audio',
  audio_completion_ratio: 'audioCompletion',
  image_completion_ratio: 'imageCompletion',
  model_price: 'price',
  group_ratio: 'group',
} as const satisfies Record<keyof CorrectedPrice, string>

export type PriceField = keyof typeof FACTOR_BY_PRICE_FIELD
export const PRICE_FIELDS = Object.keys(FACTOR_BY_PRICE_FIELD) as PriceField[]
