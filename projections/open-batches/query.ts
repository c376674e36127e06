import { type CommonQueryMethods, sql } from 'slonik'
import { rowType, wireInteger } from '#infra/postgres/row-types.ts'

/** Counts the batches that channels have and that have not ended. */
export const countOpenBatchesOf = (
  db: CommonQueryMethods,
  channelIds: readonly number[],
): Promise<number> =>
  db.oneFirst(sql.type(rowType({ count: wireInteger }))`
    select count(*) as count from read_open_batches.batches
    where channel_id = any(${sql.array([...channelIds], 'int8')})
  `)
