import { type CommonQueryMethods, sql } from 'slonik'
import { rowType, wireInteger } from '#infra/postgres/row-types.ts'

/**
 * Counts the unfinished batches that channels have or may have. If `keyRefs` is given, only those
 * that were submitted with one of these keys count.
 */
export const countOpenBatchesOf = (
  db: CommonQueryMethods,
  channelIds: readonly number[],
  keyRefs?: readonly string[],
): Promise<number> =>
  db.oneFirst(sql.type(rowType({ count: wireInteger }))`
    select count(*) as count from read_open_batches.batches
    where channel_id = any(${sql.array([...channelIds], 'int8')})
      and ${
        keyRefs === undefined
          ? sql.fragment`true`
          : sql.fragment`key_ref = any(${sql.array([...keyRefs], 'text')})`
      }
  `)
