import Type, { type Static } from 'typebox'
import { Envelope, Page, Query, sortedBy } from './envelope.ts'

export const Redemption = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  /** The key, in an admin's session; empty for an access token. */
  key: Type.String(),
  /** The last four characters; empty for a short key. */
  key_hint: Type.String(),
  /** The quota that each use credits. */
  quota: Type.Integer(),
  /** 1 unused, 2 disabled, 3 used. A gift code stays unused after being redeemed. */
  status: Type.Integer(),
  /** Unix seconds, like all times. */
  created_time: Type.Integer(),
  /** The last user who redeemed it; 0: none. */
  used_user_id: Type.Integer(),
  used_username: Type.String(),
  /** The time of the last redemption; 0: never. */
  redeemed_time: Type.Integer(),
  is_gift: Type.Boolean(),
  /** -1: unlimited; 1 unless it is a gift. */
  max_uses: Type.Integer(),
  used_count: Type.Integer(),
  /** 0: immediately. */
  valid_from: Type.Integer(),
  /** 0: never expires. */
  valid_until: Type.Integer(),
})
export type Redemption = Static<typeof Redemption>

const ByName = Type.Object({ name: Type.String({ maxLength: 200 }) })

/** The columns that the list can be sorted by. */
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
