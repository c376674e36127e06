import { setTimeout } from 'node:timers/promises'
import OpenAI from 'openai'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { userDecider } from '#domain/users/decide.ts'
import { userStream } from '#domain/users/events.ts'
import { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { playgroundRequest } from '#relay/playground/playground-request.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { addChannel, PASSWORD, setOption, testProduct } from '#test/support/test-product.ts'

const PATH = '/pg/chat/completions'

const product = startedOnce(testProduct)
let user: ConsoleClient
let admin: ConsoleClient

beforeAll(async () => {
  const { root, url } = product
  await addChannel(product, { models: 'sim-small,sim-free,sim-unpriced', group: 'default,vip' })
  await setOption(root, 'ModelRatio', { 'sim-small': 10, 'sim-free': 0 })
  await setOption(root, 'CompletionRatio', { 'sim-small': 4 })
  await setOption(root, 'GroupRatio', { default: 1, vip: 0.5, closed: 1 })
  await setOption(root, 'UserUsableGroups', { default: 'Standard', vip: 'Loyal' })
  for (const username of ['user1', 'admin1']) {
    await root.must('POST', '/api/user/', { username, password: PASSWORD })
  }
  ;[user, admin] = [new ConsoleClient(url), new ConsoleClient(url)]
  const id = await user.logIn('user1', PASSWORD)
  await root.must('PUT', '/api/user/', { id, quota: 100_000_000 })
  const adminId = await admin.logIn('admin1', PASSWORD)
  await root.must('PUT', '/api/user/', { id: adminId, quota: 100_000_000 })
  await root.must('POST', '/api/user/manage', { id: adminId, action: 'promote' })
  await admin.logIn('admin1', PASSWORD)
})

type Asked = {
  readonly body?: Record<string, unknown> | string
  readonly headers?: Record<string, string>
  readonly by?: ConsoleClient
}

async function play({ body = {}, headers = {}, by = user }: Asked = {}) {
  const chat = { model: 'sim-small', messages: [{ role: 'user', content: 'hello' }] }
  const response = await fetch(`${product.url}${PATH}`, {
    method: 'POST',
    headers: { ...by.sessionHeaders, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify({ ...chat, ...body }),
  })
  const call = response.headers.get('x-request-id') ?? ''
  return { status: response.status, text: await response.text(), call, headers: response.headers }
}

const errorOf = ({ text }: { readonly text: string }) =>
  (JSON.parse(text) as { error: { code: string; param: string | null; message: string } }).error

type Row = {
  quota: number
  token_name: string
  group: string
  is_stream: boolean
  prompt_tokens: number
  completion_tokens: number
  username: string
}

/** The call's own row of the log, once it is there. */
async function rowOf(call: string, by: ConsoleClient, path = '/api/log/self/'): Promise<Row> {
  const read = () => by.must<{ items: Row[] }>('GET', `${path}?request_id=${call}`)
  await expect.poll(async () => (await read()).items.length).toBe(1)
  return (await read()).items[0] as Row
}

const standing = async (by: ConsoleClient) => {
  type Self = { quota: number; used_quota: number; request_count: number }
  return by.must<Self>('GET', '/api/user/self')
}

describe('a playground call from the console', () => {
  it('the call is answered, charged to the unit and logged as playground', async () => {
    const before = await standing(user)
    const answer = await play({ body: { group: 'vip', max_tokens: 0, temperature: 0.7 } })
    expect(answer.status).toBe(200)
    const { usage, choices } = JSON.parse(answer.text)
    expect(choices[0].message.content).toBeTruthy()
    const row = await rowOf(answer.call, user)
    const charge = (usage.prompt_tokens + usage.completion_tokens * 4) * 5
    expect(row).toMatchObject({
      quota: charge,
      token_name: 'playground',
      group: 'vip',
      is_stream: false,
    })
    const after = await standing(user)
    expect(before.quota - after.quota).toBe(charge)
    expect(after.used_quota - before.used_quota).toBe(charge)
    expect(after.request_count - before.request_count).toBe(1)
  })

  it.each([
    ['{"group":"vip","model":"m","max_tokens":0}', 'vip', '{"model":"m"}'],
    ['{"model" : "m", "max_tokens":0.0, "group":"\\u0076ip" }', 'vip', '{"model" : "m"}'],
    ['{ "n":1,"group":null,"max_tokens":5}', '', '{"n":1,"max_tokens":5}'],
    ['{ "model":"m" }', '', '{ "model":"m" }'],
    ['{"group":""}', '', '{}'],
  ])('the relay forwards %s without the group and a limit of 0', (text, group, body) => {
    const own = playgroundRequest(Buffer.from(text))
    expect({ ...own, body: 'body' in own && String(own.body) }).toEqual({ group, body })
  })

  it('the call is streamed, and its [DONE] comes once the charge is in the ledger', async () => {
    const answer = await play({ body: { stream: true, group: 'default' } })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toContain('text/event-stream')
    expect(answer.text.trimEnd().endsWith('data: [DONE]')).toBe(true)
    const text = [...answer.text.matchAll(/^data: (\{.*)$/gm)]
      .map(([, json]) => JSON.parse(json ?? '').choices[0]?.delta?.content ?? '')
      .join('')
    expect(text).not.toBe('')
    const row = await rowOf(answer.call, user)
    expect(row).toMatchObject({ is_stream: true, group: 'default' })
    expect(row.quota).toBe((row.prompt_tokens + row.completion_tokens * 4) * 10)
  })

  it('the OpenAI client library can read the stream', async () => {
    const client = new OpenAI({
      baseURL: `${product.url}/pg`,
      apiKey: 'none',
      defaultHeaders: { ...user.sessionHeaders, Authorization: null },
    })
    const stream = await client.chat.completions.create({
      model: 'sim-small',
      stream: true,
      messages: [{ role: 'user', content: 'hi' }],
    })
    let text = ''
    for await (const chunk of stream) text += chunk.choices[0]?.delta?.content ?? ''
    expect(text).not.toBe('')
  })

  it('an Idempotency-Key makes the call once, and each user has separate keys', async () => {
    const headers = { 'idempotency-key': 'a key of the playground' }
    expect((await play({ headers })).status).toBe(200)
    expect(errorOf(await play({ headers })).code).toBe('idempotency_replayed')
    expect((await play({ headers, by: admin })).status).toBe(200)
  })

  it('the call needs no token, and every role can make it at its own cost', async () => {
    await product.root.must('PUT', '/api/user/', { id: 1, quota: 100_000_000 })
    for (const by of [admin, product.root]) {
      const answer = await play({ by })
      expect(answer.status).toBe(200)
      expect((await rowOf(answer.call, by)).quota).toBeGreaterThan(0)
      expect((await by.must<{ items: unknown[] }>('GET', '/api/token/?p=0')).items).toEqual([])
    }
  })

  it('users find their own calls in the log by name, and admins find all', async () => {
    const query = '?token_name=playground&page_size=100'
    type Rows = { items: Row[]; total: number }
    const own = await user.must<Rows>('GET', `/api/log/self/${query}`)
    expect(own.items.length).toBeGreaterThan(3)
    expect(own.total).toBe(own.items.length)
    expect(own.items.every(({ token_name }) => token_name === 'playground')).toBe(true)
    const all = await admin.must<Rows>('GET', `/api/log/${query}`)
    const names = new Set(all.items.map(({ username }) => username))
    expect([...names].sort()).toEqual(['admin1', 'root', 'user1'])
    const stat = await user.must<{ quota: number }>('GET', `/api/log/self/stat${query}`)
    const spent = own.items.reduce((sum, { quota }) => sum + quota, 0)
    expect(stat.quota).toBe(spent)
    type Point = { token_name: string; quota: number; count: number }
    const points = await user.must<Point[]>('GET', '/api/data/self/tokens')
    expect(points).toMatchObject([
      { token_name: 'playground', quota: spent, count: own.items.length },
    ])
  })
})

describe('access to the playground', () => {
  it.each([
    ['without a session', () => ({ cookie: '' }), 401, 'not_logged_in'],
    ['with a key in its place', () => ({ cookie: '', authorization: 'Bearer sk-x' }), 401],
    ['without User-Id', () => ({ 'user-id': '' }), 401, 'not_logged_in'],
    ['under another User-Id', () => ({ 'user-id': '1' }), 401, 'not_logged_in'],
    ['from another site', () => ({ 'sec-fetch-site': 'cross-site' }), 403, 'cross_site'],
    ['from a sister site', () => ({ 'sec-fetch-site': 'same-site' }), 403, 'cross_site'],
    ['from another origin', () => ({ origin: 'https://evil.example' }), 403, 'cross_site'],
  ])('a call %s is refused', async (_how, headers, status, code = 'not_logged_in') => {
    const calls = product.provider.journal.entries.length
    const answer = await play({ headers: headers() })
    expect([answer.status, errorOf(answer).code]).toEqual([status, code])
    expect(answer.call).not.toBe('')
    expect(product.provider.journal.entries.length).toBe(calls)
  })

  it('a call by an access token or after the end of the session is refused', async () => {
    const { data: token } = await admin.call<string>('GET', '/api/user/token')
    const shown = { cookie: '', authorization: `Bearer ${token}` }
    const answer = await play({ by: admin, headers: shown })
    expect([answer.status, errorOf(answer).code]).toEqual([403, 'session_required'])
    const gone = new ConsoleClient(product.url)
    await gone.logIn('user1', PASSWORD)
    await gone.must('POST', '/api/user/logout')
    expect((await play({ by: gone })).status).toBe(401)
  })

  it('the refusal is in the caller’s language', async () => {
    const headers = { 'user-id': '', 'accept-language': 'zh' }
    expect(errorOf(await play({ headers })).message).toBe('未登录或登录已过期，请重新登录！')
  })
})

/** By its address alone, each may stand for hundreds of thousands of tokens. */
const VIDEOS = {
  role: 'user',
  content: Array.from({ length: 200 }, () => ({
    type: 'video_url',
    video_url: { url: 'https://v.example' },
  })),
}

describe('an invalid playground call', () => {
  it.each([
    ['a group that is closed', { group: 'closed' }, 403, 'group_not_allowed', null],
    ['a group that is none', { group: 'constructor' }, 403, 'group_not_allowed', null],
    ['a group that is no text', { group: 7 }, 400, 'invalid_parameter', 'group'],
    ['an unknown model', { model: 'nope' }, 404, 'model_not_found', 'model'],
    ['a model without a price', { model: 'sim-unpriced' }, 400, 'model_unpriced', 'model'],
    ['no messages', { messages: [] }, 400, 'invalid_parameter', 'messages'],
    ['a limit below 0', { max_tokens: -1 }, 400, 'invalid_parameter', 'max_tokens'],
    ['a temperature in words', { temperature: 'warm' }, 400, 'invalid_parameter', 'temperature'],
    ['more choices than there may be', { n: 129 }, 400, 'invalid_parameter', 'n'],
    ['what nobody can pay', { messages: [VIDEOS] }, 402, 'insufficient_quota', null],
  ])(
    'the relay refuses %s at no cost, with a code and the invalid field',
    async (_what, body, status, code, param) => {
      const before = (await standing(user)).quota
      const answer = await play({ body })
      expect([answer.status, errorOf(answer)]).toMatchObject([status, { code, param }])
      expect((await standing(user)).quota).toBe(before)
    },
  )

  it.each([
    ['', 400],
    ['[]', 400],
    ['{"group":"vip"', 400],
    ['{"group":"vip","group":"default"}', 400],
    ['{"group":"default","Group":"vip"}', 400],
    ['{"model":"sim-small","MODEL":"sim-big","messages":[{"role":"user","content":"x"}]}', 400],
    ['{}', 400],
  ])('the relay refuses the body %s', async (body, status) => {
    expect((await play({ body })).status).toBe(status)
  })

  it('the relay refuses a body not typed as JSON, another method and another path', async () => {
    expect((await play({ headers: { 'content-type': 'text/plain' } })).status).toBe(415)
    for (const [method, path] of [
      ['GET', PATH],
      ['POST', '/pg/nothing'],
    ] as const) {
      expect((await user.call(method, path)).status).toBe(404)
    }
  })

  it('the site’s rate limit applies, and a banned user is refused', async () => {
    const { root } = product
    const limit = { ModelRequestRateLimitEnabled: 'true', ModelRequestRateLimitCount: '1' }
    await root.must('POST', '/api/user/', { username: 'busy', password: PASSWORD })
    const busy = new ConsoleClient(product.url)
    const id = await busy.logIn('busy', PASSWORD)
    const body = { model: 'sim-free' }
    for (const [key, value] of Object.entries(limit)) await setOption(root, key, value)
    expect((await play({ by: busy, body })).status).toBe(200)
    const limited = await play({ by: busy, body })
    expect([limited.status, errorOf(limited).code]).toEqual([429, 'rate_limited'])
    expect(limited.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(errorOf(limited).message).toContain('this user')
    await setOption(root, 'ModelRequestRateLimitEnabled', 'false')
    await root.must('POST', '/api/user/manage', { id, action: 'disable' })
    expect((await play({ by: busy, body })).status).toBe(401)
  })
})

describe('fifty concurrent playground calls', () => {
  it('the calls spend what the balance covers and not a unit more', async () => {
    const { root } = product
    await root.must('POST', '/api/user/', { username: 'crowd', password: PASSWORD })
    const crowd = new ConsoleClient(product.url)
    const id = await crowd.logIn('crowd', PASSWORD)
    await root.must('PUT', '/api/user/', { id, quota: 20_000 })
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => play({ by: crowd, body: { max_tokens: 20 } })),
    )
    const done = answers.filter(({ status }) => status === 200)
    const statuses = new Set(answers.map(({ status }) => status))
    expect([...statuses].every((status) => [200, 402, 429].includes(status))).toBe(true)
    expect(done.length).toBeGreaterThan(0)
    expect(done.length).toBeLessThan(50)
    const rows = await Promise.all(done.map(({ call }) => rowOf(call, crowd)))
    const spent = rows.reduce((sum, { quota }) => sum + quota, 0)
    expect((await standing(crowd)).quota).toBe(20_000 - spent)
  })
})

describe('a running stream of the console', () => {
  const banned = async (username: string) => {
    await product.root.must('POST', '/api/user/', { username, password: PASSWORD })
    const by = new ConsoleClient(product.url)
    const id = await by.logIn(username, PASSWORD)
    await product.root.must('PUT', '/api/user/', { id, quota: 1_000_000 })
    return { by, id }
  }
  const manage = (action: string) => (id: number) =>
    product.root.must('POST', '/api/user/manage', { id, action })
  const closeGroup = () => setOption(product.root, 'UserUsableGroups', { default: 'Standard' })

  it.each<[string, string, string, (id: number) => Promise<unknown>]>([
    ['its user is disabled', 'default', 'user_disabled', manage('disable')],
    ['its user is deleted', 'default', 'user_disabled', manage('delete')],
    ['its group is closed to users', 'vip', 'group_not_allowed', closeGroup],
  ])(
    'the stream ends within 5 s once %s, and its part is charged',
    async (_name, group, code, ban) => {
      const { by, id } = await banned(`banned-${product.provider.journal.count}`)
      const before = product.provider.journal.count
      product.provider.script.push({ kind: 'slow', msPerChunk: 400 })
      const playing = play({ by, body: { group, stream: true, max_tokens: 400 } })
      await expect.poll(() => product.provider.journal.count).toBe(before + 1)
      await setTimeout(1_000)
      const bannedAt = performance.now()
      await ban(id)
      const { text, call } = await playing
      expect(performance.now() - bannedAt).toBeLessThan(5_000)
      expect(text).toContain(code)
      expect(text).not.toContain('[DONE]')
      const row = await rowOf(call, product.root, '/api/log/')
      expect(row.completion_tokens).toBeGreaterThan(0)
      expect(row.quota).toBe(
        (row.prompt_tokens + row.completion_tokens * 4) * (group === 'vip' ? 5 : 10),
      )
      expect(JSON.stringify(row)).toContain(code)
      await setOption(product.root, 'UserUsableGroups', { default: 'Standard', vip: 'Loyal' })
    },
  )

  const endThisSession = (by: ConsoleClient) => by.must('POST', '/api/user/logout')
  const endFromAnother = async (by: ConsoleClient, other: ConsoleClient) => {
    const sessions = await by.must<{ id: number; is_current: boolean }[]>(
      'GET',
      '/api/user/sessions',
    )
    const { id } = sessions.find((one) => one.is_current) ?? { id: 0 }
    await other.must('DELETE', `/api/user/sessions/${id}`)
  }
  const changePassword = async (_: ConsoleClient, other: ConsoleClient) => {
    const password = 'another long password'
    await other.must('PUT', '/api/user/self', { password, original_password: PASSWORD })
  }

  /** The login becomes invalid, but its row is left: as if the process died before the removal. */
  const voidLogins = async (_: ConsoleClient, other: ConsoleClient) => {
    const { id: userId } = await other.must<{ id: number }>('GET', '/api/user/self')
    const { actors, now } = product.running.core
    const context = { actor: 'user:1', cause: null, at: now() }
    const command = { type: 'VoidLogins', actorRole: 100 } as const
    await actors.handle(userDecider, userStream(userId), command, context)
  }

  it.each<[string, (by: ConsoleClient, other: ConsoleClient) => Promise<unknown>]>([
    ['all logins of its user are void', voidLogins],
    ['its user logs out', endThisSession],
    ['another session of its user ends it', endFromAnother],
    ['the password is changed in another session', changePassword],
  ])('the stream ends within 5 s once %s, and its part is charged', async (_name, end) => {
    const username = `ended-${product.provider.journal.count}`
    const { by } = await banned(username)
    const other = new ConsoleClient(product.url)
    await other.logIn(username, PASSWORD)
    const before = product.provider.journal.count
    product.provider.script.push({ kind: 'slow', msPerChunk: 400 })
    const playing = play({ by, body: { stream: true, max_tokens: 400 } })
    await expect.poll(() => product.provider.journal.count).toBe(before + 1)
    await setTimeout(1_000)
    await end(by, other)
    const endedAt = performance.now()
    const { text, call } = await playing
    expect(performance.now() - endedAt).toBeLessThan(5_000)
    expect(text).toContain('session_ended')
    expect(text).not.toContain('[DONE]')
    const row = await rowOf(call, product.root, '/api/log/')
    expect(row.completion_tokens).toBeGreaterThan(0)
    expect(row.quota).toBe((row.prompt_tokens + row.completion_tokens * 4) * 10)
    expect(JSON.stringify(row)).toContain('session_ended')
  })
})

it('fifty concurrent calls without a limit on $0.10 leave no negative balance', async () => {
  const { root } = product
  const poor = new ConsoleClient(product.url)
  await root.must('POST', '/api/user/', { username: 'ten-cents', password: PASSWORD })
  const id = await poor.logIn('ten-cents', PASSWORD)
  await root.must('PUT', '/api/user/', { id, quota: 50_000 })
  const one = (_: unknown, at: number) => play({ by: poor, body: { stream: at % 2 === 0 } })
  const answers = await Promise.all(Array.from({ length: 50 }, one))
  const done = answers.filter(({ status }) => status === 200)
  expect(done.length).toBeGreaterThan(0)
  expect(answers.every(({ status }) => [200, 402, 429].includes(status))).toBe(true)
  const rows = await Promise.all(done.map(({ call }) => rowOf(call, poor)))
  const spent = rows.reduce((sum, { quota }) => sum + quota, 0)
  expect(spent).toBeGreaterThan(0)
  expect((await standing(poor)).quota).toBe(50_000 - spent)
  expect(spent).toBeLessThanOrEqual(50_000)
})

it('a playground call is refused at once while the store cannot be written', async () => {
  const writes = vi.spyOn(product.running.core.writes, 'isWritable').mockReturnValue(false)
  const since = performance.now()
  const refused = await play()
  const byToken = await fetch(`${product.url}/v1/chat/completions`, { method: 'POST', body: '{}' })
  expect(performance.now() - since).toBeLessThan(5_000)
  expect([refused.status, errorOf(refused).code]).toEqual([503, 'store_unavailable'])
  expect(byToken.status).toBe(503)
  writes.mockRestore()
  expect((await play()).status).toBe(200)
})
