/**
 * The upper bounds of the histogram buckets in milliseconds, from 13 ms to 344 s. The last bucket
 * has no upper bound. Bounds double with every fourth bucket. The error of a quantile is therefore
 * at most about a fifth of the value, except in the first and the last bucket.
 */
const BOUNDS_MS: readonly number[] = Array.from({ length: 60 }, (_, index) =>
  Math.round(12.5 * 2 ** (index / 4)),
)

export function bucketOf(milliseconds: number): number {
  const index = BOUNDS_MS.findIndex((bound) => milliseconds <= bound)
  return index < 0 ? BOUNDS_MS.length : index
}

/**
 * Returns the quantile `share` (0 to 1) of the counted values, or null without values. Values are
 * assumed to be evenly distributed within their bucket. If the quantile is in the last bucket,
 * returns the highest bound.
 */
export function quantile(counts: ReadonlyMap<number, number>, share: number): number | null {
  let total = 0
  for (const count of counts.values()) total += count
  if (total === 0) return null
  let left = share * total
  const last = BOUNDS_MS.length - 1
  for (let bucket = 0; bucket <= last; bucket += 1) {
    const count = counts.get(bucket) ?? 0
    const from = BOUNDS_MS[bucket - 1] ?? 0
    const upTo = BOUNDS_MS[bucket] ?? from
    if (count > 0 && left <= count) return Math.round(from + ((upTo - from) * left) / count)
    left -= count
  }
  return BOUNDS_MS[last] ?? null
}
