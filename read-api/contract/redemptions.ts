import Type, { type Static } from 'typebox'
import { Envelope, Page, Query, sortedBy } from './envelope.ts'

export const Redemption = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  /** The key. It is only shown in an admin's session, and is empty for an access token. */
  key: Type.String(),
  /** The last four characters of the key. It is empty for a short key. */
  key_hint: Type.String(),
  /** The quota that each use credits. */
  quota: Type.Integer(),
  /**
   * The status: 1 unused, 2 disabled, 3 used. A gift code stays unused after a redemption, because
   * it can be redeemed again.
   */
  status: Type.Integer(),
  /** The time of the creation. All times are in Unix seconds. */
  created_time: Type.Integer(),
  /** The last user who redeemed the code. 0 means that no user has redeemed it. */
  used_user_id: Type.Integer(),
  used_username: Type.String(),
  /** The time of the last redemption. 0 means that the code was never redeemed. */
  redeemed_time: Type.Integer(),
  is_gift: Type.Boolean(),
  /** The maximum number of uses. -1 means no limit. It is 1 unless the code is a gift. */
  max_uses: Type.Integer(),
  used_count: Type.Integer(),
  /** The time from which the code is valid. 0 means that it is valid immediately. */
  valid_from: Type.Integer(),
  /** The time at which the code expires. 0 means that it never expires. */
  valid_until: Type.Integer(),
})
export type Redemption = Static<typeof Redemption>

const ByName = Type.Object({ name: Type.String({ maxLength: 200 }) })

/** The columns by which the list of codes can be sorted. */
const REDEMPTION_SORTS = [
  'id',
  'name',
  'status',
  'quota',
  'used_count',
  'created_time',
  'redeemed_time',
  'valid_until',
] as const

const SearchRedemptions = Type.Object({
  ...Query.page,
  keyword: Query.text,
  status: Type.Optional(Type.String({ pattern: '^[1-3]?$' })),
  ...sortedBy(REDEMPTION_SORTS),
})

const listRedemptions = {
  querystring: SearchRedemptions,
  response: { 200: Envelope(Page(Redemption)) },
}

export const redemptionQueries = {
  'GET /api/redemption/': listRedemptions,
  'GET /api/redemption/search': listRedemptions,
  'GET /api/redemption/count-by-name': {
    querystring: ByName,
    response: { 200: Envelope(Type.Integer()) },
  },
}
