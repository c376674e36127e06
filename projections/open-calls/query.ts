import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'

const openCall = rowType({
  call: Type.String(),
  userId: wireInteger,
  tokenId: wireInteger,
  model: Type.String(),
  /**
   * The times are in Unix milliseconds. The process that serves the call must renew the lease
   * before `leaseUntil`.
   */
  admittedAt: wireInteger,
  leaseUntil: wireInteger,
})
export type OpenCall = RowOf<typeof openCall>

const columns = sql.fragment`
  call, user_id as "userId", token_id as "tokenId", model, admitted_at as "admittedAt",
  lease_until as "leaseUntil"
`

/** Reads open calls whose lease has expired at `now` (Unix milliseconds), oldest first. */
export const expiredCalls = (
  db: CommonQueryMethods,
  now: number,
  limit: number,
): Promise<readonly OpenCall[]> =>
  db.any(sql.type(openCall)`
    select ${columns} from read_open_calls.calls
    where lease_until < ${now} order by lease_until limit ${limit}
  `)

/** Reads an open call by its id. Returns null if the call has ended or does not exist. */
export const findOpenCall = (db: CommonQueryMethods, call: string): Promise<OpenCall | null> =>
  db.maybeOne(sql.type(openCall)`
    select ${columns} from read_open_calls.calls where call = ${call}
  `)
