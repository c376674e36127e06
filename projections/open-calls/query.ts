import { type CommonQueryMethods, sql } from 'slonik'
import { z } from 'zod'
import { wireInteger } from '#infra/postgres/row-types.ts'

const openCall = z.object({
  call: z.string(),
  userId: wireInteger,
  tokenId: wireInteger,
  model: z.string(),
  /** Unix milliseconds, as `leaseUntil`. */
  admittedAt: wireInteger,
  leaseUntil: wireInteger,
})
export type OpenCall = z.infer<typeof openCall>

const columns = sql.fragment`
  call, user_id as "userId", token_id as "tokenId", model, admitted_at as "admittedAt",
  lease_until as "leaseUntil"
`

/** Calls admitted and not ended whose lease is over at `now` (unix milliseconds), oldest first. */
export const expiredCalls = (
  db: CommonQueryMethods,
  now: number,
  limit: number,
): Promise<readonly OpenCall[]> =>
  db.any(sql.type(openCall)`
    select ${columns} from read_open_calls.calls
    where lease_until < ${now} order by lease_until limit ${limit}
  `)
