import type { Pool, PoolClient } from 'pg'
import { monthOf } from '#projections/runner/monthly-partitions.ts'
import { OPEN_TOKEN_COLUMNS, OPEN_TOKEN_LITERALS } from '#test/support/token-fields.ts'

/** A site with three months of calls, of which one user makes 6 of 100. */
export const SITE = {
  users: 2_000,
  /** The lowest user id, whose user has the most rows. */
  firstUser: 1_000,
  tokensEach: 3,
  channels: 10,
  models: 20,
  days: 90,
} as const

export const HEAVY_USER = SITE.firstUser

/** Values of 1 in 10 000 calls, which only an index or a scan of all rows finds. */
export const RARE = { channel: 11, model: 'rare-model', group: 'rare-group' } as const

/** The number of rows per statement. */
const CHUNK = 500_000

/**
 * Inserts `count` rows up to `end` (unix seconds), and the rollups of the projections. The rows are
 * generated in the database. Indexes are created last, which is much faster.
 */
export async function makeLogRows(
  pg: Pool,
  {
    count,
    end,
    sealed,
    onChunk,
  }: {
    count: number
    end: number
    /** Returns a user's encrypted client address, as in events. */
    sealed: (userId: number) => Promise<string>
    onChunk?: (rows: number) => void
  },
): Promise<void> {
  const client = await pg.connect()
  try {
    await client.query('set synchronous_commit = off; set maintenance_work_mem = "1GB"')
    const start = end - SITE.days * 86_400
    await createMonths(client, start, end)
    await makeOwners(client)
    const users = Array.from({ length: SITE.users }, (_, i) => SITE.firstUser + i)
    await client.query('create temp table sealed (user_id bigint primary key, ip text)')
    await client.query('insert into sealed select * from unnest($1::int8[], $2::text[])', [
      users,
      await Promise.all(users.map(sealed)),
    ])
    await withoutLogIndexes(client, async () => {
      for (let from = 1; from <= count; from += CHUNK) {
        const to = Math.min(count, from + CHUNK - 1)
        await client.query(ROWS, [from, to, start, (end - start) / count])
        onChunk?.(to)
      }
    })
    await client.query('set work_mem = "600MB"')
    await fillRollups(client)
    await client.query('vacuum analyze')
  } finally {
    client.release(true)
  }
}

type Client = { query: (sql: string) => Promise<unknown> }

/** Creates the missing partitions of the log between two times in Unix seconds. */
export async function createMonths(client: Client, start: number, end: number): Promise<void> {
  for (let at = start; monthOf(at).start <= end; at = monthOf(at).end) {
    const month = monthOf(at)
    await client.query(`create table if not exists read_call_log.log_${month.name}
      partition of read_call_log.log for values from (${month.start}) to (${month.end})`)
  }
}

/** Drops the log's indexes, calls `insert`, and creates the indexes again. */
export async function withoutLogIndexes(
  client: PoolClient,
  insert: () => Promise<void>,
): Promise<void> {
  const { rows: indexes } = await client.query<{ name: string; sql: string }>(
    `select indexname as name, indexdef as sql from pg_indexes
     where schemaname = 'read_call_log' and tablename = 'log' and indexname <> 'log_pkey'`,
  )
  for (const { name } of indexes) await client.query(`drop index read_call_log.${name}`)
  await insert()
  for (const { sql } of indexes) await client.query(sql.replace(' ON ONLY ', ' ON '))
}

async function makeOwners(client: Client): Promise<void> {
  const { users, firstUser, tokensEach, channels } = SITE
  await client.query(`
    insert into read_users.users (id, username, display_name, role, user_group, created_at)
    select ${firstUser} + i, 'user-' || i, 'User ' || i, 1, 'default', 0
    from generate_series(0, ${users - 1}) i`)
  await client.query(`
    insert into read_tokens.tokens (id, user_id, name, rate_limit, ${OPEN_TOKEN_COLUMNS},
      key_lookup, key_ref, key_hint, created_at, changed_position)
    select ${firstUser * 10} + i, ${firstUser} + i / ${tokensEach}, 'token-' || i, '{}',
      ${OPEN_TOKEN_LITERALS}, 'lookup-' || i, '', '', 0, 0
    from generate_series(0, ${users * tokensEach - 1}) i`)
  await client.query(`
    insert into read_channels.channels (id, terms, name, tag, models, groups, model_mapping,
      priority, weight, expired_at, key_refs, key_mode, status, status_at, created_at,
      changed_position)
    select i, '{}', 'Channel ' || i, '', '[]', '[]', '', 0, 0, -1, '[]', '', 1, 0, 0, 0
    from generate_series(1, ${channels + 1}) i`)
}

const OTHER = `'{"model_ratio":1.25,"completion_ratio":4,"group_ratio":1,' ||
  '"cache_ratio":0.5,' ||
  '"cache_creation_ratio":1.25,"price":{"mode":"tokens","list":"3","model":"1.25",' ||
  '"completion":"4","cacheRead":"0.5","cacheWrite":"1.25","image":"1","audio":"1",' ||
  '"audioCompletion":"1","group":"1","userGroup":"default"},"cache_tokens":' || r % 900 + 1 ||
  ',"usage":{"inputUncached":' || r % 4000 || ',"cacheRead":' || r % 900 + 1 || ',"output":' ||
  r % 700 || '},"frt":' || r % 4000 || ',"duration_ms":' || r % 20000 ||
  ',"usage_source":"upstream","end":"done","hold":41000}'`

/**
 * $1 and $2 are the first and last row number, $3 is the first row's time (unix seconds), and $4 is
 * the seconds between rows.
 */
const ROWS = `
  insert into read_call_log.log
  select 1000 + i, $3::bigint + (i * $4::float8)::bigint, type, user_id,
    case when is_call then user_id * ${SITE.tokensEach} - ${SITE.firstUser * SITE.tokensEach}
      + ${SITE.firstUser * 10} + r / 7 % ${SITE.tokensEach} else 0 end,
    case when not is_call then 0 when r / 19 % 10000 = 0 then ${RARE.channel}
      else 1 + r % 97 % ${SITE.channels} end,
    case when not is_call then '' when r / 19 % 10000 = 1 then '${RARE.model}'
      else 'model-' || r % 89 % ${SITE.models} end,
    case when not is_call then '' when r / 19 % 10000 = 2 then '${RARE.group}'
      else (array['default', 'default', 'vip', 'svip'])[1 + r / 11 % 4] end,
    case when is_call then 'req-' || i else '' end, r % 3 > 0,
    case when type = 2 then r % 5000 else 0 end, case when type = 2 then r % 700 else 0 end,
    case when type = 6 then 0 else r % 9000 end, r % 20000,
    case type when 2 then 'settled' when 6 then 'released:timeout' when 1 then 'redeemed'
      when 5 then 'check-in' when 3 then 'grant:admin' else 'affiliate' end,
    0, null, sealed.ip, case when type = 2 then ${OTHER} else '{}' end,
    case when is_call then '{"channel_id":' || 1 + r % 10 || ',"admin_info":{"use_channel":['
      || 1 + r % 10 || '],"attempts":[{"channel":' || 1 + r % 10
      || ',"status":200,"error":null,"ms":' || r % 20000 || '}]}}' else '{}' end
  from (
    select i, r, type, type in (2, 6) as is_call, ${SITE.firstUser}
      + case when r / 13 % 100 < 6 then 0 else 1 + r / 17 % ${SITE.users - 1} end as user_id
    from (
      select i, r, case when r % 20 > 0 then 2 when r % 400 > 0 then 6
        else (array[1, 3, 4, 5])[1 + r / 400 % 4] end as type
      from (
        select i, (hashint8extended(i, 0) & 2147483647)::int as r
        from generate_series($1::bigint, $2::bigint) i
      ) numbered
    ) typed
  ) owned join sealed using (user_id)`

const SUMS = 'count(*), sum(quota), sum(prompt_tokens), sum(completion_tokens)'
const partRows = (table: string, kind: string, id: string, channel = 'channel_id'): string => `
  insert into read_usage_by_hour.${table}
  select '${kind}:' || ${id}, ${table === 'by_day' ? 'day' : 'hour'}, type, model, call_group,
    ${channel}, ${SUMS}
  from narrow where ${kind === 'user' ? 'true' : "call_group <> ''"}
  group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6`

/** All statements must run on one connection, because they use a temporary table. */
export async function fillRollups(client: Client): Promise<void> {
  for (const sql of ROLLUPS) await client.query(sql)
}

/** Copies the needed columns first, so that the log is read only once. */
const ROLLUPS = [
  `create temp table narrow as select user_id, token_id, channel_id, call_group, type, model,
     created_at - created_at % 3600 as hour, created_at - created_at % 86400 as day,
     quota, prompt_tokens, completion_tokens from read_call_log.log`,
  `insert into read_usage_by_hour.by_model
   select hour, type, model, ${SUMS} from narrow group by 1, 2, 3`,
  `insert into read_usage_by_hour.by_user_and_model
   select user_id, hour, type, model, ${SUMS} from narrow group by 1, 2, 3, 4`,
  `insert into read_usage_by_hour.charged_by_day
   select day, user_id, ${SUMS} from narrow where type = 2 group by 1, 2`,
  ...['by_part', 'by_day'].flatMap((table) => [
    partRows(table, 'channel', 'channel_id'),
    partRows(table, 'group', 'call_group', '0'),
  ]),
  partRows('by_day', 'user', 'user_id'),
  partRows('by_day', 'token', 'token_id'),
]
