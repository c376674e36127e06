import { request as httpRequest } from 'node:http'
import { beforeEach, describe, expect, it } from 'vitest'
import type { CallSettled } from '#domain/accounts/events.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { recomputedCharge } from '../domain/pricing/independent-charge.ts'
import { KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const CLAUDE = 'claude-opus-5'
const GPT = 'gpt-6-astra'
const MODELS = [CLAUDE, GPT, 'claude-opus-5-5']
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  const each = (value: number) => Object.fromEntries(MODELS.map((model) => [model, value]))
  await rig.setOption('ModelRatio', each(1))
  await rig.setOption('CompletionRatio', each(4))
  await rig.setOption('CreateCacheRatio', each(1.25))
})

const addChannel = (type: number, allowed: readonly string[]) =>
  rig.addChannel(2, {
    ...{ type, baseUrl: provider.url, models: MODELS },
    setting: JSON.stringify({ allowed_members: allowed }),
  })

const AUTH = { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' }

async function send(path: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { ...AUTH, ...headers },
    body: JSON.stringify(body),
  })
  const dropped = response.headers.get('x-dropped-members')
  return { status: response.status, dropped, text: await response.text() }
}

const sentBody = () => JSON.parse(provider.requests[0]?.body ?? '') as Record<string, unknown>

async function bill() {
  const end = await onlyEnd(rig)
  const { charge, price, usage, calls, dropped } = end.data as CallSettled['data']
  expect(recomputedCharge(price, usage, calls)).toBe(BigInt(charge))
  return { charge, usage, dropped }
}

function answerMessage(usage: object) {
  const content = [{ type: 'text', text: 'yes' }]
  const message = { id: 'm', type: 'message', role: 'assistant', model: CLAUDE }
  const body = { ...message, content, stop_reason: 'end_turn', usage }
  provider.answers.set('POST /v1/messages', { body })
}

const message = (more: object) => ({
  ...{ model: CLAUDE, max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] },
  ...more,
})

describe('writes to the one-hour cache', () => {
  const hour = { type: 'ephemeral', ttl: '1h' }
  const input = { cache_control: hour }
  const REQUEST = message({
    system: [{ type: 'text', text: 'Be brief.', cache_control: hour }],
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'a' }] },
    ],
  })
  const usage = { input_tokens: 100, output_tokens: 10, cache_creation_input_tokens: 400 }

  it('become writes to the five-minute cache unless the channel allows them', async () => {
    await addChannel(14, [])
    const lifetimes = { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 0 }
    answerMessage({ ...usage, cache_creation: lifetimes })
    const { dropped } = await send('/v1/messages', REQUEST)
    expect(dropped).toBe('cache_control.ttl')
    const cache_control = { type: 'ephemeral', ttl: '5m' }
    expect(sentBody()).toEqual({
      ...REQUEST,
      system: [{ type: 'text', text: 'Be brief.', cache_control }],
    })
    expect(await bill()).toMatchObject({
      ...{ charge: 100 + 400 * 1.25 + 10 * 4, dropped: ['cache_control.ttl'] },
      usage: { cacheWrite5m: 400, cacheWrite1h: 0 },
    })
  })

  it('are sent and cost 1.6 times as much if the channel allows them', async () => {
    await addChannel(14, ['cache_control.ttl'])
    answerMessage(usage)
    expect((await send('/v1/messages', REQUEST)).dropped).toBeNull()
    expect(provider.requests[0]?.body).toBe(JSON.stringify(REQUEST))
    expect(await bill()).toMatchObject({ charge: 100 + 400 * 1.25 * 1.6 + 10 * 4 })
  })

  it.each([
    ['/v1/messages', message({ messages: REQUEST.messages })],
    [
      '/v1/chat/completions',
      {
        model: CLAUDE,
        messages: [
          { role: 'user', content: 'Hi' },
          {
            role: 'assistant',
            tool_calls: [
              {
                ...{ id: 't', type: 'function' },
                function: { name: 'n', arguments: JSON.stringify(input) },
              },
            ],
          },
          { role: 'tool', tool_call_id: 't', content: 'a' },
        ],
      },
    ],
  ])('are not seen in the arguments of a tool’s call to %s', async (path, request) => {
    await addChannel(14, ['cache_control.ttl'])
    answerMessage(usage)
    expect((await send(path, request)).status).toBe(200)
    expect(provider.requests[0]?.body).toContain('"input":{"cache_control":{')
    expect(await bill()).toMatchObject({ charge: 100 + 400 * 1.25 + 10 * 4 })
  })

  it.each<[string, readonly string[], number]>([
    ['30m', [], 1],
    ['12h', ['cache_control.ttl'], 1.6],
  ])(
    'of OpenAI are sent with a lifetime of %s to a channel that allows %j',
    async (ttl, ...more) => {
      const [allowed, factor] = more
      await addChannel(1, allowed)
      const input_tokens_details = {
        cache_write_tokens: 400,
        ...(ttl === '12h' && { cache_write_tokens_details: { ttl_12h_tokens: 400 } }),
      }
      const counts = { input_tokens: 500, output_tokens: 10, input_tokens_details }
      provider.answers.set('POST /v1/responses', {
        body: { id: 'r', object: 'response', model: GPT, output: [], usage: counts },
      })
      const options = { mode: 'implicit', ttl: '12h' }
      await send('/v1/responses', { model: GPT, input: 'Hi', prompt_cache_options: options })
      expect(sentBody()).toMatchObject({ prompt_cache_options: { mode: 'implicit', ttl } })
      expect(await bill()).toMatchObject({ charge: 100 + 400 * 1.25 * factor + 10 * 4 })
    },
  )

  it('are shortened in converted requests, and in escaped letters', async () => {
    await addChannel(14, [])
    answerMessage(usage)
    const content = [{ type: 'text', text: 'Hi', cache_control: hour }]
    const chat = { model: CLAUDE, messages: [{ role: 'user', content }] }
    expect((await send('/v1/chat/completions', chat)).dropped).toBe('cache_control.ttl')
    expect(provider.requests[0]?.body).toContain('"ttl":"5m"')
    const body = JSON.stringify(REQUEST).replace('"1h"', '"\\u0031h"')
    await fetch(`${rig.url}/v1/messages`, { method: 'POST', headers: AUTH, body })
    expect(JSON.parse(provider.requests[1]?.body ?? '')).toMatchObject({
      system: [{ cache_control: { ttl: '5m' } }],
    })
  })
})

describe('the fast mode of Claude', () => {
  const BETAS = { 'anthropic-beta': 'fast-mode-2026-02-01,files-api-2025-04-14' }
  const counts = { input_tokens: 100, output_tokens: 10 }
  const NORMAL = 100 + 10 * 4

  it.each<[string | undefined, number]>([
    ['fast', 2],
    ['standard', 1],
    [undefined, 2],
  ])('is sent with its beta, and answered at the speed %s', async (speed, factor) => {
    await addChannel(14, ['speed'])
    answerMessage({ ...counts, speed })
    const { dropped } = await send('/v1/messages', message({ speed: 'fast' }), BETAS)
    expect(dropped).toBeNull()
    expect(sentBody()).toMatchObject({ speed: 'fast' })
    expect(provider.requests[0]?.headers).toMatchObject(BETAS)
    expect((await bill()).charge).toBe(NORMAL * factor)
  })

  it.each<[string, string, readonly string[]]>([
    ['the channel does not allow it', CLAUDE, []],
    ['the model has no price for it', 'claude-opus-5-5', ['speed']],
  ])('is removed with its beta if %s', async (_name, model, allowed) => {
    await addChannel(14, allowed)
    answerMessage({ ...counts, speed: 'fast' })
    const { dropped } = await send('/v1/messages', message({ model, speed: 'fast' }), BETAS)
    expect(dropped).toBe('speed, anthropic-beta: fast-mode-2026-02-01')
    expect(sentBody()).toEqual(message({ model }))
    const { headers } = provider.requests[0] ?? {}
    expect(headers?.['anthropic-beta']).toBe('files-api-2025-04-14')
    expect((await bill()).charge).toBe(NORMAL)
  })

  it.each<[string, number]>([
    ['fast', 2],
    ['standard', 1],
  ])('of a stream is billed by the speed %s in its first usage', async (speed, factor) => {
    await addChannel(14, ['speed'])
    const { input_tokens } = counts
    const begun = {
      ...{ id: 'm', type: 'message', role: 'assistant', model: CLAUDE, content: [] },
      usage: { input_tokens, output_tokens: 1, speed },
    }
    const events = [
      { type: 'message_start', message: begun },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'yes' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 10 } },
      { type: 'message_stop' },
    ]
    const pieces = events.map((one) =>
      Buffer.from(`event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`),
    )
    const headers = { 'content-type': 'text/event-stream' }
    provider.answers.set('POST /v1/messages', { headers, pieces })
    await send('/v1/messages', message({ speed: 'fast', stream: true }), BETAS)
    expect((await bill()).charge).toBe(NORMAL * factor)
  })

  it('is covered by the hold', async () => {
    await addChannel(14, ['speed'])
    answerMessage({ ...counts, speed: 'fast' })
    await send('/v1/messages', message({}))
    await send('/v1/messages', message({ speed: 'fast' }), BETAS)
    const holds = (await rig.callEvents()).flatMap((event) =>
      event.type === 'CallAdmitted' ? [event.data.hold] : [],
    )
    expect(holds).toHaveLength(2)
    expect(holds[1]).toBeGreaterThan(2 * (holds[0] ?? 0) - 2)
  })

  it('does not make a tier of OpenAI’s a member of Anthropic’s requests', async () => {
    await addChannel(14, ['speed', 'service_tier'])
    answerMessage(counts)
    const { dropped } = await send('/v1/messages', message({ service_tier: 'fast' }))
    expect(dropped).toBe('service_tier')
    expect((await bill()).charge).toBe(NORMAL)
  })
})

describe('a response in the background', () => {
  const REQUEST = { model: GPT, input: 'Hi', background: true, max_output_tokens: 100 }
  const usage = { input_tokens: 100, output_tokens: 10, total_tokens: 110 }
  const output = [
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'yes' }] },
  ]
  const response = { id: 'resp_1', object: 'response', model: GPT, output }
  const event = (type: string, more: object) =>
    Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`)
  const EVENTS = [
    event('response.queued', { response: { ...response, output: [], status: 'queued' } }),
    event('response.output_text.delta', { delta: 'yes', item_id: 'i', output_index: 0 }),
    event('response.completed', { response: { ...response, status: 'completed', usage } }),
  ]
  const NORMAL = 100 + 10 * 4
  const answerStream = (pause?: Promise<void>) =>
    provider.answers.set('POST /v1/responses', {
      headers: { 'content-type': 'text/event-stream' },
      pieces: EVENTS,
      ...(pause === undefined ? {} : { pause }),
    })

  it.each([[[]], [['background']]])(
    'is an ordinary response if it is not streamed (%j)',
    async (allowed: string[]) => {
      await addChannel(1, allowed)
      const body = { ...response, status: 'completed', usage }
      provider.answers.set('POST /v1/responses', { body })
      const { status, dropped } = await send('/v1/responses', REQUEST)
      expect([status, dropped]).toEqual([200, 'background'])
      expect(sentBody()).not.toHaveProperty('background')
      expect(await bill()).toMatchObject({ charge: NORMAL, dropped: ['background'] })
    },
  )

  it('is an ordinary stream if the channel does not allow it', async () => {
    await addChannel(1, [])
    answerStream()
    const { dropped } = await send('/v1/responses', { ...REQUEST, stream: true })
    expect(dropped).toBe('background')
    expect(sentBody()).not.toHaveProperty('background')
  })

  it('is sent if it is streamed and allowed, and costs what any stream costs', async () => {
    await addChannel(1, ['background'])
    answerStream()
    const { dropped } = await send('/v1/responses', { ...REQUEST, stream: true })
    expect(dropped).toBeNull()
    expect(sentBody()).toMatchObject({ background: true })
    expect((await bill()).charge).toBe(NORMAL)
  })

  it('is read to its end and billed by its usage after the caller has left', async () => {
    await addChannel(1, ['background'])
    let goOn = () => {}
    answerStream(
      new Promise((resolve) => {
        goOn = resolve
      }),
    )
    const call = httpRequest(`${rig.url}/v1/responses`, { method: 'POST', headers: AUTH })
    call.on('error', () => {})
    const begun = new Promise((resolve) => {
      call.on('response', (answer) => {
        answer.on('error', () => {})
        answer.once('data', resolve)
      })
    })
    call.end(JSON.stringify({ ...REQUEST, stream: true }))
    await begun
    const closed = new Promise((resolve) => call.once('close', resolve))
    call.destroy()
    await closed
    goOn()
    await expect.poll(async () => (await rig.callEvents()).length).toBe(2)
    expect((await bill()).charge).toBe(NORMAL)
    expect((await onlyEnd(rig)).data).toMatchObject({
      ...{ end: 'client-gone', usageSource: 'upstream' },
    })
  })

  it('loses the member if the provider has another format', async () => {
    await addChannel(14, [])
    answerMessage({ input_tokens: 100, output_tokens: 10 })
    const { status } = await send('/v1/responses', { ...REQUEST, model: CLAUDE })
    expect(status).toBe(200)
    expect((await onlyEnd(rig)).data).toMatchObject({ losses: ['background'] })
  })

  it('is refused if the member is no flag', async () => {
    await addChannel(1, ['background'])
    const { status, text } = await send('/v1/responses', { ...REQUEST, background: 'yes' })
    expect(status).toBe(400)
    expect(JSON.parse(text)).toMatchObject({ error: { param: 'background' } })
  })
})
