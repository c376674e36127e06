import type { TimelineEntry as TimelineRow } from '#projections/channel-timeline/query.ts'

/**
 * The timeline entry for the expiry of a channel. No event records an expiry, so the entry has a
 * negative id and no actor.
 */
export type Expiry = Omit<TimelineRow, 'kind'> & { readonly kind: 'expired' }
export type Entry = TimelineRow | Expiry

/**
 * Returns the expiries of a channel, newest first. `changes` are all events that set the channel's
 * name, limits or expiry, oldest first. `until` is the current time, or the time at which the
 * channel was deleted, in Unix milliseconds. Later expiries are left out.
 */
export function expiriesOf(changes: readonly TimelineRow[], until: number): readonly Expiry[] {
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

/**
 * Returns the expiry that the last of these changes set, in Unix seconds. 0 or less means that the
 * channel never expires.
 */
export function expirySetBy(changes: readonly TimelineRow[]): number {
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
 * Merges events and expiries into one page, newest first. `rows` are the events from index `start`
 * on: one page, and one more event for each expiry. `offset` is the index of the page's first entry
 * in the list of all events and expiries.
 */
export function mergePage(
  rows: readonly TimelineRow[],
  expiries: readonly Expiry[],
  { start, offset, limit }: { start: number; offset: number; limit: number },
): readonly Entry[] {
  const [firstRow] = rows
  if (start > 0 && firstRow === undefined) return []
  // Expiries that are newer than the first event in `rows` belong to earlier pages.
  const skipped = start === 0 ? 0 : expiries.filter(({ at }) => at > (firstRow?.at ?? 0)).length
  const merged = [...rows, ...expiries.slice(skipped)].sort(
    (left, right) => right.at - left.at || right.position - left.position,
  )
  const first = offset - start - skipped
  return merged.slice(first, first + limit)
}
