import type { PerTokenPrice } from '#domain/pricing/price.ts'

/** Every ratio of a price per token, at the same value. */
export const ratiosOf = <Ratio>(ratio: Ratio) => ({
  model: ratio,
  completion: ratio,
  cacheRead: ratio,
  cacheWrite: ratio,
  image: ratio,
  audio: ratio,
  audioCompletion: ratio,
  group: ratio,
})

/** A price per token whose ratios are 1, but for the given ones. */
export const perTokenPrice = (patch: Partial<PerTokenPrice> = {}): PerTokenPrice => ({
  mode: 'tokens',
  list: 3,
  ...ratiosOf('1'),
  ...patch,
})
