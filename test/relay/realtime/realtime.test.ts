import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { tokensStream } from '#domain/tokens/events.ts'
import { RealtimeClient } from '../support/realtime-client.ts'
import { CHARGE, USAGE } from '../support/realtime-provider.ts'
import {
  bills,
  callTypes,
  MODEL,
  realtimeSite,
  sessionWithoutSpeech,
  TRANSCRIBER,
} from '../support/realtime-site.ts'
import { KEY, PROVIDER_KEY, TOKEN, USER } from '../support/relay-rig.ts'

const { provider, rig, session, connect } = realtimeSite()
const LIMIT_OF_ONE = {
  type: 'session.update',
  session: { type: 'realtime', max_output_tokens: 1, audio: { input: { turn_detection: null } } },
}

const admittedHolds = async () =>
  (await rig.callEvents()).flatMap((event) =>
    event.type === 'CallAdmitted' ? [Number(event.data.hold)] : [],
  )

describe('a realtime session', () => {
  it('charges a response from its usage before its end is sent', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    let billsAtEnd = -1
    client.socket.on('message', (data) => {
      if (!String(data).includes('"response.done"')) return
      void bills(rig).then(({ length }) => {
        billsAtEnd = length
      })
    })
    client.send({ type: 'response.create' })
    const done = await client.event('response.done')
    expect(done.response).toMatchObject({ usage: USAGE })
    expect(billsAtEnd).toBe(1)
    expect(await bills(rig)).toMatchObject([
      { charge: CHARGE, end: 'done', model: MODEL, usageSource: 'upstream', channelId: 2 },
    ])
    client.send({ type: 'response.create' })
    await client.event('response.done')
    const all = await bills(rig)
    expect(all.map(({ charge }) => charge)).toEqual([CHARGE, CHARGE])
    expect(new Set(all.map(({ call }) => call)).size).toBe(2)
    client.socket.close()
    await expect.poll(() => session().isClosed).toBe(true)
    expect(await callTypes(rig)).toEqual([
      ...['CallAdmitted', 'CallSettled', 'CallAdmitted', 'CallSettled'],
    ])
  })

  it('records what each response shows about the provider', async () => {
    const client = await connect()
    client.send({ type: 'response.create' })
    await client.event('response.done')
    const [bill] = await bills(rig)
    expect(bill?.attempts).toMatchObject([
      {
        ...{ channelId: 2, status: 200, error: null },
        evidence: {
          ...{ sentAt: expect.any(Number), requestId: 'req-of-session', model: MODEL },
          hostHash: expect.stringMatching(/^[0-9a-f]{16}$/),
          ...{ fingerprint: { id: 'resp_1' }, usage: JSON.stringify(USAGE) },
          received: { bytes: expect.any(Number), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
        },
      },
    ])
    expect(bill?.anomaly).toBeNull()
  })

  it('tells that the provider names another model than was requested', async () => {
    provider.model = 'another-model'
    try {
      const client = await connect()
      client.send({ type: 'response.create' })
      await client.event('response.done')
    } finally {
      provider.model = null
    }
    const [bill] = await bills(rig)
    expect([bill?.anomaly, bill?.attempts[0]?.evidence?.model]).toEqual([
      ...['other-model', 'another-model'],
    ])
  })

  it('sends the provider its own key and model, and shows the caller its name', async () => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    const modelMapping = JSON.stringify({ [MODEL]: 'upstream-realtime' })
    const terms = { type: 8, baseUrl: provider.url, models: [MODEL], modelMapping }
    await rig.addChannel(3, terms)
    const client = new RealtimeClient(rig.url, MODEL)
    const upgrade = new Promise<IncomingMessage>((resolve) => client.socket.on('upgrade', resolve))
    expect((await upgrade).headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    const created = await client.event('session.created')
    expect(created.session).toMatchObject({ model: MODEL })
    const { url, headers } = session().request
    expect(url).toBe('/v1/realtime?model=upstream-realtime')
    expect(headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`)
    expect(JSON.stringify([created, client.events])).not.toContain('upstream-realtime')
  })

  it('accepts the key and the beta protocol as sub-protocols', async () => {
    const protocols = ['realtime', `openai-insecure-api-key.sk-${KEY}`, 'openai-beta.realtime-v1']
    const client = await new RealtimeClient(rig.url, MODEL, { headers: {}, protocols }).open()
    expect(client.socket.protocol).toBe('realtime')
    expect(session().request.headers['openai-beta']).toBe('realtime=v1')
    expect(session().request.headers['sec-websocket-protocol']).toBe(undefined)
    expect(session().events[0]?.session).toMatchObject({ max_response_output_tokens: 4_096 })
  })

  it.each([
    ['no key', { headers: {} }, 401, 'missing_key'],
    ['a wrong key', { headers: { authorization: 'Bearer sk-wrongwrong' } }, 401, 'invalid_key'],
    ['a session for transcription', { query: '&intent=transcription' }, 400, null],
  ])('refuses %s before anything reaches a provider', async (_name, options, status, code) => {
    const client = new RealtimeClient(rig.url, MODEL, options)
    await expect.poll(() => client.refused?.status).toBe(status)
    if (code !== null) expect(client.refused?.body).toContain(code)
    expect(provider.sessions).toEqual([])
  })

  it('refuses an unknown model, and a caller who can not pay', async () => {
    const unknown = new RealtimeClient(rig.url, 'gpt-none')
    await expect.poll(() => unknown.refused?.status).toBe(404)
    await rig.setBudget(USER, TOKEN, 10n)
    const poor = new RealtimeClient(rig.url, MODEL)
    await expect.poll(() => poor.refused?.status).toBe(402)
    expect(provider.sessions).toEqual([])
  })

  it('tries another channel if a provider refuses the session', async () => {
    await rig.setOption('RetryTimes', '1')
    await rig.addChannel(3, {
      type: 8,
      baseUrl: 'http://127.0.0.1:9',
      models: [MODEL],
      priority: 9,
    })
    const client = await connect()
    expect(provider.sessions).toHaveLength(1)
    client.socket.close()
    provider.refuses = 401
    const refused = new RealtimeClient(rig.url, MODEL)
    await expect.poll(() => refused.refused?.status ?? 0).toBeGreaterThanOrEqual(500)
    expect(refused.refused?.body).not.toContain('127.0.0.1')
  })
})

describe('what is sent to the provider of a realtime session', () => {
  it.each(['max_output_tokens', 'max_response_output_tokens'])(
    'names the possible values of %s',
    async (name) => {
      const client = await connect()
      client.send({ type: 'session.update', session: { [name]: -1 } })
      const { error } = await client.event('error')
      expect(error).toMatchObject({ param: `session.${name}` })
      expect(String((error as { message?: unknown }).message)).toContain('1–1000000, "inf"')
    },
  )

  it.each([
    [{ type: 'session.update', session: { model: 'other' } }, 'session.model'],
    [{ type: 'session.update', session: { prompt: { id: 'pmpt_1' } } }, 'session.prompt'],
    [{ type: 'session.update', session: { tools: [{ type: 'mcp' }] } }, 'session.tools[0].type'],
    [{ type: 'session.update', session: { service_tier: 'x' } }, 'session.service_tier'],
    [{ type: 'session.update', session: { Model: 'x' } }, 'session.Model'],
    [{ type: 'session.update', session: { max_output_tokens: 0 } }, 'session.max_output_tokens'],
    [{ type: 'session.update', session: { type: 'transcription' } }, 'session.type'],
    [
      {
        type: 'session.update',
        session: { audio: { input: { transcription: { model: 'unpriced' } } } },
      },
      'model',
    ],
    [
      {
        type: 'session.update',
        session: { audio: { input: { turn_detection: null, Turn_Detection: {} } } },
      },
      'session.audio.input.Turn_Detection',
    ],
    [
      {
        type: 'session.update',
        session: { turn_detection: { create_response: false, Create_Response: true } },
      },
      'session.turn_detection.Create_Response',
    ],
    [
      {
        type: 'session.update',
        session: {
          audio: { input: { transcription: { model: 'whisper-1' } } },
          input_audio_transcription: { model: TRANSCRIBER },
        },
      },
      'session.audio.input.transcription',
    ],
    [{ type: 'response.create', response: { model: 'x' } }, 'response.model'],
    [{ type: 'response.create', response: { tools: [{ type: 'mcp' }] } }, 'response.tools[0].type'],
    [{ type: 'conversation.item.create', item: { type: 'mcp_call' } }, 'item.type'],
    [
      {
        type: 'session.update',
        session: { tools: [{ type: 'function', name: 'x', Type: 'mcp', server_url: 'x' }] },
      },
      'session.tools[0].Type',
    ],
    [
      { type: 'response.create', response: { tools: [{ type: 'function', TYPE: 'mcp' }] } },
      'response.tools[0].TYPE',
    ],
    [
      { type: 'conversation.item.create', item: { type: 'message', Type: 'mcp_call' } },
      'item.Type',
    ],
    [
      {
        type: 'conversation.item.create',
        item: { content: [], Content: [{ type: 'input_image', image_url: 'x' }] },
      },
      'item.Content',
    ],
    [
      {
        type: 'response.create',
        response: { input: [{ content: [{ type: 'input_text', Image_URL: 'x' }] }] },
      },
      'response.input[0].content[0].Image_URL',
    ],
    [{ type: 'input_audio_buffer.append', audio: 7 }, 'audio'],
    [{ type: 'transcription_session.update', session: {} }, 'type'],
    [{ type: 'response.create', extra: 1 }, 'extra'],
  ])('refuses %j', async (event, param) => {
    const client = await connect()
    const before = session().events.length
    client.send({ ...event, event_id: 'mine' })
    const { error } = await client.event('error')
    expect(error).toMatchObject({ param, event_id: 'mine' })
    client.send({ type: 'conversation.item.delete', item_id: 'a' })
    await expect.poll(() => session().events.length).toBe(before + 1)
    expect(session().events.at(-1)).toMatchObject({ type: 'conversation.item.delete' })
    expect(client.closed).toBe(null)
  })

  it('drops tracing, and keeps everything else', async () => {
    const client = await connect()
    const update = { type: 'realtime', instructions: 'Be brief.', output_modalities: ['text'] }
    client.send({ type: 'session.update', session: { ...update, tracing: 'auto', model: MODEL } })
    await client.event('session.updated')
    expect(session().events.at(-1)?.session).toEqual(update)
  })

  it('refuses text that is no JSON object, and closes after a binary message', async () => {
    const client = await connect()
    client.socket.send('nonsense')
    const nonsense = { type: 'invalid_request_error', event_id: null }
    expect((await client.event('error')).error).toMatchObject(nonsense)
    for (const event_id of [7, 'x'.repeat(513), {}, null]) {
      client.send({ type: 'session.update', session: { prompt: {} }, event_id })
      expect((await client.event('error')).error).toMatchObject({ event_id: null })
    }
    client.socket.send(Buffer.from([1, 2]))
    expect(await client.isClosed()).toBe(1003)
  })
})

describe('the holds of a realtime session', () => {
  it('nothing that can begin a response is sent before its hold is durable', async () => {
    const client = await connect()
    let admitted = -1
    provider.onEvent = ({ type }) => {
      if (type === 'input_audio_buffer.append' && admitted < 0) {
        admitted = 0
        void rig.callEvents().then((events) => {
          admitted = events.filter((event) => event.type === 'CallAdmitted').length
        })
      }
      return false
    }
    client.send({
      type: 'input_audio_buffer.append',
      audio: Buffer.alloc(4_800).toString('base64'),
    })
    await expect.poll(() => admitted).toBe(1)
  })

  it.each([
    [{ type: 'input_audio_buffer.append', audio: 'AAAA' }],
    [{ type: 'response.create' }],
    [{ type: 'response.create', response: { conversation: 'none', input: [] } }],
  ])('%j is not sent if its hold can not be paid', async (event) => {
    const client = await connect()
    await rig.setBudget(USER, TOKEN, 0n)
    client.send(event)
    expect((await client.event('error')).error).toMatchObject({ code: 'token_exhausted' })
    await expect.poll(() => session().isClosed).toBe(true)
    expect(session().typesOf(event.type)).toEqual([])
    expect(await callTypes(rig)).toEqual([])
  })

  it('text behind speech is held before it is sent, and so is a higher limit', async () => {
    const client = await connect()
    const limit = (max_output_tokens: number) =>
      client.send({ type: 'session.update', session: { type: 'realtime', max_output_tokens } })
    limit(300)
    await client.event('session.updated')
    const holds = async () => {
      const { open } = await rig.core.actors.stateOf(accountDecider, accountStream(USER))
      return [...open.values()].map(({ hold }) => Number(hold))
    }
    client.send({ type: 'input_audio_buffer.append', audio: 'AAAA' })
    await expect.poll(() => session().typesOf('input_audio')).toHaveLength(1)
    const [first = 0] = await holds()
    const content = [{ type: 'input_text', text: 'x'.repeat(50_000) }]
    client.send({ type: 'conversation.item.create', item: { role: 'user', content } })
    await expect.poll(() => session().typesOf('conversation')).toHaveLength(1)
    const [second = 0] = await holds()
    expect(second - first).toBeGreaterThanOrEqual(45_000 * 2.5 * 8)
    limit(4_000)
    await expect.poll(() => session().typesOf('session.update')).toHaveLength(3)
    const [third = 0] = await holds()
    expect(third - second).toBeGreaterThanOrEqual(3_500 * 2.5 * 8 * 2)
  })

  it('speech is limited to what the account can pay', async () => {
    const client = await connect()
    await rig.setBudget(USER, TOKEN, BigInt(2_000 * 2.5 * 8 * 2))
    const audio = Buffer.alloc(480_000).toString('base64')
    for (let at = 0; at < 8; at += 1) client.send({ type: 'input_audio_buffer.append', audio })
    await expect.poll(() => session().typesOf('input_audio')).toHaveLength(8)
    expect(session().typesOf('').slice(1, 3)).toEqual([
      ...['session.update', 'input_audio_buffer.append'],
    ])
    const limits = session().events.flatMap(({ session: settings }) => {
      const { max_output_tokens: limit = 0 } = (settings ?? {}) as { max_output_tokens?: number }
      return limit === 0 ? [] : [limit]
    })
    expect(limits.length).toBeGreaterThanOrEqual(2)
    expect(limits).toEqual(limits.toSorted((one, other) => other - one))
    expect(client.events).toEqual([])
    expect(client.closed).toBe(null)
  })

  it('limits the output to what the account can pay', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    const perToken = 2.5 * 8 * 2
    await rig.setBudget(USER, TOKEN, BigInt(2_000 * perToken))
    client.send({ type: 'response.create' })
    await client.event('response.done')
    const sent = session().events.find(({ type }) => type === 'response.create')
    const { max_output_tokens: limit } = (sent?.response ?? {}) as {
      readonly max_output_tokens?: number
    }
    expect(limit).toBeGreaterThanOrEqual(256)
    expect(limit).toBeLessThan(2_000)
  })

  it.each([
    ['inf', 'max_output_tokens', 4_096],
    ['inf', 'max_response_output_tokens', 4_096],
    [500, 'max_response_output_tokens', 500],
    [null, 'max_output_tokens', 1],
  ])('%j as %s of a response is held and sent as %i tokens', async (...row) => {
    const [limit, name, tokens] = row
    const client = await sessionWithoutSpeech(rig.url)
    client.send(LIMIT_OF_ONE)
    await client.event('session.updated')
    client.send({ type: 'response.create', response: { [name]: limit } })
    await client.event('response.done')
    const sent = session().events.find(({ type }) => type === 'response.create')
    // Without a limit of its own, a response has that of the session.
    expect(sent?.response).toEqual(limit === null ? {} : { max_output_tokens: tokens })
    const [hold = 0] = await admittedHolds()
    expect(hold).toBeGreaterThanOrEqual(tokens * 2.5 * 8 * 2)
  })

  it('ten responses without a limit in sessions with a limit of 1 never overdraw', async () => {
    await rig.setOption('ModelRatio', { [MODEL]: 1 })
    await rig.setOption('CompletionRatio', { [MODEL]: 16 })
    await rig.setOption('AudioRatio', {})
    await rig.setOption('AudioCompletionRatio', {})
    await rig.setBudget(USER, TOKEN, 24_000n)
    provider.onEvent = ({ type, response }, at) => {
      if (type !== 'response.create') return false
      const { max_output_tokens: limit } = (response ?? {}) as { max_output_tokens?: unknown }
      const output_tokens = typeof limit === 'number' ? limit : 4_096
      at.respond({ input_tokens: 10, output_tokens })
      return true
    }
    const clients = await Promise.all(
      Array.from({ length: 10 }, () => sessionWithoutSpeech(rig.url)),
    )
    for (const client of clients) client.send(LIMIT_OF_ONE)
    await Promise.all(clients.map((client) => client.event('session.updated')))
    for (const client of clients) {
      client.send({ type: 'response.create', response: { max_output_tokens: 'inf' } })
    }
    const isOver = ({ type }: { readonly type: string }) => /^(?:error|response\.done)$/.test(type)
    await expect.poll(() => clients.every(({ events }) => events.some(isOver))).toBe(true)
    const settled = await bills(rig)
    expect(settled.length).toBeGreaterThan(0)
    expect(settled.filter(({ unpaidUsage }) => unpaidUsage !== undefined)).toEqual([])
  })

  it('ends with an error when no further call can be paid', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    await rig.setBudget(USER, TOKEN, 3_000n)
    client.send({ type: 'response.create' })
    expect((await client.event('error')).error).toMatchObject({ code: 'token_exhausted' })
    expect(await client.isClosed()).toBe(1008)
    expect(session().typesOf('response.create')).toEqual([])
    await expect.poll(() => session().isClosed).toBe(true)
  })

  it('the input is held again in every turn, from the last usage', async () => {
    provider.usage = { ...USAGE, input_tokens: 20_000, output_tokens: 1_000 }
    const client = await sessionWithoutSpeech(rig.url)
    for (let turn = 0; turn < 2; turn += 1) {
      client.send({ type: 'response.create' })
      await client.event('response.done')
    }
    const [first = 0, second = 0] = await admittedHolds()
    expect(second - first).toBeGreaterThan(20_000 * 2.5 * 8 * 0.9)
  })

  it('the output of a response with an input of its own is held as input', async () => {
    provider.usage = { ...USAGE, input_tokens: 300, output_tokens: 20_000 }
    const client = await sessionWithoutSpeech(rig.url)
    for (const response of [{ input: [] }, { input: [] }, {}]) {
      client.send({ type: 'response.create', response })
      await client.event('response.done')
    }
    const [first = 0, , last = 0] = await admittedHolds()
    expect(last - first).toBeGreaterThan(40_000 * 2.5 * 8 * 0.9)
  })

  it('a token that is disabled ends the session within seconds', async () => {
    const client = await connect()
    client.send({ type: 'input_audio_buffer.append', audio: 'AAAA' })
    await expect.poll(() => callTypes(rig)).toEqual(['CallAdmitted'])
    const data = { userId: USER, tokenIds: [TOKEN] }
    await rig.append(tokensStream(USER), { type: 'TokensDisabled', v: 1, data })
    expect((await client.event('error')).error).toMatchObject({ code: 'token_disabled' })
    expect(await client.isClosed()).toBe(1008)
    await expect.poll(() => callTypes(rig)).toEqual(['CallAdmitted', 'CallReleased'])
  })

  it('a token that is disabled ends a session without a call, too', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    const data = { userId: USER, tokenIds: [TOKEN] }
    await rig.append(tokensStream(USER), { type: 'TokensDisabled', v: 1, data })
    client.send({ type: 'response.create' })
    expect((await client.event('error')).error).toMatchObject({ code: 'token_disabled' })
    expect(await client.isClosed()).toBe(1008)
    expect(session().typesOf('response.create')).toEqual([])
  })

  it('a channel that is deleted gets no further response', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    const data = { channelIds: [2] }
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data })
    client.send({ type: 'response.create' })
    expect((await client.event('error')).error).toMatchObject({ code: 'model_not_found' })
    expect(session().typesOf('response.create')).toEqual([])
  })

  it('fifty sessions of an account that can pay for few responses never overdraw it', async () => {
    await rig.setBudget(USER, TOKEN, 100_000n)
    const clients = await Promise.all(
      Array.from({ length: 50 }, () => sessionWithoutSpeech(rig.url)),
    )
    for (const client of clients) client.send({ type: 'response.create' })
    const isOver = ({ type }: { readonly type: string }) => /^(?:error|response\.done)$/.test(type)
    await expect.poll(() => clients.every(({ events }) => events.some(isOver))).toBe(true)
    const charged = (await bills(rig)).reduce((sum, { charge }) => sum + Number(charge), 0)
    expect(charged).toBeGreaterThan(0)
    expect(charged).toBeLessThanOrEqual(100_000)
  })
})
