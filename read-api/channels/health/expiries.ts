import type { TimelineEntry as Told } from '#projections/channel-timeline/query.ts'

/** What time alone brought about is in no event: its id is negative, and nobody did it. */
export type Expiry = Omit<Told, 'kind'> & { readonly kind: 'expired' }
export type Entry = Told | Expiry

/**
 * When a channel ended by itself, newest first, out of everything that changed its terms, oldest
 * first. `until`, in unix milliseconds: now, or when the channel was deleted.
 */
export function expiriesOf(changes: readonly Told[], until: number): readonly Expiry[] {
  const expiries: Expiry[] = []
  const dated = changes.filter(({ detail }) => detail.terms !== undefined)
  for (const [index, { at, detail }] of dated.entries()) {
    const seconds = detail.terms?.expiredTime ?? 0
    const end = seconds * 1_000
    const changedAt = dated[index + 1]?.at ?? Number.POSITIVE_INFINITY
    if (end <= at || end > changedAt || end > until) continue
    expiries.unshift(expiryAt(seconds))
  }
  return expiries
}

/** The end that was in force, in unix seconds; 0 or less never. */
export function endSetBy(changes: readonly Told[]): number {
  const last = changes.findLast(({ detail }) => detail.terms !== undefined)
  return last?.detail.terms?.expiredTime ?? 0
}

export const expiryAt = (seconds: number): Expiry => ({
  position: -seconds,
  at: seconds * 1_000,
  kind: 'expired',
  actor: '',
  detail: {},
})

/**
 * A page of both, newest first. `rows` are of the events from the place `start` on, so many more
 * than a page as there are expiries.
 */
export function pageWith(
  rows: readonly Told[],
  expiries: readonly Expiry[],
  { start, offset, limit }: { start: number; offset: number; limit: number },
): readonly Entry[] {
  const [foremost] = rows
  if (start > 0 && foremost === undefined) return []
  // Those before the first row read are on pages before this one.
  const passed = start === 0 ? 0 : expiries.filter(({ at }) => at > (foremost?.at ?? 0)).length
  const merged = [...rows, ...expiries.slice(passed)].sort(
    (left, right) => right.at - left.at || right.position - left.position,
  )
  const first = offset - start - passed
  return merged.slice(first, first + limit)
}
