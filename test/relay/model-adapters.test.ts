import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import {
  chat,
  errorOf,
  KEY,
  onlyEnd,
  PROVIDER_KEY,
  relayRig,
  TOKEN,
  USER,
} from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const CLAUDE = 'claude-sonnet-4-5'
const THINKING = `${CLAUDE}-thinking`
const MESSAGES = 'POST /v1/messages'
const CHAT = 'POST /v1/chat/completions'
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

const USAGE = { input_tokens: 100, output_tokens: 50 }
/** (100 + 50 × 5) × 1.5 */
const CHARGE = 525
const ANSWER = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: CLAUDE, usage: USAGE },
  ...{ content: [{ type: 'text', text: 'Yes.' }], stop_reason: 'end_turn', stop_sequence: null },
}
const COMPLETION = {
  ...{ id: 'c1', object: 'chat.completion', model: 'gpt-5' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 50 },
}

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 14, baseUrl: provider.url, models: [CLAUDE] })
  await rig.addChannel(3, { type: 1, baseUrl: provider.url, models: ['gpt-5'] })
  await rig.setOption('ModelRatio', { [CLAUDE]: 1.5, 'gpt-5': 1 })
  await rig.setOption('CompletionRatio', { [CLAUDE]: 5, 'gpt-5': 8 })
  provider.answers.set(MESSAGES, { body: ANSWER })
  provider.answers.set(CHAT, { body: COMPLETION })
})

const REQUEST = {
  model: THINKING,
  max_tokens: 4000,
  messages: [{ role: 'user', content: 'Hello' }],
}

async function send(body: object = REQUEST, headers = {}, path = '/v1/messages') {
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': `sk-${KEY}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, text, headers: response.headers }
}

const sentBody = (at = 0) => JSON.parse(provider.requests[at]?.body ?? '{}')
const admitted = async () =>
  (await rig.callEvents()).filter(({ type }) => type === 'CallAdmitted').map(({ data }) => data)

describe('a name that ends in -thinking', () => {
  it('turns on thinking, and counts as the model without the suffix', async () => {
    const { status, headers } = await send({ ...REQUEST, temperature: 0.5 })
    expect(status).toBe(200)
    expect(headers.get('x-conversion-loss')).toBe('temperature')
    expect(sentBody()).toEqual({
      ...REQUEST,
      model: CLAUDE,
      thinking: { type: 'enabled', budget_tokens: 3200 },
    })
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE, usageSource: 'upstream' })
    const [call] = await admitted()
    expect(call).toMatchObject({ model: CLAUDE, reasoningEffort: 'thinking' })
    expect((call as { hold: number }).hold).toBeGreaterThanOrEqual(4000 * 5 * 1.5)
  })

  it('turns on thinking of a chat that is converted', async () => {
    const answer = await chat(rig, { model: THINKING, max_tokens: 4000, temperature: 1 })
    expect(answer.status).toBe(200)
    expect(JSON.parse(answer.text)).toMatchObject({ model: THINKING })
    expect(sentBody()).toMatchObject({
      ...{ model: CLAUDE, max_tokens: 4000 },
      thinking: { type: 'enabled', budget_tokens: 3200 },
    })
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE })
  })

  it('keeps its budget below the limit that a small balance covers', async () => {
    await rig.addUser(21)
    await rig.addToken(22, 21, 'P'.repeat(48))
    await rig.grant(21, 20_000n)
    const key = { 'x-api-key': `sk-${'P'.repeat(48)}` }
    expect((await send({ ...REQUEST, max_tokens: 64_000 }, key)).status).toBe(200)
    const { max_tokens, thinking } = sentBody()
    expect(max_tokens).toBeLessThan(4000)
    expect(thinking.budget_tokens).toBe(Math.floor(max_tokens * 0.8))
    expect(await rig.balance(21)).toBeGreaterThanOrEqual(0n)
  })

  it('keeps its budget below a limit that the channel overrides', async () => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    const paramOverride = JSON.stringify({ max_tokens: 2000 })
    await rig.addChannel(5, { type: 14, baseUrl: provider.url, models: [CLAUDE], paramOverride })
    expect((await send()).status).toBe(200)
    expect((await chat(rig, { model: THINKING, max_tokens: 4000 })).status).toBe(200)
    for (const at of [0, 1]) {
      expect(sentBody(at)).toMatchObject({ max_tokens: 2000, thinking: { budget_tokens: 1600 } })
    }
  })

  it('is allowed to a token that may call the model, and to no other token', async () => {
    for (const [models, status] of [
      [[CLAUDE], 200],
      [[THINKING], 200],
      [['gpt-5'], 403],
    ] as const) {
      await rig.addToken(TOKEN, USER, KEY, { models })
      expect((await send()).status).toBe(status)
    }
  })

  it('is a model of its own if a channel has it: with its own price, or none', async () => {
    await rig.addChannel(4, {
      type: 14,
      baseUrl: provider.url,
      models: [THINKING],
      groups: ['vip'],
    })
    expect((await send()).status).not.toBe(200)
    await rig.addChannel(4, { type: 14, baseUrl: provider.url, models: [THINKING] })
    expect((await send()).status).not.toBe(200)
    expect(provider.requests).toEqual([])
    await rig.setOption('ModelRatio', { [CLAUDE]: 1.5, [THINKING]: 3 })
    await rig.setOption('CompletionRatio', { [THINKING]: 5 })
    expect((await send()).status).toBe(200)
    expect(sentBody()).toMatchObject({ model: CLAUDE, thinking: { budget_tokens: 3200 } })
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: 2 * CHARGE })
    expect(await admitted()).toMatchObject([{ model: THINKING }])
  })

  it('is an unknown model while the option is off', async () => {
    await rig.setOption('claude.thinking_adapter_enabled', 'false')
    expect((await send()).status).toBe(404)
    expect(provider.requests).toEqual([])
  })

  it('can be counted', async () => {
    const { model, messages } = REQUEST
    const { status, text } = await send({ model, messages }, {}, '/v1/messages/count_tokens')
    expect(status).toBe(200)
    expect(JSON.parse(text).input_tokens).toBeGreaterThan(0)
  })
})

describe('a name that ends in an effort', () => {
  it('sets the effort of a reasoning model, with its price', async () => {
    expect((await chat(rig, { model: 'gpt-5-high', max_completion_tokens: 90 })).status).toBe(200)
    expect(sentBody()).toMatchObject({ model: 'gpt-5', reasoning_effort: 'high' })
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: 100 + 50 * 8 })
    expect(await admitted()).toMatchObject([{ model: 'gpt-5', reasoningEffort: 'high' }])
  })

  it('is unknown for a model that is unknown without it', async () => {
    const answer = await chat(rig, { model: 'gpt-5.2-high' })
    expect(answer.status).toBe(404)
    expect(errorOf(answer)).toMatchObject({ code: 'model_not_found' })
  })
})

describe('a call of the Messages API without max_tokens', () => {
  it.each([
    [{ default: 2000 }, 2000],
    [{ [CLAUDE]: 3000, default: 2000 }, 3000],
    [{}, 64_000],
  ])('gets the default of %j', async (defaults, limit) => {
    await rig.setOption('claude.default_max_tokens', defaults)
    const { model, messages } = { ...REQUEST, model: CLAUDE }
    expect((await send({ model, messages })).status).toBe(200)
    expect(sentBody()).toEqual({ model, messages, max_tokens: limit })
    const [call] = await admitted()
    expect((call as { hold: number }).hold).toBeGreaterThanOrEqual(limit * 5 * 1.5)
  })

  it('gets the limit that its channel overrides', async () => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    const paramOverride = JSON.stringify({ max_tokens: 30_000 })
    await rig.addChannel(5, { type: 14, baseUrl: provider.url, models: [CLAUDE], paramOverride })
    const { model, messages } = { ...REQUEST, model: CLAUDE }
    expect((await send({ model, messages })).status).toBe(200)
    expect(sentBody()).toMatchObject({ max_tokens: 30_000 })
  })

  it('thinks within the default', async () => {
    const { model, messages } = REQUEST
    await rig.setOption('claude.default_max_tokens', { default: 2000 })
    expect((await send({ model, messages })).status).toBe(200)
    expect(sentBody()).toMatchObject({ max_tokens: 2000, thinking: { budget_tokens: 1600 } })
  })
})

describe('the headers of a model', () => {
  const BETA = 'anthropic-beta'
  const CALLERS = { [BETA]: 'tools-2025-01-01,context-1m-2025-08-07' }
  const plain = { ...REQUEST, model: CLAUDE }

  it('are added to those of the caller, priced betas included', async () => {
    await send(plain, CALLERS)
    expect(provider.requests[0]?.headers[BETA]).toBe('tools-2025-01-01')
    await rig.setOption('claude.model_headers_settings', {
      [CLAUDE]: { [BETA]: ['context-1m-2025-08-07', 'tools-2025-01-01'], 'x-own': 'yes' },
    })
    await send(plain, CALLERS)
    expect(provider.requests[1]?.headers).toMatchObject({
      [BETA]: 'tools-2025-01-01,context-1m-2025-08-07',
      ...{ 'x-own': 'yes', 'x-api-key': PROVIDER_KEY },
    })
    await chat(rig, { model: CLAUDE })
    expect(provider.requests[2]?.headers[BETA]).toBe('context-1m-2025-08-07,tools-2025-01-01')
  })
})

describe('a channel’s system prompt', () => {
  const block = (text: string) => ({ type: 'text', text })
  const attribution = block('x-anthropic-billing-header: cc_version=2.1;')

  it('follows the caller’s blocks, and the hold covers it', async () => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    const paramOverride = JSON.stringify({ system: 'w '.repeat(3000) })
    await rig.addChannel(5, { type: 14, baseUrl: provider.url, models: [CLAUDE], paramOverride })
    const plain = { ...REQUEST, model: CLAUDE }
    for (const system of [[attribution, block('You are Claude Code.')], 'Be brief.']) {
      await send({ ...plain, system })
    }
    const added = block('w '.repeat(3000))
    expect(sentBody(0).system).toEqual([attribution, block('You are Claude Code.'), added])
    expect(sentBody(1).system).toEqual([block('Be brief.'), added])
    await chat(rig, { model: CLAUDE, max_tokens: 9 })
    expect(sentBody(2).system).toEqual('w '.repeat(3000))
    for (const call of await admitted()) {
      expect((call as { hold: number }).hold).toBeGreaterThan(6000 * 1.5)
    }
  })
})

it('a request on which no adapter acts passes unchanged', async () => {
  const messages = '[{"role":"user","content":"x"}]'
  const body = `{ "max_tokens" : 9,  "model":"${CLAUDE}", "messages":${messages}}`
  const headers = { 'x-api-key': `sk-${KEY}`, 'content-type': 'application/json' }
  await (await fetch(`${rig.url}/v1/messages`, { method: 'POST', headers, body })).text()
  expect(provider.requests[0]?.body).toBe(body)
})

it('an idle stream of the Messages API gets the format’s own pings', async () => {
  await rig.setOption('general_setting.ping_interval_enabled', 'true')
  await rig.setOption('general_setting.ping_interval_seconds', '1')
  const event = (data: { type: string } & Record<string, unknown>) =>
    Buffer.from(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`)
  let isDone = () => {}
  const until = new Promise<void>((resolve) => {
    isDone = resolve
  })
  const message = { ...ANSWER, content: [], stop_reason: null }
  const delta = { stop_reason: 'end_turn', stop_sequence: null }
  provider.answers.set(MESSAGES, {
    headers: { 'content-type': 'text/event-stream' },
    pieces: [
      event({ type: 'message_start', message }),
      event({ type: 'message_delta', delta, usage: { output_tokens: 50 } }),
      event({ type: 'message_stop' }),
    ],
    until,
  })
  setTimeout(isDone, 1_800)
  const { text } = await send({ ...REQUEST, model: CLAUDE, stream: true })
  const ping = 'event: ping\ndata: {"type":"ping"}\n\n'
  expect(text.split(ping).length).toBeGreaterThan(1)
  expect(text.replaceAll(ping, '')).not.toContain('ping')
  expect((await onlyEnd(rig)).data).toMatchObject({ end: 'done', charge: CHARGE })
})
