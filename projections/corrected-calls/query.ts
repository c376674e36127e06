import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'

const correctedCall = rowType({
  call: Type.String(),
  position: wireInteger,
  revision: wireInteger,
  createdAt: wireInteger,
  correctionId: Type.String(),
  charge: wireInteger,
  corrected: wireInteger,
  unpaid: wireInteger,
  balanceAfter: nullable(wireInteger),
  heldAfter: nullable(wireInteger),
})
export type CorrectedCallRow = RowOf<typeof correctedCall>

const COLUMNS = sql.fragment`
  call, position, revision, created_at as "createdAt", correction_id as "correctionId", charge,
  corrected, unpaid, balance_after as "balanceAfter", held_after as "heldAfter"`

/** Returns the corrections of the given calls, oldest first. */
export const correctionsOfCalls = (
  db: CommonQueryMethods,
  calls: readonly string[],
): Promise<readonly CorrectedCallRow[]> =>
  db.any(sql.type(correctedCall)`
    select ${COLUMNS} from read_corrected_calls.calls
    where call = any(${sql.array([...calls], 'text')}) order by position
  `)

/** Returns the calls that one event of an account corrected, in the order of their ids. */
export const callsCorrectedAt = (
  db: CommonQueryMethods,
  userId: number,
  position: number,
): Promise<readonly CorrectedCallRow[]> =>
  db.any(sql.type(correctedCall)`
    select ${COLUMNS} from read_corrected_calls.calls
    where position = ${position} and user_id = ${userId} order by call
  `)

/** Counts the corrected calls of each event, by the event's position. */
export async function countCorrectedCalls(
  db: CommonQueryMethods,
  positions: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await db.any(sql.type(rowType({ position: wireInteger, count: wireInteger }))`
    select position, count(*)::int8 as count from read_corrected_calls.calls
    where position = any(${sql.array([...positions], 'int8')}) group by position
  `)
  return new Map(rows.map(({ position, count }) => [position, count]))
}

const sums = rowType({
  correctionId: Type.String(),
  calls: wireInteger,
  refunded: wireInteger,
  charged: wireInteger,
  unpaid: wireInteger,
})

/**
 * The changes that a correction has made so far. `unpaid` is the sum of the additional charges that
 * the users' balances could not cover.
 */
export type AppliedSums = Omit<RowOf<typeof sums>, 'correctionId'>

export const NOTHING_APPLIED: AppliedSums = { calls: 0, refunded: 0, charged: 0, unpaid: 0 }

/**
 * Returns the changes that the given corrections have made so far, by the corrections' ids. A
 * correction that has changed nothing is missing.
 */
export async function sumsOfCorrections(
  db: CommonQueryMethods,
  ids: readonly string[],
): Promise<ReadonlyMap<string, AppliedSums>> {
  const rows = await db.any(sql.type(sums)`
    select correction_id as "correctionId", calls, refunded, charged, unpaid
    from read_corrected_calls.sums where correction_id = any(${sql.array([...ids], 'text')})
  `)
  return new Map(rows.map(({ correctionId, ...row }) => [correctionId, row]))
}

/** Returns the changes that one correction has made so far. */
export const sumsOfCorrection = async (db: CommonQueryMethods, id: string): Promise<AppliedSums> =>
  (await sumsOfCorrections(db, [id])).get(id) ?? NOTHING_APPLIED
