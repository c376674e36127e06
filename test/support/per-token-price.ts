import type { PerTokenPrice } from '#domain/pricing/price-snapshot.ts'

/** Returns all ratios of a per-token price with the same value. */
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

/** All ratios are 1, except for the fields in `patch`. */
export const perTokenPrice = (patch: Partial<PerTokenPrice> = {}): PerTokenPrice => ({
  mode: 'tokens',
  list: 3,
  ...ratiosOf('1'),
  ...patch,
})
