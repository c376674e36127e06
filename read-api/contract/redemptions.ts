import Type, { type Static } from 'typebox'
import { REDEMPTION_FIELDS } from './redemption-fields.ts'
import { Query, sortedBy } from './request-parameters.ts'
import { Envelope, Page } from './response-envelope.ts'
import { responseProperties } from './schemas-from-field-definitions.ts'

export const Redemption = Type.Object(responseProperties(REDEMPTION_FIELDS))
export type Redemption = Static<typeof Redemption>

const ByName = Type.Object({ name: Type.String({ maxLength: 200 }) })

/**
 * The columns by which codes can be sorted. `key` means the last four characters, because complete
 * codes are encrypted.
 */
const REDEMPTION_SORTS = [
  'id',
  'name',
  'status',
  'quota',
  'used_count',
  'created_time',
  'redeemed_time',
  'valid_until',
  'key',
  'used_username',
] as const
export type RedemptionSort = (typeof REDEMPTION_SORTS)[number]

const SearchRedemptions = Type.Object({
  ...Query.keysetPage,
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
