/** Milliseconds: each bucket goes up to its bound, the last one has none. */
export const BOUNDS_MS: readonly number[] = [
  50, 75, 100, 150, 200, 300, 400, 600, 800, 1_200, 1_600, 2_400, 3_200, 4_800, 6_400, 9_600,
  12_800, 19_200, 25_600, 38_400, 51_200, 76_800, 102_400, 300_000,
]

export function bucketOf(milliseconds: number): number {
  const index = BOUNDS_MS.findIndex((bound) => milliseconds <= bound)
  return index < 0 ? BOUNDS_MS.length : index
}

/**
 * The value below which `share` (0 to 1) of what was counted lies, to within its bucket: evenly
 * spread inside of it. null when nothing was counted.
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
