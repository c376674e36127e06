import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { monthOf } from '#projections/runner/monthly-partitions.ts'
import type { LogOther } from '#read-api/contract/logs.ts'
import { fillRollups } from '#test/bench/generate-log-rows.ts'
import { NOW } from '#test/projections/fixture.ts'
import { ADMIN, ALICE, type Api, apiFixture, BOB, ROOT } from './fixture.ts'

type Row = Readonly<Record<string, unknown>>
type List = { items: Row[]; page: number; total: number }

const ROWS = 7
const SECOND = NOW / 1_000

let api: Api
let admin: Record<string, string>

/** Rows of every list, with values that repeat, as the folds would have left them. */
beforeAll(async () => {
  api = await apiFixture()
  admin = await api.logIn(ADMIN)
  const { pg } = api.core
  const month = monthOf(SECOND)
  await pg.query(`create table if not exists read_call_log.log_${month.name}
    partition of read_call_log.log for values from (${month.start}) to (${month.end})`)
  await pg.query(
    `insert into read_orders.orders (id, user_id, trade_no, provider, method, amount, quota,
       cents, currency, status, refunded_cents, created_at)
     select i, ${ALICE} + i % 2, 'trade-' || i, 'epay', (array['zfb', 'wx'])[1 + i % 2], i,
       i % 3, 100 * (i % 4), 'CNY', (array['paid', 'pending'])[1 + i % 2], i % 3, $1 - i % 5
     from generate_series(1, ${ROWS}) i`,
    [SECOND],
  )
  await pg.query(
    `insert into read_messages.messages (id, title, content, format, total, created_at,
       changed_position)
     select i, 'Title ' || i % 3, '', (array['html', 'markdown'])[1 + i % 2], i % 4, $1 - i, i
     from generate_series(1, ${ROWS}) i`,
    [SECOND],
  )
  await pg.query(
    `insert into read_messages.recipients
       select i, case when i = 1 then 1 else ${ADMIN} end, ${BOB}
       from generate_series(1, ${ROWS}) i`,
  )
  await pg.query(
    `insert into read_messages.reads (user_id, message_id, read_at, changed_position)
     select ${ADMIN}, i, $1::bigint, i from generate_series(1, ${ROWS}, 3) i
     union all select user_id, 1, $1::bigint, 1 from unnest(array[${ROOT}, ${BOB}]) user_id`,
    [SECOND],
  )
  await pg.query(
    `insert into read_tokens.tokens (id, user_id, name, token_group, models, rate_limit,
       tokens_per_minute, max_concurrency, key_lookup, key_ref, key_hint, created_at,
       changed_position)
     select i, ${ADMIN}, 'name ' || i % 3, 'group-' || i % 2,
       case when i % 3 > 0 then array_fill('m'::text, array[i % 3]) end,
       '{"isEnabled": false, "periodSeconds": 60, "count": 1, "success": 1}', 0, 0,
       'lookup-' || i, 'ref-' || i, 'end' || i % 4, $1 - i % 5, i
     from generate_series(1, ${ROWS}) i`,
    [SECOND],
  )
  await pg.query(
    `insert into read_redemptions.redemptions (id, key_lookup, key_ref, key_hint, name, quota,
       is_gift, used_count, used_user_id, created_at, created_by, changed_position)
     select i, 'lookup-' || i, 'ref-' || i, 'end' || i % 4, 'Name ' || i % 3, i % 2, false, 0,
       case when i % 3 > 0 then ${ADMIN} + i % 3 else 0 end, $1 - i % 5, ${ADMIN}, i
     from generate_series(1, ${ROWS}) i`,
    [SECOND],
  )
  await pg.query(
    'insert into read_messages.read_counts select i, i % 2 from generate_series(1, 5) i',
  )
  await insertTasks(1, ROWS)
  await insertCalls(1, ROWS)
  const client = await pg.connect()
  await fillRollups(client)
  client.release(true)
})
afterAll(() => api.close())

const insertCalls = (first: number, last: number) =>
  api.core.pg.query(
    `insert into read_call_log.log (id, created_at, type, user_id, model, reason, channel_id,
       call_group, prompt_tokens, completion_tokens, quota, duration_ms, token_id, is_stream,
       other, admin_other)
     select 1000000 + i, $1, case i % 4 when 0 then 6 else 2 end, ${ALICE} + i % 2,
       'model-' || i % 3, 'settled', i % 3, 'group-' || i % 2, i % 5, i % 4, i % 3, i % 2 * 1000, 0,
       i % 3 > 0, (array['{}', '{"model_ratio":2.5,"frt":120}', '{"model_ratio":10,"frt":9}',
         '{"error_code":"\\u0000\\"frt\\":7","model_ratio":1e-7}'])[1 + i % 4],
       (array['{}', '{"admin_info":{"use_channel":[],"attempts":[]}}',
         '{"admin_info":{"use_channel":[12],"attempts":[{}]}}',
         '{"admin_info":{"use_channel":[12,7,3],"attempts":[{},{},{}]}}'])[1 + i % 4]
     from generate_series($2::int, $3::int) i`,
    [SECOND, first, last],
  )

const insertTasks = (first: number, last: number) =>
  api.core.pg.query(
    `insert into read_tasks.tasks (id, position, changed_position, kind, user_id, platform,
       action, model, task_group, hold, channel_id, status, code, submitted_at, finished_at)
     select 'task-' || i, 1000000 + i, i, 'drawing', ${ALICE} + i % 2, 'mj',
       (array['IMAGINE', 'UPSCALE'])[1 + i % 2], 'mj', 'default', 0, i % 3, 'SUCCESS', i % 3,
       $1::bigint * 1000, case when i % 3 > 0 then $1::bigint * 1000 + i % 2 * 1000 end
     from generate_series($2::int, $3::int) i`,
    [SECOND, first, last],
  )

const listOf = async (path: string, query: string): Promise<List> =>
  (await api.get<List>(`${path}?${query}`, admin)).body.data

const text = (value: unknown): string => String(value).toLowerCase()
const idOf = ({ id, user_id }: Row): unknown => id ?? user_id
const detailsOf = (row: Row): LogOther => JSON.parse(String(row.other))
const NEVER = Number.POSITIVE_INFINITY

/** The columns of each list, with the value that a row is sorted by. */
const LISTS: Readonly<Record<string, Readonly<Record<string, (row: Row) => unknown>>>> = {
  '/api/user/': {
    id: ({ id }) => id,
    username: ({ username }) => text(username),
    role: ({ role }) => role,
    quota: ({ quota }) => quota,
    used_quota: ({ used_quota }) => used_quota,
    request_count: ({ request_count }) => request_count,
    aff_count: ({ aff_count }) => aff_count,
    group: ({ group }) => group,
    status: ({ status }) => status,
    created_time: ({ created_time }) => created_time,
  },
  '/api/user/topup': {
    id: ({ id }) => id,
    username: ({ username }) => text(username),
    status: ({ status }) => ['pending', 'paid', 'refunded'].indexOf(text(status)),
    money: ({ money }) => Number(money),
    refunded: ({ refunded }) => Number(refunded),
    quota: ({ quota }) => quota,
    payment_method: ({ payment_method }) => payment_method,
    created_at: ({ created_at }) => created_at,
  },
  '/api/admin/messages': {
    id: ({ id }) => id,
    title: ({ title }) => text(title),
    format: ({ format }) => format,
    total_recipients: ({ stats }) => (stats as Row).total_recipients,
    read_count: ({ stats }) => (stats as Row).read_count,
    created_at: ({ created_at }) => created_at,
  },
  '/api/user/messages': {
    id: ({ id }) => id,
    title: ({ title }) => text(title),
    is_read: ({ is_read }) => Number(is_read),
    created_at: ({ created_at }) => created_at,
  },
  '/api/admin/messages/1/recipients': {
    user_id: ({ user_id }) => user_id,
    username: ({ username }) => text(username),
    display_name: ({ display_name }) => text(display_name),
    read_at: ({ read_at }) => read_at ?? 0,
  },
  '/api/token/': {
    id: ({ id }) => id,
    name: ({ name }) => text(name),
    group: ({ group }) => group,
    created_time: ({ created_time }) => created_time,
    key: ({ id }) => Number(id) % 4,
    model_limits: ({ model_limits_enabled, model_limits }) =>
      model_limits_enabled ? text(model_limits).split(',').length : NEVER,
  },
  '/api/redemption/': {
    id: ({ id }) => id,
    name: ({ name }) => text(name),
    quota: ({ quota }) => quota,
    created_time: ({ created_time }) => created_time,
    key: ({ key_hint }) => key_hint,
    used_username: ({ used_username }) => text(used_username),
  },
  '/api/mj/': {
    submit_time: ({ id }) => id,
    finish_time: ({ finish_time }) => finish_time || NEVER,
    duration: ({ finish_time, submit_time }) =>
      finish_time ? Number(finish_time) - Number(submit_time) : NEVER,
    username: ({ username }) => text(username),
    channel: ({ channel_id }) => channel_id,
    action: ({ action }) => action,
    platform: () => '',
    status: ({ status }) => status,
    code: ({ code }) => code,
  },
  '/api/log/': {
    created_at: ({ id }) => id,
    type: ({ type }) => type,
    username: ({ username }) => text(username),
    token_name: ({ token_name }) => token_name,
    channel: ({ channel }) => channel,
    model_name: ({ model_name }) => model_name,
    group: ({ group }) => group,
    prompt_tokens: ({ prompt_tokens }) => prompt_tokens,
    completion_tokens: ({ completion_tokens }) => completion_tokens,
    quota: ({ quota }) => quota,
    use_time: ({ use_time }) => use_time,
    ratios: (row) => detailsOf(row).model_ratio ?? -1,
    first_token: (row) => (row.is_stream && row.type !== 6 ? (detailsOf(row).frt ?? -1) : -1),
    retries: (row) => detailsOf(row).admin_info?.use_channel.length ?? 0,
  },
}

const SORTS = Object.entries(LISTS).flatMap(([path, columns]) =>
  Object.entries(columns).map(([sort, keyOf]) => ({ path, sort, keyOf })),
)

it.each(['/api/log/self/', '/api/mj/self'])(
  '%s ignores a sort by channel, because it hides the channels',
  async (path) => {
    const alice = await api.logIn(ALICE)
    const ids = async (query: string) =>
      (await api.get<List>(`${path}?${query}`, alice)).body.data.items.map(({ id }) => id)
    const newestFirst = await ids('')
    expect(newestFirst.length).toBeGreaterThan(2)
    expect(await ids('sort=channel')).toEqual(newestFirst)
    expect(await ids('sort=channel&order=asc')).toEqual(newestFirst)
  },
)

describe.each(SORTS)('$path sorted by $sort', ({ path, sort, keyOf }) => {
  it.each(['asc', 'desc'])('%s: orders the rows, and equal rows newest first', async (order) => {
    const { items } = await listOf(path, `size=100&sort=${sort}&order=${order}`)
    expect(items.length).toBeGreaterThan(1)
    const age = (row: Row): number => -Number(idOf(row))
    const direction = order === 'asc' ? 1 : -1
    const compare = (a: Row, b: Row): number => {
      const [one, other] = [keyOf(a), keyOf(b)] as [number, number]
      return one === other ? age(a) - age(b) : one < other ? -direction : direction
    }
    expect(items.map(idOf)).toEqual(items.toSorted(compare).map(idOf))
  })

  it('shows each row on one page', async () => {
    const query = `sort=${sort}&order=asc`
    const whole = await listOf(path, `size=100&${query}`)
    const pages: List[] = []
    for (let page = 0; page < 4; page += 1) {
      pages.push(await listOf(path, `size=2&p=${page}&${query}`))
    }
    const ids = pages.flatMap(({ items }) => items.map(idOf))
    expect(ids).toEqual(whole.items.slice(0, 8).map(idOf))
  })
})

it.each(Object.keys(LISTS))('%s refuses to be sorted by an unknown column', async (path) => {
  const unknown = await api.get(`${path}?sort=password_ref`, admin)
  expect([unknown.status, unknown.body.message]).toEqual([400, expect.stringContaining('sort')])
  const sideways = await api.get(`${path}?sort=id&order=sideways`, admin)
  expect(sideways.status).toBe(400)
})

it.each([
  ['/api/log/', insertCalls, 'quota'],
  ['/api/mj/', insertTasks, 'channel'],
] as const)('%s shifts no page when rows arrive while it is read', async (path, insert, sort) => {
  const query = (page: number) => `size=3&p=${page}&sort=${sort}&order=desc`
  const whole = await listOf(path, `size=100&sort=${sort}&order=desc`)
  await listOf(path, query(0))
  await insert(100, 120)
  const later = [await listOf(path, query(1)), await listOf(path, query(2))]
  const ids = later.flatMap(({ items }) => items.map(({ id }) => id))
  expect(ids).toEqual(whole.items.slice(3, 9).map(({ id }) => id))
})
