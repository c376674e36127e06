import Fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { actionsSite } from '../support/channel-actions-site.ts'

const site = startedOnce(actionsSite)

const CALLS = [
  ['GET', '/api/channel/types'],
  ['GET', '/api/channel/test/999999'],
  ['GET', '/api/channel/test'],
  ['GET', '/api/channel/test/progress'],
  ['GET', '/api/channel/test/results'],
  ['GET', '/api/channel/fetch_models/999999'],
  ['POST', '/api/channel/fetch_models'],
  ['GET', '/api/channel/update_balance/999999/'],
  ['GET', '/api/channel/update_balance'],
] as const

/** By a session alone: who may is in `test/relay/playground.test.ts`. */
const PLAYGROUND = 'POST /pg/chat/completions'

it('the listed routes are all that the relay serves beside the management API', async () => {
  const { relay, freshness } = site.product.running
  const app = Fastify()
  const registered: string[] = []
  app.addHook('onRoute', ({ method, url }) => {
    for (const name of [method].flat()) if (name !== 'HEAD') registered.push(`${name} ${url}`)
  })
  relay?.addActions(app, freshness)
  await app.ready()
  const listed = CALLS.map(([method, path]) => `${method} ${path.replace('999999', ':id')}`)
  expect(registered.sort()).toEqual([...listed, PLAYGROUND].sort())
})

describe.each(CALLS)('%s %s', (method, path) => {
  const ask = (headers: Record<string, string>) =>
    site.ask(path, method === 'POST' ? { headers, body: { nothing: true } } : { headers })

  it('refuses a request without a session', async () => {
    expect((await ask({})).status).toBe(401)
  })

  it('refuses a request whose User-Id header is absent or another user’s', async () => {
    const { cookie = '' } = site.admin.sessionHeaders
    expect((await ask({ cookie })).status).toBe(401)
    expect((await ask({ cookie, 'user-id': '1' })).status).toBe(401)
  })

  it('refuses a request from another site', async () => {
    const session = site.admin.sessionHeaders
    for (const other of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
    ]) {
      expect((await ask({ ...session, ...other })).status).toBe(403)
    }
  })

  it('refuses a user and accepts an admin', async () => {
    expect((await ask(site.user.sessionHeaders)).status).toBe(403)
    expect([200, 400, 404]).toContain((await ask(site.admin.sessionHeaders)).status)
  })

  it('is in the API description with its possible errors', async () => {
    const response = await fetch(`${site.product.url}/api/openapi.json`)
    const { paths } = (await response.json()) as {
      paths: Record<string, Record<string, { summary: string; responses: object }>>
    }
    const named = path.replace('999999', '{id}')
    const described = paths[named]?.[method.toLowerCase()]
    expect(described?.summary).toBeTruthy()
    expect(Object.keys(described?.responses ?? {})).toEqual(
      expect.arrayContaining(['200', '401', '403']),
    )
  })
})

it.each(['test/0', 'test/x', 'fetch_models/-1', 'update_balance/1e3'])(
  '%s has an invalid id and answers 400 with the name of the field',
  async (path) => {
    const { status, message } = await site.ask(`/api/channel/${path}`)
    expect(status).toBe(400)
    expect(message).toContain('id')
  },
)

it.each(['test/999999', 'fetch_models/999999', 'update_balance/999999/'])(
  '%s answers 404 for an unknown channel',
  async (path) => {
    const headers = { ...site.admin.sessionHeaders, 'accept-language': 'zh' }
    const { status, message, code } = await site.ask(`/api/channel/${path}`, { headers })
    expect({ status, message, code }).toEqual({
      status: 404,
      message: '渠道未找到，请刷新页面后重试。',
      code: 'ChannelUnknown',
    })
  },
)

it('a demo site sends requests to providers only for the super admin', async () => {
  const { root } = site.product
  const put = (value: string) => root.must('PUT', '/api/option/', { key: 'DemoSiteEnabled', value })
  await put('true')
  for (const [method, path] of CALLS) {
    const status = (await site.ask(path, method === 'POST' ? { body: {} } : {})).status
    const isOpen = /types$|progress$/.test(path)
    expect([path, status]).toEqual([path, isOpen ? 200 : 405])
  }
  expect((await root.call('GET', '/api/channel/test/999999')).status).toBe(404)
  await put('false')
  expect((await site.ask('/api/channel/test/999999')).status).toBe(404)
})
