import type { CorrectedPrice } from '#write-api/contract/corrections.ts'

/**
 * The members that a corrected price can have in a request. The value of each member here is the
 * name of the price factor that the member replaces.
 */
export const PRICE_MEMBERS = {
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

export type PriceMember = keyof typeof PRICE_MEMBERS
export const PRICE_MEMBER_NAMES = Object.keys(PRICE_MEMBERS) as PriceMember[]
