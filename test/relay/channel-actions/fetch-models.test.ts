import { describe, expect, it } from 'vitest'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { modelsIn } from '#relay/channel-actions/fetch-models.ts'
import { connectProxy } from '#test/support/connect-proxy.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { actionsSite, SECRET } from '../support/channel-actions-site.ts'

const site = startedOnce(actionsSite)
const proxy = startedOnce(connectProxy)

const MODELS = 'GET /v1/models'
const LIST = { body: { object: 'list', data: [{ id: 'b' }, { id: 'a' }, { id: 'b' }] } }

describe('GET /api/channel/fetch_models/{id}', () => {
  it('sends the stored key to the stored address and returns the model names', async () => {
    site.scripted.answers.set(MODELS, LIST)
    const id = await site.channel()
    expect(await site.ask(`/api/channel/fetch_models/${id}`)).toMatchObject({
      status: 200,
      success: true,
      data: ['b', 'a'],
    })
    const asked = site.scripted.requests.at(-1)
    expect(asked).toMatchObject({ method: 'GET', path: '/v1/models' })
    expect(asked?.headers).toMatchObject({ authorization: `Bearer ${SECRET}` })
    expect(asked?.headers).not.toHaveProperty('cookie')
  })

  it('refuses a type without a model list and does not ask its provider', async () => {
    const id = await site.channel({ type: 27 })
    const before = site.scripted.requests.length
    expect(await site.ask(`/api/channel/fetch_models/${id}`)).toMatchObject({
      status: 200,
      success: false,
      code: 'ModelsNotListed',
    })
    expect(site.scripted.requests).toHaveLength(before)
  })

  it('reads Gemini’s list, without the models that answer no calls', async () => {
    const methods = (...names: string[]) => ({ supportedGenerationMethods: names })
    const models = [
      { name: 'models/gemini-3.8-flash', ...methods('generateContent', 'countTokens') },
      { name: 'models/gemini-embedding-2', ...methods('embedContent') },
      { name: 'models/aqa', ...methods('generateAnswer') },
    ]
    site.scripted.answers.set('GET /v1beta/models', { body: { models } })
    const id = await site.channel({ type: 24 })
    const answer = await site.ask(`/api/channel/fetch_models/${id}`)
    expect(answer).toMatchObject({
      success: true,
      data: ['gemini-3.8-flash', 'gemini-embedding-2'],
    })
    const asked = site.scripted.requests.at(-1)
    expect(asked?.path).toBe('/v1beta/models?pageSize=1000')
    expect(asked?.headers).toMatchObject({ 'x-goog-api-key': SECRET })
  })

  it('refuses a type that cannot be called', async () => {
    const id = await site.bygone()
    const answer = await site.ask(`/api/channel/fetch_models/${id}`)
    expect(answer).toMatchObject({ success: false, code: 'ChannelNotCallable' })
  })

  it.each([
    ['an error', { status: 401, body: { error: { message: `no ${SECRET}` } } }, '401 no ***'],
    ['an answer without a list', { body: { object: 'list' } }, 'expected format'],
    ['invalid JSON', { body: '<html>' }, 'expected format'],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:9/' } }, '302'],
    ['an oversized answer', { body: 'x'.repeat(3 * 1024 * 1024) }, 'expected format'],
  ])('answers %s with the documented error and a reason', async (_name, answer, why) => {
    site.scripted.answers.set(MODELS, answer)
    const id = await site.channel()
    const path = `/api/channel/fetch_models/${id}`
    const { success, code, message, text } = await site.ask(path)
    expect({ success, code }).toEqual({ success: false, code: 'ModelsUnavailable' })
    expect(message).toContain(why)
    expect(text).not.toContain(SECRET)
    const zh = { ...site.admin.sessionHeaders, 'accept-language': 'zh' }
    expect((await site.ask(path, { headers: zh })).message).toMatch(/^获取模型列表失败/)
  })
})

describe('POST /api/channel/fetch_models', () => {
  const post = (body: object) => site.ask('/api/channel/fetch_models', { body })

  it('asks an address before its channel exists, with the first key', async () => {
    site.scripted.answers.set(MODELS, LIST)
    const key = 'sk-first-0123456789\nsk-second-0123456789'
    const answer = await post({ base_url: `${site.scripted.url}/v1/`, type: 8, key })
    expect(answer).toMatchObject({ success: true, data: ['b', 'a'] })
    const { headers } = site.scripted.requests.at(-1) ?? {}
    expect(headers).toMatchObject({ authorization: 'Bearer sk-first-0123456789' })
  })

  it('uses the stored key only where type, address and proxy are unchanged', async () => {
    site.scripted.answers.set(MODELS, LIST)
    const id = await site.channel({ setting: JSON.stringify({ proxy: proxy.url }) })
    const base_url = site.scripted.url
    expect(await post({ id, base_url, type: 1 })).toMatchObject({ success: true })
    for (const changed of [
      { base_url: 'http://127.0.0.1:9', type: 1 },
      { base_url, type: 8 },
      { base_url: '', type: 1 },
      { base_url, type: 1, setting: '' },
      { base_url, type: 1, setting: '{"proxy":"http://127.0.0.1:9"}' },
    ]) {
      const before = site.scripted.requests.length
      expect(await post({ id, ...changed })).toMatchObject({ success: false, code: 'KeyRequired' })
      expect(site.scripted.requests).toHaveLength(before)
    }
  })

  it('requires a key where there is no channel', async () => {
    const answer = await post({ base_url: site.scripted.url, type: 1, key: ' ' })
    expect(answer).toMatchObject({ status: 200, success: false, code: 'KeyRequired' })
  })

  it('answers 404 for a channel that does not exist', async () => {
    expect((await post({ id: 999_999, base_url: '', type: 1 })).status).toBe(404)
  })

  it.each([
    ['type', { base_url: 'https://a.example', key: 'k' }],
    ['type', { base_url: 'https://a.example', key: 'k', type: '1' }],
    ['base_url', { base_url: '', key: 'k', type: 8 }],
    ['base_url', { base_url: 'ftp://a.example', key: 'k', type: 8 }],
    ['base_url', { base_url: 'not an address', key: 'k', type: 8 }],
    ['base_url', { base_url: 'https://u:p@a.example', key: 'k', type: 8 }],
    ['base_url', { base_url: 7, key: 'k', type: 8 }],
  ])('answers 400 for an invalid %s and names the field', async (field, body) => {
    const { status, message } = await post(body)
    expect(status).toBe(400)
    expect(message).toContain(field)
  })

  it('refuses a type that the relay does not serve', async () => {
    const answer = await post({ base_url: site.scripted.url, type: 21, key: 'k' })
    expect(answer).toMatchObject({ success: false, code: 'ModelsNotListed' })
  })

  it.each(['http://169.254.169.254', 'http://10.0.0.1', 'http://[::ffff:10.0.0.1]'])(
    'refuses the address %s with the general error',
    async (base_url) => {
      const answer = await post({ base_url, type: 8, key: 'k' })
      expect(answer).toMatchObject({ success: false, code: 'AddressNotAllowed' })
    },
  )

  it('refuses a key that would break out of its header', async () => {
    const answer = await post({ base_url: site.scripted.url, type: 8, key: 'sk-é' })
    expect(answer).toMatchObject({ success: false, code: 'ChannelNotCallable' })
  })
})

describe('a channel’s proxy', () => {
  const BY_NAME = 'http://provider.invalid'
  const settingOf = (login: string) => JSON.stringify({ proxy: proxy.urlOf(login) })
  const CHAT = { choices: [{ message: { content: 'hi' } }], usage: {} }

  it('carries model lists, tests and balances, also before the channel is saved', async () => {
    site.scripted.answers.set(MODELS, LIST)
    site.scripted.answers.set('GET /dashboard/billing/credit_grants', {
      body: { total_remaining: 5 },
    })
    site.scripted.answers.set('POST /v1/chat/completions', { body: CHAT })
    proxy.names.set('provider.invalid', Number(new URL(site.scripted.url).port))
    proxy.requests.length = 0
    const setting = settingOf('u:p')
    const id = await site.channel({ type: 12, base_url: BY_NAME, setting })
    const entered = { type: 8, base_url: BY_NAME, setting: settingOf('e:n'), key: 'sk-e' }
    const shown = { id, ...entered, setting: settingOf('u:***') }
    const { key: _key, ...keyless } = { ...shown, type: 12 }
    const ways = [
      await site.ask('/api/channel/fetch_models', { body: shown }),
      await site.ask('/api/channel/fetch_models', { body: keyless }),
      await site.ask(`/api/channel/test/${id}`),
      await site.ask(`/api/channel/fetch_models/${id}`),
      await site.ask(`/api/channel/update_balance/${id}/`),
      await site.ask('/api/channel/fetch_models', { body: entered }),
    ]
    for (const answer of ways) expect(answer).toMatchObject({ success: true })
    const unknown = { ...entered, setting: settingOf('u:***') }
    const refused = await site.ask('/api/channel/fetch_models', { body: unknown })
    expect(refused).toMatchObject({ status: 400, success: false })
    const logins = proxy.requests.map(({ login = '' }) => atob(login.slice(6)))
    expect(new Set(logins)).toEqual(new Set(['u:p', 'e:n']))
  })

  it('that refuses connections causes an error without its login, and no request', async () => {
    proxy.answer = 407
    const base_url = site.scripted.url
    const id = await site.channel({ type: 12, setting: settingOf('me:canary') })
    const before = site.scripted.requests.length
    const unheard = { type: 12, setting: '{"proxy":"http://me:canary@127.0.0.1:9"}' }
    for (const one of [id, await site.channel(unheard)])
      for (const path of ['test/:id', 'fetch_models/:id', 'update_balance/:id/']) {
        const answer = await site.ask(`/api/channel/${path.replace(':id', String(one))}`)
        expect(answer.success).toBe(false)
        expect(answer.message).toContain('check setting.proxy')
        expect(answer.text).not.toMatch(/canary|127\.0\.0\.1/)
        if (path === 'test/:id') expect(answer).toMatchObject({ data: { reason: 'proxy' } })
      }
    const body = { type: 8, base_url, key: 'sk-e', setting: settingOf('me:canary') }
    const answer = await site.ask('/api/channel/fetch_models', { body })
    expect(answer).toMatchObject({ success: false, code: 'ModelsUnavailable' })
    expect(answer.message).toContain('setting.proxy')
    expect(site.scripted.requests).toHaveLength(before)
    proxy.answer = 'carry'
  })

  it.each([
    ['{"proxy":"socks5://127.0.0.1:1080"}', 400, 'setting.proxy'],
    ['{"proxy":7}', 400, 'setting.proxy'],
    ['{"proxy":"http://169.254.169.254:80"}', 200, 'setting.proxy'],
  ])('entered as %s is refused with the name of its field', async (setting, status, named) => {
    const body = { type: 8, base_url: site.scripted.url, key: 'sk-e', setting }
    const before = site.scripted.requests.length
    const answer = await site.ask('/api/channel/fetch_models', { body })
    expect(answer).toMatchObject({ status, success: false })
    expect(answer.message).toContain(named)
    expect(site.scripted.requests).toHaveLength(before)
  })

  it('that is stored but invalid causes an error and no provider request', async () => {
    const id = await site.channel()
    const { core } = site.product.running
    const change = { setting: '{"proxy":"socks5://127.0.0.1:1080"}' }
    // As it was taken once: nobody can save it now.
    const { channels } = await core.actors.stateOf(channelsDecider, CHANNELS_STREAM)
    const { terms, keyRefs, keyMode } = channels.get(id) ?? {}
    const data = { channelId: id, terms: { ...terms, ...change }, keyRefs, keyMode }
    await core.store.append([
      {
        stream: CHANNELS_STREAM,
        expected: 'any',
        events: [
          {
            ...{ id: crypto.randomUUID(), type: 'ChannelTermsChanged', v: 1 },
            data: { ...data, droppedKeyRefs: [] },
            meta: { actor: 'system:test', cause: null, at: Date.now() },
          },
        ],
      },
    ])
    const before = site.scripted.requests.length
    const answer = await site.ask(`/api/channel/fetch_models/${id}`)
    expect(answer).toMatchObject({ success: false, code: 'ModelsUnavailable' })
    expect(site.scripted.requests).toHaveLength(before)
  })
})

describe('list of model names', () => {
  it.each([
    ['OpenAI', { data: [{ id: 'a' }] }, ['a']],
    ['Cohere', { models: [{ name: 'command-a', endpoints: ['chat'] }] }, ['command-a']],
    [
      'Cloudflare',
      { result: [{ id: '0-1', name: '@cf/meta/llama' }], success: true },
      ['@cf/meta/llama'],
    ],
    [
      'OpenAI with invalid entries',
      { data: [{ id: '' }, {}, null, 7, { id: 'a,b' }, { id: 'c' }] },
      ['c'],
    ],
  ])('is read in the format of %s', (_name, body, expected) =>
    expect(modelsIn(JSON.stringify(body))).toEqual(expected),
  )

  it('has at most 5 000 names of at most 256 characters', () => {
    const data = Array.from({ length: 6_000 }, (_, index) => ({ id: `m${index}` }))
    expect(modelsIn(JSON.stringify({ data }))).toHaveLength(5_000)
    expect(modelsIn(JSON.stringify({ data: [{ id: 'x'.repeat(257) }] }))).toEqual([])
  })
})
