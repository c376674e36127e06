import { beforeEach, describe, expect, it } from 'vitest'
import type { CallSettled } from '#domain/accounts/events.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { chargeFor } from '#domain/pricing/charge.ts'
import { sendChat } from '#test/support/send-chat.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, errorOf, KEY, onlyEnd, relayRig, USER } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const AUTO_KEY = 'auto0123456789abcdefghijklmnopqrstuvwxyzABCDEFGH'
const DIFY = 37
const FAILURE = { kind: 'status', status: 503 } as const
const rig = startedForEach(relayRig)
const failures = (count: number) => rig.provider.script.push(...Array(count).fill(FAILURE))
const sentModels = () => rig.provider.journal.entries.map(({ model }) => model)

async function settled(): Promise<CallSettled['data']> {
  const end = await onlyEnd(rig)
  if (end.type !== 'CallSettled') throw new Error(end.type)
  const { price, usage, calls, charge } = end.data
  expect(BigInt(charge)).toBe(chargeFor(price, usage, calls))
  expect(await rig.balance()).toBe(1_000_000_000n - BigInt(charge))
  return end.data
}

describe('the fallback models of a model', () => {
  beforeEach(async () => {
    await rig.setOption('ModelRatio', { 'sim-small': 1.25, 'sim-large': 5, 'sim-mini': 0.25 })
    await rig.setOption('ModelFallbacks', { 'sim-small': ['sim-large', 'sim-mini', 'unpriced'] })
    await rig.addChannel(2, { models: ['sim-large'] })
    await rig.addChannel(3, { models: ['sim-mini'] })
  })

  it('are not used while the model answers, which is charged at its own price', async () => {
    expect((await chat(rig)).status).toBe(200)
    const data = await settled()
    expect(data).toMatchObject({ model: 'sim-small', channelId: 1, price: { model: '1.25' } })
    expect((await rig.callEvents())[0]?.data).toMatchObject({ model: 'sim-small' })
  })

  it.each([false, true])(
    'answer in their order, at their own price; stream: %s',
    async (stream) => {
      failures(2)
      const answer = await chat(rig, { stream })
      expect(answer.status).toBe(200)
      expect(answer.text).toContain('sim-mini')
      expect(sentModels()).toEqual(['sim-small', 'sim-large', 'sim-mini'])
      const data = await settled()
      expect(data).toMatchObject({
        ...{ model: 'sim-mini', channelId: 3, price: { model: '0.25' } },
        requested: { model: 'sim-small', group: 'default' },
      })
      expect(data.attempts.map(({ channelId }) => channelId)).toEqual([1, 2, 3])
    },
  )

  it('answer if no channel offers the model', async () => {
    await rig.setOption('ModelFallbacks', { 'sim-gone': ['sim-mini'] })
    await rig.setOption('ModelRatio', { 'sim-gone': 1, 'sim-mini': 0.25 })
    expect((await chat(rig, { model: 'sim-gone' })).status).toBe(200)
    expect(await settled()).toMatchObject({ requested: { model: 'sim-gone' }, model: 'sim-mini' })
  })

  it('are held at the highest price of all of them before anything is sent', async () => {
    await chat(rig, { max_tokens: 100 })
    const [admitted] = await rig.callEvents()
    expect(admitted?.data).toMatchObject({ model: 'sim-small', price: { model: '5' } })
  })

  it('are not tried for an error of the caller, nor after the first byte', async () => {
    rig.provider.script.push({ kind: 'status', status: 400 })
    expect((await chat(rig)).status).toBe(400)
    rig.provider.script.push({ kind: 'cut', afterChunks: 3, how: 'reset' })
    await chat(rig, { stream: true })
    expect(sentModels()).toEqual(['sim-small', 'sim-small'])
  })

  it('are only those that the token may call', async () => {
    await rig.addToken(9, USER, AUTO_KEY, { models: ['sim-small', 'sim-mini'] })
    failures(1)
    const answer = await sendChat(rig.url, `sk-${AUTO_KEY}`, {})
    expect(answer.status).toBe(200)
    expect(sentModels()).toEqual(['sim-small', 'sim-mini'])
  })

  it('do not hide the error of the provider if they can not be tried', async () => {
    const data = { channelIds: [2, 3] }
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data })
    await rig.addChannel(4, { type: DIFY, models: ['sim-mini', 'sim-large'] })
    failures(1)
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]
    expect((await chat(rig, { tools })).status).toBe(503)
    expect(sentModels()).toEqual(['sim-small'])
  })

  it('get the last error if all of them fail, and nothing is charged', async () => {
    failures(3)
    expect((await chat(rig)).status).toBe(503)
    expect(await rig.balance()).toBe(1_000_000_000n)
  })
})

describe('a channel of another format', () => {
  const anthropic = startedForEach(scriptedProvider)
  const ASK = { model: 'sim-small', max_tokens: 9 }
  const TURN = [{ role: 'user', content: 'Hi' }]
  const MESSAGE = {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'sim-large-1', stop_reason: null },
    ...{ content: [{ type: 'text', text: 'Hi.' }], usage: { input_tokens: 9, output_tokens: 9 } },
  }
  const EVENTS = [
    { type: 'message_start', message: { ...MESSAGE, content: [] } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ]

  beforeEach(async () => {
    const data = { channelIds: [1] }
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data })
    await rig.setOption('ModelRatio', { 'sim-small': 1.25, 'sim-large': 5, 'sim-mini': 0.25 })
  })

  async function send(path: string, body: object): Promise<string> {
    const response = await fetch(`${rig.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(response.status).toBe(200)
    return response.text()
  }

  it('serves a call if all channels of the call’s format have expired', async () => {
    anthropic.answers.set('*', { body: MESSAGE })
    await rig.addChannel(2, { type: 14, baseUrl: anthropic.url })
    await rig.addChannel(3, { priority: 9, expiredTime: 1 })
    const tools = [{ type: 'function', function: { name: 'f', parameters: 3 } }]
    expect((await chat(rig, { ...ASK, messages: TURN, tools })).status).toBe(400)
    expect(await rig.callEvents()).toEqual([])
    await send('/v1/chat/completions', { ...ASK, messages: TURN })
    expect(await settled()).toMatchObject({ channelId: 2 })
    await rig.addChannel(4, { priority: 1 })
    await send('/v1/chat/completions', { ...ASK, messages: TURN })
    expect(anthropic.requests).toHaveLength(1)
  })

  it.each([
    ['/v1/chat/completions', { ...ASK, messages: TURN }],
    ['/v1/chat/completions', { ...ASK, messages: TURN, stream: true }],
    ['/v1/completions', { ...ASK, prompt: 'Hi' }],
    ['/v1/completions', { ...ASK, prompt: 'Hi', stream: true }],
    ['/v1/responses', { model: 'sim-small', input: 'Hi' }],
    ['/v1/responses', { model: 'sim-small', input: 'Hi', stream: true }],
    ['/v1beta/models/sim-small:generateContent', { contents: [{ parts: [{ text: 'Hi' }] }] }],
    ['/v1beta/models/sim-small:streamGenerateContent', { contents: [{ parts: [{ text: 'Hi' }] }] }],
  ] as const)('is named in the answer of Anthropic’s channel to %s %o', async (path, body) => {
    const pieces = EVENTS.map((event) =>
      Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
    )
    const isStream = 'stream' in body || path.includes('stream')
    const headers = { 'content-type': 'text/event-stream' }
    anthropic.answers.set('*', isStream ? { headers, pieces } : { body: MESSAGE })
    await rig.setOption('ModelFallbacks', { 'sim-small': ['sim-large'] })
    await rig.addChannel(2, { type: 14, baseUrl: anthropic.url, models: ['sim-large'] })
    const text = await send(path, body)
    expect(text).toContain('"sim-large"')
    expect(text).not.toContain('sim-small')
    expect(await settled()).toMatchObject({ model: 'sim-large', price: { model: '5' } })
  })

  it.each([false, true])(
    'names its fallback model in the answer to a message; stream: %s',
    async (stream) => {
      await rig.setOption('ModelFallbacks', { 'sim-small': ['sim-mini'] })
      await rig.addChannel(2, { models: ['sim-mini'] })
      const text = await send('/v1/messages', { ...ASK, messages: TURN, stream })
      expect(text).toContain('"sim-mini"')
      expect(text).not.toContain('sim-small')
      expect(await settled()).toMatchObject({ model: 'sim-mini' })
    },
  )
})

describe('a long stream whose dearer fallback is not used', () => {
  const long = startedForEach(() => relayRig({}, {}, undefined, { answerTokens: 9_000 }))

  it.each([
    ['a price per token', { ModelRatio: { 'sim-small': 1, dear: 50 } }],
    ['a price per call', { ModelRatio: { 'sim-small': 1 }, ModelPrice: { dear: 20 } }],
  ])('continues beyond the default limit: %s', async (_kind, prices) => {
    for (const [key, value] of Object.entries(prices)) await long.setOption(key, value)
    await long.setOption('DefaultMaxOutputTokens', '3000')
    await long.setOption('MaxOutputTokens', {})
    await long.setOption('ModelFallbacks', { 'sim-small': ['dear'] })
    await long.addChannel(2, { models: ['dear'] })
    const { status, text } = await chat(long, { stream: true })
    expect(status).toBe(200)
    expect(text).toContain('[DONE]')
    const end = await onlyEnd(long)
    expect(end.data).toMatchObject({ end: 'done', model: 'sim-small' })
    if (end.type !== 'CallSettled') throw new Error(end.type)
    expect(end.data.usage.output).toBe(9_000)
    expect(await long.balance()).toBe(1_000_000_000n - BigInt(end.data.charge))
  })
})

describe('a model that no group offers', () => {
  const messages = [{ role: 'user', content: 'several words of a long text '.repeat(200) }]

  describe.each([
    ['a low cap', { 'sim-older': 300 }],
    ['a high cap', { 'sim-older': 90_000, 'sim-large': 300 }],
  ])('and that has %s', (_cap, caps) => {
    it.each([
      ['only fallback', ['sim-large']],
      ['first of two fallbacks', ['sim-large', 'sim-mini']],
    ])('is held like a call to the %s after a count', async (_name, fallbacks) => {
      await rig.setOption('ModelRatio', { 'sim-older': 1, 'sim-large': 1, 'sim-mini': 90 })
      await rig.setOption('CompletionRatio', { 'sim-older': 4, 'sim-large': 4, 'sim-mini': 4 })
      await rig.setOption('MaxOutputTokens', caps)
      await rig.setOption('ModelFallbacks', { 'sim-older': fallbacks })
      await rig.addChannel(2, { models: ['sim-large', 'sim-mini'] })
      const holdOf = async (userId: number, model: string) => {
        await rig.addUser(userId)
        await rig.addToken(userId, userId, `${userId}`.repeat(24))
        await rig.grant(userId, 4_000n)
        await sendChat(rig.url, `sk-${`${userId}`.repeat(24)}`, { model, messages })
        const [admitted] = await rig.callEvents(userId)
        if (admitted?.type !== 'CallAdmitted') throw new Error('not admitted')
        return [admitted.data.hold, admitted.data.outputLimit]
      }
      expect(await holdOf(40, 'sim-older')).toEqual(await holdOf(41, 'sim-large'))
    })
  })
})

describe('the group auto', () => {
  beforeEach(async () => {
    await rig.setOption('GroupRatio', { default: 1, cheap: 0.5, dear: 2 })
    await rig.setOption('UserUsableGroups', { default: '', auto: '', cheap: '', dear: '' })
    await rig.setOption('AutoGroups', ['cheap', 'hidden', 'dear'])
    await rig.addToken(9, USER, AUTO_KEY, { group: 'auto' })
    await rig.addChannel(2, { groups: ['cheap'] })
    await rig.addChannel(3, { groups: ['dear'] })
    await rig.addChannel(4, { groups: ['hidden'] })
  })
  const ask = (body: Record<string, unknown> = {}) => sendChat(rig.url, `sk-${AUTO_KEY}`, body)

  it('serves a call by its first group, at the ratio of this group', async () => {
    expect((await ask()).status).toBe(200)
    expect(await settled()).toMatchObject({
      ...{ group: 'cheap', channelId: 2, price: { group: '0.5' } },
      requested: { group: 'auto', model: 'sim-small' },
    })
  })

  it('serves a call by the next group if the first fails, at the ratio of that group', async () => {
    failures(1)
    expect((await ask({ stream: true })).status).toBe(200)
    expect(await settled()).toMatchObject({ group: 'dear', channelId: 3, price: { group: '2' } })
  })

  it('serves a call that names a channel at the ratio of a group of this channel', async () => {
    const key = 'adminadminadminadminadminadminadminadminadminadm'
    await rig.addUser(8, { role: 10 })
    await rig.addToken(4, 8, key, { group: 'auto' })
    await rig.grant(8, 1_000_000n)
    expect((await sendChat(rig.url, `sk-${key}-3`, {})).status).toBe(200)
    expect((await rig.callEvents(8)).at(-1)?.data).toMatchObject({
      ...{ group: 'dear', channelId: 3, price: { group: '2' } },
    })
    expect((await sendChat(rig.url, `sk-${key}-4`, {})).status).toBe(200)
    expect((await rig.callEvents(8)).at(-1)?.data).toMatchObject({ group: 'cheap', channelId: 4 })
  })

  it('reduces the output to what the cheapest group allows, without dear ones', async () => {
    const held = async (tokenId: number, key: string, group: string) => {
      await rig.addToken(tokenId, USER, key, { group })
      await rig.setBudget(USER, tokenId, 4_000n)
      await sendChat(rig.url, `sk-${key}`, { max_tokens: 100_000 })
      const admitted = (await rig.callEvents()).findLast(({ type }) => type === 'CallAdmitted')
      return admitted?.type === 'CallAdmitted' ? admitted.data : null
    }
    const { hold, outputLimit } = (await held(11, 'c'.repeat(48), 'cheap')) ?? {}
    expect(outputLimit).toBeGreaterThan(1_500)
    failures(1)
    expect(await held(12, 'a'.repeat(48), 'auto')).toMatchObject({ hold, outputLimit })
    expect((await rig.callEvents()).at(-1)).toMatchObject({ type: 'CallReleased' })
  })

  it('is an error of the caller for a user who may not use it', async () => {
    await rig.setOption('UserUsableGroups', { default: '', cheap: '', dear: '' })
    const answer = await ask()
    expect(errorOf({ ...answer, text: await answer.text() }).code).toBe('group_not_allowed')
  })

  it('counts calls towards the limits of the groups that serve them, fifty at once', async () => {
    const limits = { cheap: { calls: 7 }, dear: { calls: 5 }, default: { calls: 1 } }
    await rig.setOption('RateLimitsByGroup', limits)
    const all = await Promise.all(Array.from({ length: 50 }, () => ask()))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(12)
    const limited = all.filter(({ status }) => status === 429)
    expect(limited).toHaveLength(38)
    expect(Number(limited[0]?.headers.get('retry-after'))).toBeGreaterThan(0)
    const served = (await rig.callEvents()).flatMap((event) =>
      event.type === 'CallSettled' ? [event.data.group] : [],
    )
    expect(served.filter((group) => group === 'cheap')).toHaveLength(7)
    expect(served.filter((group) => group === 'dear')).toHaveLength(5)
    // The user's calls in other groups have limits of their own.
    expect([(await chat(rig)).status, (await chat(rig)).status]).toEqual([200, 429])
  })

  it('counts a call that the exempt group could not serve towards the model’s limit', async () => {
    await rig.setOption('RateLimitsByModel', { 'sim-small': { calls: 1 } })
    await rig.setOption('global.rate_limit_exempt_enabled', 'true')
    await rig.setOption('global.rate_limit_exempt_group', 'cheap')
    failures(1)
    expect((await ask()).status).toBe(200)
    failures(1)
    expect((await ask()).status).not.toBe(200)
    expect((await ask()).status).toBe(200)
  })

  it('leaves a limited group out when the first group fails', async () => {
    await rig.setOption('RateLimitsByGroup', { dear: { calls: 1 } })
    failures(1)
    expect((await ask()).status).toBe(200)
    failures(1)
    expect((await ask()).status).toBe(503)
    const channels = (await rig.callEvents()).flatMap((event) =>
      event.type === 'CallAdmitted' || !('attempts' in event.data)
        ? []
        : [event.data.attempts?.map(({ channelId }) => channelId)],
    )
    expect(channels).toEqual([[2, 3], [2]])
  })

  it('bounds the calls at the same time by each group, and by the site elsewhere', async () => {
    await rig.setOption('RateLimitsByGroup', { cheap: { concurrency: 2 } })
    await rig.setOption('ModelRequestRateLimitEnabled', 'true')
    await rig.setOption('ModelRequestRateLimitCount', '3')
    rig.provider.script.push(...Array(20).fill({ kind: 'slow', msPerChunk: 30 }))
    const all = await Promise.all(Array.from({ length: 20 }, () => ask({ stream: true })))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(5)
    await Promise.all(all.map((answer) => answer.text()))
  })

  it('lists the models of all of its groups', async () => {
    await rig.setOption('ModelRatio', { 'sim-small': 1.25, extra: 1 })
    await rig.addChannel(5, { groups: ['dear'], models: ['extra'] })
    const headers = { authorization: `Bearer sk-${AUTO_KEY}` }
    const answer = await fetch(`${rig.url}/v1/models`, { headers })
    const { data } = (await answer.json()) as { data: { id: string }[] }
    expect(data.map(({ id }) => id)).toEqual(['extra', 'sim-small'])
  })
})

describe('a call that its caller can pay only without the dear alternatives', () => {
  const ASK = { max_tokens: 500 }
  const ask = (body: Record<string, unknown> = {}) =>
    sendChat(rig.url, `sk-${AUTO_KEY}`, { ...ASK, ...body })

  beforeEach(async () => {
    await rig.setOption('ModelRatio', { 'sim-small': 1, 'sim-large': 5, 'sim-mini': 0.25 })
    await rig.setOption('CompletionRatio', { 'sim-small': 2, 'sim-large': 2, 'sim-mini': 2 })
    await rig.setOption('GroupRatio', { default: 1, exp: 3 })
    await rig.setOption('UserUsableGroups', { default: '', auto: '', exp: '' })
    await rig.addChannel(2, { groups: ['exp'] })
  })

  describe.each([
    ['a dear group after the cheap one', ['default', 'exp']],
    ['a dear group before the cheap one', ['exp', 'default']],
  ])('%s', (_name, groups) => {
    beforeEach(async () => {
      await rig.setOption('AutoGroups', groups)
      await rig.addToken(9, USER, AUTO_KEY, { group: 'auto' })
    })

    it.each([1_500n, 3_000n])('is left out, and the output stays as long: %i', async (budget) => {
      await rig.setBudget(USER, 9, budget)
      expect((await ask()).status).toBe(200)
      expect(await settled()).toMatchObject({ group: 'default', price: { group: '1' } })
      const [admitted] = await rig.callEvents()
      expect(admitted?.data).not.toHaveProperty('outputLimit')
    })

    it('is left out for a low balance as well', async () => {
      await rig.addUser(8)
      await rig.grant(8, 1_500n)
      await rig.addToken(4, 8, 'x'.repeat(48), { group: 'auto' })
      expect((await sendChat(rig.url, `sk-${'x'.repeat(48)}`, ASK)).status).toBe(200)
      expect((await rig.callEvents(8)).at(-1)?.data).toMatchObject({ group: 'default' })
      expect(await rig.balance(8)).toBeGreaterThanOrEqual(0n)
    })

    it('is not tried after a failure, and nothing is charged', async () => {
      await rig.setBudget(USER, 9, 1_500n)
      failures(1)
      expect((await ask()).status).toBe(503)
      expect(sentModels()).toEqual(['sim-small'])
      expect(await rig.balance()).toBe(1_000_000_000n)
    })

    it('is tried if the caller can pay for it', async () => {
      await rig.setBudget(USER, 9, 4_000n)
      failures(1)
      expect((await ask()).status).toBe(200)
      expect(await settled()).toMatchObject({ group: groups[1] })
    })

    it('does not keep the output from being reduced for the cheap group', async () => {
      await rig.setBudget(USER, 9, 800n)
      expect((await ask()).status).toBe(200)
      expect(await settled()).toMatchObject({ group: 'default' })
      const [admitted] = await rig.callEvents()
      if (admitted?.type !== 'CallAdmitted') throw new Error('not admitted')
      expect(admitted.data.outputLimit).toBeGreaterThanOrEqual(256)
      expect(admitted.data.hold).toBeLessThanOrEqual(800)
    })

    it('gets an error if the caller can not even pay for the cheap group', async () => {
      await rig.setBudget(USER, 9, 300n)
      const answer = await ask()
      expect(answer.status).toBe(402)
      expect(errorOf({ ...answer, text: await answer.text() }).code).toBe('token_exhausted')
      expect(await rig.callEvents()).toEqual([])
    })

    it('never makes the account owe, fifty at once', async () => {
      await rig.setBudget(USER, 9, 9_000n)
      const before = await rig.balance()
      rig.provider.script.push(...Array(10).fill(FAILURE))
      const all = await Promise.all(Array.from({ length: 50 }, () => ask()))
      expect(new Set(all.map(({ status }) => status))).toContain(402)
      expect(all.filter(({ status }) => status === 200).length).toBeGreaterThan(1)
      const events = await rig.callEvents()
      const holdsByCall = new Map<string, number>()
      for (const { type, data } of events) {
        if (type === 'CallAdmitted') holdsByCall.set(data.call, data.hold)
        if (type !== 'CallSettled') continue
        expect(data.charge).toBeLessThanOrEqual(holdsByCall.get(data.call) ?? 0)
      }
      expect(new Set(holdsByCall.values()).size).toBeGreaterThan(1)
      expect(before - (await rig.balance())).toBeLessThanOrEqual(9_000n)
    })
  })

  describe('a dear fallback model', () => {
    it.each([
      ['per token', { ModelFallbacks: { 'sim-small': ['sim-large'] } }],
      [
        'per call',
        { ModelPrice: { 'sim-large': 1 }, ModelFallbacks: { 'sim-small': ['sim-large'] } },
      ],
    ])('is left out, with a price %s', async (_name, options) => {
      for (const [key, value] of Object.entries(options)) await rig.setOption(key, value)
      await rig.addChannel(3, { models: ['sim-large'] })
      await rig.addToken(9, USER, AUTO_KEY)
      await rig.setBudget(USER, 9, 1_500n)
      failures(1)
      expect((await ask()).status).toBe(503)
      expect((await ask()).status).toBe(200)
      expect(sentModels()).toEqual(['sim-small', 'sim-small'])
    })

    it('is left out while a cheap one is still tried, at its own price', async () => {
      await rig.setOption('ModelFallbacks', { 'sim-small': ['sim-large', 'sim-mini'] })
      await rig.addChannel(3, { models: ['sim-large'] })
      await rig.addChannel(4, { models: ['sim-mini'] })
      await rig.addToken(9, USER, AUTO_KEY)
      await rig.setBudget(USER, 9, 1_500n)
      failures(1)
      expect((await ask({ stream: true })).status).toBe(200)
      expect(sentModels()).toEqual(['sim-small', 'sim-mini'])
      expect(await settled()).toMatchObject({
        ...{ model: 'sim-mini', price: { model: '0.25' } },
        requested: { model: 'sim-small', group: 'default' },
      })
    })

    it('does not replace a model that the caller can not pay', async () => {
      await rig.setOption('ModelFallbacks', { 'sim-large': ['sim-mini'] })
      await rig.addChannel(3, { models: ['sim-large'] })
      await rig.addChannel(4, { models: ['sim-mini'] })
      await rig.addToken(9, USER, AUTO_KEY)
      await rig.setBudget(USER, 9, 1_500n)
      expect((await ask({ model: 'sim-large' })).status).toBe(402)
      expect(sentModels()).toEqual([])
    })
  })

  it('a free group serves a call of an account without quota', async () => {
    await rig.setOption('GroupRatio', { default: 0, exp: 3 })
    await rig.setOption('AutoGroups', ['default', 'exp'])
    await rig.addUser(8)
    await rig.addToken(4, 8, 'x'.repeat(48), { group: 'auto' })
    expect((await sendChat(rig.url, `sk-${'x'.repeat(48)}`, ASK)).status).toBe(200)
    expect((await rig.callEvents(8)).at(-1)?.data).toMatchObject({ group: 'default', charge: 0 })
  })

  it('is served although its length must be compared with a channel’s limit', async () => {
    await rig.setOption('AutoGroups', ['default', 'exp'])
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.addChannel(5, { maxInputTokens: 20 })
    await rig.addToken(9, USER, AUTO_KEY, { group: 'auto' })
    await rig.setBudget(USER, 9, 1_500n)
    expect((await ask()).status).toBe(200)
    expect(await settled()).toMatchObject({ group: 'default', channelId: 5 })
  })

  it('is served if only a count of its tokens shows that the caller can pay', async () => {
    await rig.setOption('AutoGroups', ['exp', 'default'])
    await rig.addToken(9, USER, AUTO_KEY, { group: 'auto' })
    await rig.setBudget(USER, 9, 3_500n)
    const messages = [{ role: 'user', content: 'several words of a long text '.repeat(200) }]
    expect((await ask({ messages })).status).toBe(200)
    expect(await settled()).toMatchObject({ group: 'default', price: { group: '1' } })
    await rig.setBudget(USER, 9, 600n)
    expect((await ask({ messages })).status).toBe(402)
  })

  it('is served if the only dear group’s channels do not accept its length', async () => {
    await rig.setOption('AutoGroups', ['default', 'exp'])
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    await rig.addChannel(5, { groups: ['exp'], maxInputTokens: 1 })
    await rig.addToken(9, USER, AUTO_KEY, { group: 'auto' })
    expect((await ask()).status).toBe(200)
    const [admitted] = await rig.callEvents()
    expect(admitted?.data).toMatchObject({ price: { group: '1' } })
  })
})

describe('limits by group and by model', () => {
  it('a limit of a group replaces that of the site for its users', async () => {
    await rig.setOption('ModelRequestRateLimitEnabled', 'true')
    await rig.setOption('ModelRequestRateLimitCount', '1')
    await rig.setOption('RateLimitsByGroup', { default: { calls: 3 } })
    const statuses = []
    for (let call = 0; call < 5; call += 1) statuses.push((await chat(rig)).status)
    expect(statuses).toEqual([200, 200, 200, 429, 429])
    expect(errorOf(await chat(rig)).message).toContain('(this user, group default)')
  })

  it('a limit of a model counts only its own calls, fifty at once', async () => {
    await rig.setOption('ModelRatio', { 'sim-small': 1.25, other: 1 })
    await rig.addChannel(2, { models: ['other'] })
    await rig.setOption('RateLimitsByModel', { other: { calls: 7 } })
    const all = await Promise.all(Array.from({ length: 50 }, () => chat(rig, { model: 'other' })))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(7)
    expect((await chat(rig)).status).toBe(200)
  })

  it('a limit of a model counts fallbacks to it, fifty at once, then skips it', async () => {
    await rig.setOption('ModelRatio', { limited: 1, 'sim-mini': 1, 'sim-gone': 1 })
    await rig.setOption('ModelFallbacks', { 'sim-gone': ['limited', 'sim-mini'] })
    await rig.setOption('RateLimitsByModel', { limited: { calls: 7 } })
    await rig.addChannel(2, { models: ['limited'] })
    await rig.addChannel(3, { models: ['sim-mini'] })
    const ask = () => chat(rig, { model: 'sim-gone' })
    const all = await Promise.all(Array.from({ length: 50 }, ask))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(50)
    expect(sentModels().filter((model) => model === 'limited')).toHaveLength(7)
    expect((await chat(rig, { model: 'limited' })).status).toBe(429)
  })

  it('a call whose only fallback is limited gets the error of the limit', async () => {
    await rig.setOption('ModelRatio', { limited: 1, 'sim-gone': 1 })
    await rig.setOption('ModelFallbacks', { 'sim-gone': ['limited'] })
    await rig.setOption('RateLimitsByModel', { limited: { calls: 1 } })
    await rig.addChannel(2, { models: ['limited'] })
    expect((await chat(rig, { model: 'limited' })).status).toBe(200)
    const balance = await rig.balance()
    const limited = await chat(rig, { model: 'sim-gone' })
    expect([limited.status, errorOf(limited).code]).toEqual([429, 'rate_limited'])
    expect(errorOf(limited).message).toContain('1 calls / 60 s (this user, model limited)')
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await rig.balance()).toBe(balance)
  })

  it('a limit of a model bounds its calls at the same time', async () => {
    await rig.setOption('RateLimitsByModel', { 'sim-small': { concurrency: 2 } })
    rig.provider.script.push(...Array(20).fill({ kind: 'slow', msPerChunk: 30 }))
    const all = await Promise.all(Array.from({ length: 20 }, () => chat(rig, { stream: true })))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(2)
    expect(all.filter(({ status }) => status === 429)).toHaveLength(18)
  })
})
