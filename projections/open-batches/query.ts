import { type CommonQueryMethods, sql } from 'slonik'
import { rowType, wireInteger } from '#infra/postgres/row-types.ts'

/**
 * Counts the unfinished batches of the given channels. If `keptRefs` is given, batches that were
 * submitted with one of these keys do not count. A batch that no provider has accepted yet counts,
 * because its key is not known.
 */
export const countOpenBatchesOf = (
  db: CommonQueryMethods,
  channelIds: readonly number[],
  keptRefs?: readonly string[],
): Promise<number> =>
  db.oneFirst(sql.type(rowType({ count: wireInteger }))`
    select count(*) as count from read_open_batches.batches
    where channel_id = any(${sql.array([...channelIds], 'int8')})
      and ${
        keptRefs === undefined
          ? sql.fragment`true`
          : sql.fragment`(key_ref is null or key_ref <> all(${sql.array([...keptRefs], 'text')}))`
      }
  `)
