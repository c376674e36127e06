import { apiQuery } from '#console/api/client.ts'
import { integerParam, textParam, type UrlValues } from '#console/ui/state/url-state.ts'
import { boundsOf, rangeParam, relativeRange } from '#console/ui/time-range/time-range.ts'

/**
 * The URL parameters that select the calls for a recomputation, a what-if computation or a
 * correction.
 */
export const SCOPE_PARAMS = {
  range: rangeParam(relativeRange('7d')),
  model: textParam(),
  channel: integerParam({ fallback: 0 }),
  user: integerParam({ fallback: 0 }),
}
export type Scope = UrlValues<typeof SCOPE_PARAMS>

/** Returns the start and the end of a range in Unix seconds. The end is never later than now. */
export function periodOf(range: Scope['range']): { from: number; to: number } {
  const now = Math.floor(Date.now() / 1000)
  const { from, to } = boundsOf(range, now)
  return { from: from ?? 0, to: Math.min(to ?? now, now) }
}

/** Returns the body of a request that selects the calls. A relative range ends now. */
export const scanBodyOf = ({ range, model, channel, user }: Scope) => ({
  ...periodOf(range),
  ...(model === '' ? {} : { model }),
  ...(channel === 0 ? {} : { channel_id: channel }),
  ...(user === 0 ? {} : { user_id: user }),
})

/** Reads the current price options of the site. */
export const currentPricesQuery = apiQuery('GET /api/audit/state/:kind/:id', {
  params: { kind: 'prices', id: 'site' },
})
