/** A range of user ids from `first` to `last`, both included. */
export type IdRange = readonly [first: number, last: number]

/**
 * Returns the ids as ascending ranges without duplicates. A message to all users has only a few
 * ranges.
 */
export function rangesOf(ids: readonly number[]): IdRange[] {
  const ranges: [number, number][] = []
  for (const id of [...ids].sort((one, other) => one - other)) {
    const last = ranges.at(-1)
    if (last !== undefined && id <= last[1] + 1) last[1] = Math.max(last[1], id)
    else ranges.push([id, id])
  }
  return ranges
}

export const countOf = (ranges: readonly IdRange[]): number =>
  ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0)

/** The ranges must be in ascending order. */
export function includesId(ranges: readonly IdRange[], id: number): boolean {
  let [low, high] = [0, ranges.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ranges[middle]?.[1] ?? 0) < id) low = middle + 1
    else high = middle
  }
  return (ranges[low]?.[0] ?? Number.POSITIVE_INFINITY) <= id
}
