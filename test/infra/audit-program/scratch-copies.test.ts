import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { sql as slonik } from 'slonik'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanScratchCopies } from '#infra/audit-program/scratch-copy-jobs.ts'
import type { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { createRewritingPools } from '#infra/postgres/pools.ts'
import { rewriteForCopy, scratchPrefixOf } from '#projections/scratch-copy-schemas/query.ts'
import type { ScratchCopy } from '#read-api/contract/scratch-copies.ts'
import type { ReadDeps } from '#read-api/read-dependencies-and-query-parameters.ts'
import { scratchCopyHandlers } from '#read-api/scratch-copies/routes-answered-from-scratch-copy.ts'
import {
  addChannel,
  addUser,
  chat,
  PASSWORD,
  setOption,
  type TestProduct,
  testProduct,
} from '#test/support/test-product.ts'

let product: TestProduct
let root: ConsoleClient
let customer: number
let auditor: Awaited<ReturnType<typeof addUser>>
let requestId: string
let position: number
let copy: string

const COPIES = '/api/audit/scratch-copies'
const sql = (text: string, values: unknown[] = []) => product.running.core.pg.query(text, values)
type List = { items: ScratchCopy[]; max: number; head: number }
const list = async (): Promise<ScratchCopy[]> => (await root.must<List>('GET', COPIES)).items

async function until(id: string, status: ScratchCopy['status']): Promise<ScratchCopy> {
  for (;;) {
    const found = (await list()).find((one) => one.id === id)
    if (found?.status === status) return found
    if (found?.status === 'failed') throw new Error('the copy failed')
    await delay(50)
  }
}

const PRESENT = { position: null, time: null }

async function create(moment: object = {}, by = root): Promise<string> {
  return (await by.must<{ id: string }>('POST', COPIES, { ...PRESENT, ...moment })).id
}

const remove = (id: string) => root.must('DELETE', `${COPIES}/${id}`)

/** Calls the API with a copy chosen. */
async function through<T>(
  id: string,
  path: string,
  {
    client = root,
    method = 'GET',
    body,
  }: { client?: ConsoleClient; method?: string; body?: object } = {},
) {
  const response = await fetch(`${product.url}${path}`, {
    method,
    headers: {
      ...{ ...client.sessionHeaders, 'x-scratch-copy': id },
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  const answer = isJson ? (JSON.parse(text) as { data: T; code?: string }) : null
  return { status: response.status, data: answer?.data as T, code: answer?.code ?? '', text }
}

async function tablesOf(id: string): Promise<string[]> {
  const { rows } = await sql(
    `select n.nspname || '.' || c.relname as name from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     where starts_with(n.nspname, $1) and c.relkind = 'r' order by 1`,
    [scratchPrefixOf(id)],
  )
  return rows.map(({ name }) => name)
}

/** Waits until the tables of a copy are dropped. */
async function dropped(id: string): Promise<void> {
  while ((await tablesOf(id)).length > 0) await delay(50)
}

type Users = { items: { id: number; quota: number; status: number; username: string }[] }

beforeAll(async () => {
  product = await testProduct()
  root = product.root
  await addChannel(product)
  await setOption(root, 'ModelRatio', { 'sim-small': 1, 'sim-large': 2 })
  const user = await addUser(root, 'customer', 500_000)
  customer = user.id
  auditor = await addUser(root, 'auditor')
  await root.must('POST', '/api/user/manage', { id: auditor.id, action: 'appoint_auditor' })
  await auditor.client.logIn('auditor', PASSWORD)
  const { id: token, key } = await user.client.createToken({ name: 'key', unlimited_quota: true })
  const own = await root.createToken({ name: 'of root', unlimited_quota: true })
  requestId = (await chat(product.url, key, {})).requestId
  await root.must('POST', '/api/redemption/', { name: 'gift', quota: 5, count: 1 })
  position = await product.running.core.store.headPosition()
  await chat(product.url, key, {})
  await user.client.must('DELETE', `/api/token/${token}`)
  await root.must('DELETE', `/api/token/${own.id}`)
  await root.must('POST', '/api/user/manage', { id: customer, action: 'disable' })
  await root.must('POST', '/api/user/quota', {
    ...{ id: customer, action: 'add', amount: 1_000, reason: 'later', request_id: 'later' },
  })
  await setOption(root, 'ModelRatio', { 'sim-small': 3 })
  await root.must('DELETE', '/api/redemption/1')
  copy = await create({ position })
  await until(copy, 'ready')
})

afterAll(() => product.close())

describe('a scratch copy', () => {
  it('shows accounts, users, tokens, codes, prices and the log as they were', async () => {
    const users = await through<Users>(copy, '/api/user/?page_size=100')
    const then = users.data.items.find(({ id }) => id === customer)
    const now = (await root.must<Users>('GET', '/api/user/?page_size=100')).items
    expect([then?.status, now.find(({ id }) => id === customer)?.status]).toEqual([1, 2])
    const balance = await through<{ total: number; position: number }>(
      ...([copy, `/api/audit/balance/${customer}`] as const),
    )
    expect(balance.data.total).toBe(then?.quota)
    expect(balance.data.position).toBeLessThanOrEqual(position)
    const logs = await through<{ total: number }>(copy, '/api/log/?type=2')
    expect(logs.data.total).toBe(1)
    expect((await through<{ count: number }>(copy, '/api/log/stat')).data.count).toBe(1)
    const tokens = await through<{ items: { name: string; key: string }[] }>(copy, '/api/token/')
    // The key itself is no longer there.
    expect(tokens.data.items).toMatchObject([{ name: 'of root', key: '' }])
    const codes = await through<{ total: number }>(copy, '/api/redemption/')
    expect(codes.data.total).toBe(1)
    const options = await through<{ key: string; value: string }[]>(copy, '/api/option/')
    const ratios = options.data.find(({ key }) => key === 'ModelRatio')?.value ?? ''
    expect(JSON.parse(ratios)).toEqual({ 'sim-small': 1, 'sim-large': 2 })
    const ledger = await through<{ items: { position: number }[]; closing: { total: number } }>(
      ...([copy, `/api/audit/ledger/${customer}`] as const),
    )
    expect(ledger.data.closing.total).toBe(then?.quota)
    const events = await through<{ items: { position: number }[] }>(
      ...([copy, `/api/audit/events?user_id=${customer}&limit=100`] as const),
    )
    expect(Math.max(...events.data.items.map((event) => event.position))).toBeLessThanOrEqual(
      position,
    )
  })

  it('answers each of its routes', async () => {
    const params: Record<string, string> = {
      ...{ ':userId': String(customer), ':requestId': requestId, ':kind': 'user' },
      ':id': String(customer),
    }
    const queries: Record<string, string> = {
      '/api/audit/prices': '?model=sim-small&group=default',
      '/api/audit/statement/:userId': `?month=${new Date().toISOString().slice(0, 7)}`,
      '/api/ledger/self/statement': `?month=${new Date().toISOString().slice(0, 7)}`,
      '/api/audit/site-month': `?month=${new Date().toISOString().slice(0, 7)}`,
      '/api/log/export': '?format=csv',
      '/api/log/self/export': '?format=ndjson',
      '/api/redemption/count-by-name': '?name=gift',
      '/api/audit/log/export': '?format=csv',
      '/api/audit/ledger/:userId/export': '?format=csv',
      '/api/ledger/self/export': '?format=ndjson',
    }
    const names = [...scratchCopyHandlers({ core: {} } as ReadDeps).keys()]
    expect(names.length).toBeGreaterThan(40)
    const wrong: string[] = []
    for (const name of names) {
      const url = name.replace('GET ', '')
      const objects = { '/api/channel/:id': '1', '/api/token/:id': '2' } as Record<string, string>
      const ofObject = Object.entries(objects).find(([start]) => url.startsWith(start))?.[1]
      const path = url.replaceAll(/:\w+/g, (param) =>
        param === ':id' && ofObject !== undefined ? ofObject : (params[param] ?? '1'),
      )
      const { status, text } = await through(copy, path + (queries[url] ?? ''))
      if (status !== 200) wrong.push(`${path} ${status} ${text.slice(0, 200)}`)
    }
    expect(wrong).toEqual([])
  })

  it('has the rows that the live read models have at the same position', async () => {
    const id = await create()
    await until(id, 'ready')
    const { position: head } = (await list()).find((one) => one.id === id) as ScratchCopy
    for (const table of ['balances.accounts', 'users.users', 'call_log.log', 'ledger.movements']) {
      const hash = (name: string) =>
        sql(`select md5(string_agg(t::text, '|' order by t::text)) as hash from ${name} t`)
      const [own, live] = await Promise.all([
        hash(scratchPrefixOf(id) + table),
        hash(`read_${table}`),
      ])
      expect([table, own.rows[0].hash]).toEqual([table, live.rows[0].hash])
    }
    expect(head).toBeGreaterThan(position)
    await remove(id)
    await dropped(id)
  })

  it('is only read: writes and what it lacks are refused, whatever the caller', async () => {
    const body = { id: customer, quota: 1 }
    const writes = [
      await through(copy, '/api/user/', { method: 'PUT', body }),
      await through(copy, '/api/user/logout', { method: 'POST' }),
      await through(copy, `/api/channel/test/1`, { method: 'POST', body: {} }),
      await through(copy, `${COPIES}/${copy}`, { method: 'DELETE' }),
    ]
    expect(writes.map(({ status, code }) => [status, code])).toEqual(
      writes.map(() => [409, 'ScratchCopyReadOnly']),
    )
    for (const path of ['/api/user/messages', '/api/audit/rebuilds', '/api/user/security']) {
      expect((await through(copy, path)).code).toBe('NotInScratchCopy')
    }
    const own = await through<{ username: string }>(copy, '/api/user/self')
    expect([own.status, own.data.username]).toEqual([200, 'root'])
    expect((await through('x', '/api/log/')).code).toBe('InvalidField')
    expect((await through(randomUUID(), '/api/log/')).code).toBe('ScratchCopyUnknown')
    const pools = await createRewritingPools(product.running.core.pg, rewriteForCopy(copy))
    const edit = 'update read_balances.accounts set balance = 0'
    await expect(pools.pg.query(edit)).rejects.toThrow('read-only')
    await expect(
      pools.db.query(slonik.unsafe`update read_users.users set id = id`),
    ).rejects.toThrow()
    await pools.close()
  })

  it('does not count as the balance that an admin saw last', async () => {
    const path = `/api/user/${customer}`
    const { quota } = await root.must<{ quota: number }>('GET', path)
    const then = await through<{ quota: number }>(copy, path)
    expect(then.data.quota).not.toBe(quota)
    await root.must('PUT', '/api/user/', { id: customer, quota: quota + 10 })
    expect((await root.must<{ quota: number }>('GET', path)).quota).toBe(quota + 10)
  })

  it('is only for those who are auditors at present', async () => {
    const { client, id } = auditor
    const audit = `/api/audit/ledger/${customer}`
    expect((await through(copy, audit, { client })).status).toBe(200)
    expect((await through(copy, '/api/pricing', { client })).status).toBe(200)
    expect((await through(copy, '/api/user/', { client })).status).toBe(403)
    await root.must('POST', '/api/user/manage', { id, action: 'demote' })
    await client.logIn('auditor', PASSWORD)
    for (const path of [audit, '/api/pricing', '/api/log/self/', '/api/token/']) {
      expect([path, (await through(copy, path, { client })).status]).toEqual([path, 403])
    }
    const anybody = await fetch(`${product.url}/api/pricing`, {
      headers: { 'x-scratch-copy': copy },
    })
    expect(anybody.status).toBe(401)
    expect((await client.call('POST', COPIES, PRESENT)).status).toBe(403)
    await root.must('POST', '/api/user/manage', { id, action: 'appoint_auditor' })
    await client.logIn('auditor', PASSWORD)
  })

  it('of a time has the events until its end; bad moments are named', async () => {
    const { rows } = await sql('select at from event_store.events where position = $1', [position])
    const time = Math.floor(Number(rows[0].at) / 1_000)
    const id = await create({ time })
    const { position: last } = (await list()).find((one) => one.id === id) as ScratchCopy
    expect(last).toBeGreaterThanOrEqual(position)
    await remove(id)
    const bad = [{ position: 10 ** 9 }, { time: 1 }, { position: 1, time: 5 }, { position: 0 }]
    for (const body of bad) {
      const { status, message } = await root.call('POST', COPIES, { ...PRESENT, ...body })
      expect([status, message]).toEqual([400, expect.stringMatching(/position|time/)])
    }
  })

  it('leaves nothing when it is cancelled, and only its auditor can cancel it', async () => {
    const { client } = auditor
    const second = await create({}, client)
    const third = await root.call('POST', COPIES, PRESENT)
    expect([third.status, third.code]).toEqual([409, 'TooManyScratchCopies'])
    expect((await client.call('DELETE', `${COPIES}/${copy}`)).status).toBe(403)
    expect((await client.call('DELETE', `${COPIES}/${second}`)).status).toBe(200)
    expect((await client.call('DELETE', `${COPIES}/${second}`)).status).toBe(404)
    await dropped(second)
    expect((await through(second, '/api/log/')).code).toBe('ScratchCopyUnknown')
  })

  it('of an auditor is the only one, even if fifty are requested at once', async () => {
    const { client } = auditor
    await remove(copy)
    const requests = Array.from({ length: 50 }, () =>
      client.call<{ id: string } | null>('POST', COPIES, PRESENT),
    )
    const answers = await Promise.all(requests)
    const made = answers.filter(({ status }) => status === 200)
    expect(made).toHaveLength(1)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['TooManyOwnScratchCopies']))
    copy = await create({ position })
    const ofAuditor = made[0]?.data?.id ?? ''
    expect((await client.call('DELETE', `${COPIES}/${ofAuditor}`)).status).toBe(200)
    await until(copy, 'ready')
  })

  it('that a killed process left is dropped, and an old one too', async () => {
    const orphan = randomUUID()
    await sql(`create schema ${scratchPrefixOf(orphan)}users
      create table users (id bigint)`)
    await dropped(orphan)
    const { core } = product.running
    const old = await create()
    await until(old, 'ready')
    expect((await tablesOf(old)).length).toBeGreaterThan(20)
    const later = core.now() + 24 * 3_600_000 + 60_000
    await cleanScratchCopies({ ...core, now: () => later })
    expect((await list()).map(({ status }) => status)).not.toContain('ready')
    expect((await through(old, '/api/log/')).code).toBe('ScratchCopyUnknown')
    expect(await tablesOf(old)).toEqual([])
    copy = await create({ position })
    await until(copy, 'ready')
  })

  it('ends when a user is erased, and a later copy lacks the name', async () => {
    const nameIn = async (id: string) => {
      const { rows } = await sql(
        `select username from ${scratchPrefixOf(id)}users.users where id = $1`,
        [customer],
      )
      return rows[0].username
    }
    expect(await nameIn(copy)).toBe('customer')
    const erased = root.must('POST', '/api/user/erase', { id: customer, username: 'customer' })
    await erased
    expect((await through(copy, '/api/user/')).code).toBe('ScratchCopyUnknown')
    expect((await list()).find(({ id }) => id === copy)?.status).toBe('erased')
    await dropped(copy)
    const later = await create({ position })
    await until(later, 'ready')
    expect(await nameIn(later)).toBe('')
    expect(JSON.stringify((await through(later, '/api/user/?page_size=100')).data)).not.toContain(
      'customer',
    )
    const acts = await root.must<{ items: { act: string }[] }>('GET', '/api/audit/log?limit=100')
    expect(acts.items.map(({ act }) => act)).toEqual(
      expect.arrayContaining([
        'scratch-copy-requested',
        'scratch-copy-built',
        'scratch-copies-ended',
      ]),
    )
  })
})
