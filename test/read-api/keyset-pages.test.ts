import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NOW } from '#test/projections/fixture.ts'
import { ADMIN, ALICE, type Api, apiFixture } from './fixture.ts'

type Row = { readonly id?: number; readonly user_id: number }

let api: Api
let admin: Record<string, string>
beforeAll(async () => {
  api = await apiFixture()
  admin = await api.logIn(ADMIN)
})
afterAll(() => api.close())

const FIRST_ID = 100
const SECOND = NOW / 1_000

type List = {
  readonly path: string
  readonly sorts: readonly string[]
  /** The tables that a run empties from `FIRST_ID` on, with the column of the id. */
  readonly tables: Readonly<Record<string, string>>
  /** Inserts the row `$1`, whose sort columns follow from the small number `$2`. */
  readonly inserts: readonly string[]
  /** Marks the row `$1` as deleted. */
  readonly deletion?: string
}

const MESSAGE = {
  tables: { 'read_messages.messages': 'id', 'read_messages.recipients': 'message_id' },
  inserts: [
    `insert into read_messages.messages (id, title, content, format, total, created_at,
       changed_position)
     values ($1::int8, 'Title ' || $2::int, '', (array['html', 'markdown', 'plain'])[1 + $2::int],
       $2::int, ${SECOND} - $2::int, $1::int8)`,
    `insert into read_messages.recipients values ($1::int8, ${ADMIN}, ${ADMIN} + $2::int)`,
  ],
}

const LISTS: readonly List[] = [
  {
    path: '/api/user/',
    sorts: ['id', 'username', 'status', 'role', 'group', 'quota', 'created_time'],
    tables: { 'read_users.users': 'id' },
    inserts: [
      `insert into read_users.users (id, username, display_name, role, status, user_group,
         created_at)
       values ($1::int8, 'name ' || $2::int, '', 1, 1 + $2::int % 2, 'group-' || $2::int,
         ${SECOND} - $2::int)`,
    ],
  },
  {
    path: '/api/user/topup',
    sorts: ['id', 'username', 'status', 'money', 'refunded', 'quota', 'payment_method'],
    tables: { 'read_orders.orders': 'id' },
    inserts: [
      `insert into read_orders.orders (id, user_id, trade_no, provider, method, amount, quota,
         cents, currency, status, refunded_cents, created_at)
       values ($1::int8, ${ALICE} + $2::int % 2, $1::int8, 'epay',
         (array['zfb', 'wx', 'stripe'])[1 + $2::int], 1, $2::int, 100 * $2::int, 'CNY',
         (array['paid', 'pending', 'paid'])[1 + $2::int], $2::int % 2, ${SECOND})`,
    ],
  },
  {
    path: '/api/admin/messages',
    sorts: ['id', 'title', 'format', 'total_recipients', 'read_count', 'created_at'],
    ...MESSAGE,
  },
  {
    path: '/api/user/messages',
    sorts: ['id', 'title', 'is_read', 'created_at'],
    ...MESSAGE,
  },
  {
    path: `/api/admin/messages/${FIRST_ID}/recipients`,
    sorts: ['user_id', 'username', 'display_name', 'read_at'],
    tables: { ...MESSAGE.tables, 'read_users.users': 'id', 'read_messages.reads': 'user_id' },
    inserts: [
      `insert into read_messages.messages (id, title, content, format, total, created_at,
         changed_position)
       values (${FIRST_ID}, '', '', 'html', 9, 0, 1) on conflict do nothing`,
      `insert into read_messages.recipients values (${FIRST_ID}, $1::int8, $1::int8)`,
      `insert into read_users.users (id, username, display_name, role, user_group, created_at)
       values ($1::int8, 'name ' || $2::int, 'Name ' || $2::int % 2, 1, '', 0)`,
      `insert into read_messages.reads select $1::int8, ${FIRST_ID}, $2::int, 1 where $2::int > 0`,
    ],
  },
  {
    path: '/api/token/',
    sorts: ['id', 'name', 'status', 'remain_quota', 'expired_time', 'group', 'key', 'model_limits'],
    tables: { 'read_tokens.tokens': 'id' },
    inserts: [
      `insert into read_tokens.tokens (id, user_id, name, status, expires_at, token_group, models,
         rate_limit, tokens_per_minute, max_concurrency, key_lookup, key_ref, key_hint, created_at,
         changed_position)
       values ($1::int8, ${ADMIN}, 'name ' || $2::int, 1 + $2::int % 2, nullif($2::int, 0), '',
         case when $2::int > 0 then array_fill('m'::text, array[$2::int]) end,
         '{"isEnabled": false, "periodSeconds": 60, "count": 1, "success": 1}', 0, 0, $1::int8,
         $1::int8, 'end' || $2::int, ${SECOND} - $2::int, $1::int8)`,
    ],
    deletion: 'update read_tokens.tokens set is_deleted = true where id = $1::int8',
  },
  {
    path: '/api/redemption/',
    sorts: ['id', 'name', 'status', 'quota', 'used_count', 'valid_until', 'key', 'used_username'],
    tables: { 'read_redemptions.redemptions': 'id' },
    inserts: [
      `insert into read_redemptions.redemptions (id, key_lookup, key_ref, key_hint, name, quota,
         is_gift, used_count, used_user_id, valid_until, created_at, created_by, changed_position)
       values ($1::int8, $1::int8, $1::int8, 'end' || $2::int, 'Name ' || $2::int, $2::int, false,
         $2::int, $2::int, nullif($2::int, 0), 0, ${ADMIN}, $1::int8)`,
    ],
    deletion: 'update read_redemptions.redemptions set is_deleted = true where id = $1::int8',
  },
]

const idOf = ({ id, user_id }: Row): number => id ?? user_id

async function read(path: string, query: string): Promise<number[]> {
  const { status, body } = await api.get<{ items: Row[] }>(`${path}?${query}`, admin)
  expect(status).toBe(200)
  return body.data.items.map(idOf)
}

async function insert({ inserts }: List, id: number, value: number): Promise<void> {
  for (const statement of inserts) {
    const values = [String(id), value].slice(0, statement.includes('$2') ? 2 : 1)
    await api.core.pg.query(statement, statement.includes('$1') ? values : [])
  }
}

const SMALL = fc.integer({ min: 0, max: 2 })
const EDIT = fc.record({ value: SMALL, deletes: fc.boolean(), index: fc.nat() })

/** Reads all pages by `after`. Each page is followed by one edit, until all edits are made. */
async function walk(
  list: List,
  order: string,
  whole: readonly number[],
  edits: readonly { value: number; deletes: boolean; index: number }[],
): Promise<{ seen: number[]; deleted: Set<number> }> {
  const seen: number[] = []
  const deleted = new Set<number>()
  for (let page = 0; ; page += 1) {
    const after = seen.at(-1) ?? ''
    const ids = await read(list.path, `size=2&p=${page}&after=${after}&${order}`)
    if (ids.length === 0) return { seen, deleted }
    seen.push(...ids)
    const edit = edits[page]
    if (edit === undefined) continue
    const target = whole[edit.index % whole.length]
    if (edit.deletes && list.deletion !== undefined && target !== undefined) {
      await api.core.pg.query(list.deletion, [target])
      deleted.add(target)
    } else await insert(list, FIRST_ID + whole.length + page, edit.value)
  }
}

describe.each(LISTS)('$path', (list) => {
  it('shows each row once, whatever is added or deleted between the pages', async () => {
    const property = fc.asyncProperty(
      fc.constantFrom(...list.sorts),
      fc.constantFrom('asc', 'desc'),
      fc.array(SMALL, { minLength: 3, maxLength: 7 }),
      fc.array(EDIT, { maxLength: 4 }),
      async (sort, direction, values, edits) => {
        for (const [table, id] of Object.entries(list.tables)) {
          await api.core.pg.query(`delete from ${table} where ${id} >= ${FIRST_ID}`)
        }
        for (const [index, value] of values.entries()) await insert(list, FIRST_ID + index, value)
        const order = `sort=${sort}&order=${direction}`
        const whole = await read(list.path, `size=100&${order}`)
        const { seen, deleted } = await walk(list, order, whole, edits)
        expect(new Set(seen).size).toBe(seen.length)
        const lasting = (id: number) => whole.includes(id) && !deleted.has(id)
        expect(seen.filter(lasting)).toEqual(whole.filter(lasting))
      },
    )
    await fc.assert(property, { numRuns: 12 })
  })

  it('refuses an id that is not a number, and names the parameter', async () => {
    const { status, body } = await api.get(`${list.path}?after=1;drop`, admin)
    expect([status, body.message]).toEqual([400, expect.stringContaining('after')])
  })
})

it('a page cannot start after the row of another user, whose values it would reveal', async () => {
  const list = LISTS.find(({ path }) => path === '/api/token/')
  if (list === undefined) throw new Error('the list is missing')
  await insert(list, 900, 1)
  await insert(list, 901, 0)
  await api.core.pg.query(`update read_tokens.tokens set user_id = ${ALICE} where id = 900`)
  expect(await read(list.path, 'sort=name&order=desc')).toContain(901)
  expect(await read(list.path, 'sort=name&order=desc&after=900')).toEqual([])
})
