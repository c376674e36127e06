import { beforeEach, describe, expect, it } from 'vitest'
import type { CallAdmitted, CallSettled } from '#domain/accounts/events.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { recomputedCharge } from '../domain/pricing/independent-charge.ts'
import { KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MODEL = 'gpt-6-astra'
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  const models = [MODEL, 'claude-opus-5', 'gpt-own']
  await rig.setOption('ModelRatio', Object.fromEntries(models.map((model) => [model, 1])))
  await rig.setOption('CompletionRatio', Object.fromEntries(models.map((model) => [model, 4])))
})

const addChannel = (channelId: number, type: number, allowed: readonly string[], more = {}) =>
  rig.addChannel(channelId, {
    ...{ type, baseUrl: provider.url, models: [MODEL, 'claude-opus-5', 'gpt-own'] },
    setting: JSON.stringify({ allowed_members: allowed }),
    ...more,
  })

async function send(path: string, body: object) {
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const CHAT = '/v1/chat/completions'
const question = (more: object) => ({
  ...{ model: MODEL, max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] },
  ...more,
})
const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }
const choice = { index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }

function answerChat(tier: string | undefined, isStream: boolean): void {
  const service = tier === undefined ? {} : { service_tier: tier }
  if (!isStream) {
    const body = { model: MODEL, choices: [choice], usage, ...service }
    provider.answers.set(`POST ${CHAT}`, { body })
    return
  }
  const delta = { index: 0, delta: { content: 'yes' }, finish_reason: 'stop' }
  const events = [
    { model: MODEL, choices: [delta], service_tier: 'auto' },
    { model: MODEL, choices: [], usage, ...service },
  ]
  provider.answers.set(`POST ${CHAT}`, {
    headers: { 'content-type': 'text/event-stream' },
    pieces: [
      ...events.map((event) => Buffer.from(`data: ${JSON.stringify(event)}\n\n`)),
      Buffer.from('data: [DONE]\n\n'),
    ],
  })
}

/** The normal charge for `usage`. */
const NORMAL = 100 + 10 * 4

async function settled() {
  const end = await onlyEnd(rig)
  expect(end.type).toBe('CallSettled')
  const { charge, price, usage: billed, calls } = end.data as CallSettled['data']
  expect(recomputedCharge(price, billed, calls)).toBe(BigInt(charge))
  return { charge, conditions: billed.conditions }
}

describe.each([false, true])('a chat that asks for a service tier (stream: %s)', (stream) => {
  it.each<[string, string | undefined, number]>([
    ['fast', 'fast', 2],
    ['fast', 'priority', 2],
    ['priority', 'fast', 2],
    ['fast', 'default', 1],
    ['fast', 'flex', 1],
    ['fast', undefined, 2],
    ['fast', 'a new tier', 2],
    ['ultrafast', 'ultrafast', 6],
    ['ultrafast', 'priority', 2],
    ['ultrafast', 'default', 1],
    ['ultrafast', undefined, 6],
    ['flex', 'flex', 0.5],
    ['flex', 'default', 1],
    ['flex', undefined, 1],
    ['flex', 'ultrafast', 1],
    ['default', 'ultrafast', 1],
    ['auto', 'priority', 1],
  ])('%s and gets %s costs %s times as much', async (asked, answered, factor) => {
    await addChannel(2, 1, ['service_tier'])
    answerChat(answered, stream)
    const { status } = await send(CHAT, question({ service_tier: asked, stream }))
    expect(status).toBe(200)
    expect(JSON.parse(provider.requests[0]?.body ?? '')).toMatchObject({ service_tier: asked })
    expect((await settled()).charge).toBe(NORMAL * factor)
  })
})

it('the hold covers the dearest tier that was requested', async () => {
  await addChannel(2, 1, ['service_tier'])
  answerChat('default', false)
  await send(CHAT, question({}))
  await send(CHAT, question({ service_tier: 'ultrafast' }))
  const admitted = (await rig.callEvents()).filter(({ type }) => type === 'CallAdmitted')
  const [normal = 0, hold] = admitted.map(({ data }) => (data as CallAdmitted['data']).hold)
  expect(hold).toBeGreaterThan(normal * 6 - 6)
})

it.each<[string, object, readonly string[]]>([
  ['the channel does not allow it', { service_tier: 'fast' }, []],
  ['the model has no price for it', { service_tier: 'fast', model: 'gpt-own' }, ['service_tier']],
  ['it is unknown', { service_tier: 'warp' }, ['service_tier']],
  ['it has another spelling', { serviceTier: 'fast' }, ['service_tier']],
])('a tier is dropped if %s', async (_name, more, allowed) => {
  await addChannel(2, 1, allowed)
  answerChat('fast', false)
  const { status, headers } = await send(CHAT, question(more))
  expect(status).toBe(200)
  expect(provider.requests[0]?.body).not.toMatch(/service/)
  expect(headers.get('x-dropped-members')).toMatch(/service_?tier/i)
  expect(await settled()).toMatchObject({ charge: NORMAL, conditions: undefined })
})

it('a tier of an override has the normal price', async () => {
  await addChannel(2, 1, ['service_tier'], { paramOverride: '{"service_tier":"fast"}' })
  answerChat('fast', false)
  await send(CHAT, question({}))
  expect((await settled()).charge).toBe(NORMAL)
})

it('the tier that another channel would allow costs nothing more', async () => {
  await addChannel(2, 1, [])
  await addChannel(3, 1, ['service_tier'], { priority: -1 })
  answerChat(undefined, false)
  await send(CHAT, question({ service_tier: 'ultrafast' }))
  expect((await settled()).charge).toBe(NORMAL)
})

it('a response is charged by the tier in its last event', async () => {
  await addChannel(2, 1, ['service_tier'])
  const response = { id: 'r', object: 'response', model: MODEL, service_tier: 'fast' }
  const output = [{ type: 'message', role: 'assistant', content: [] }]
  const counts = { input_tokens: 100, output_tokens: 10, total_tokens: 110 }
  const events = [
    { type: 'response.created', response: { ...response, service_tier: 'auto', output: [] } },
    { type: 'response.completed', response: { ...response, output, usage: counts } },
  ]
  provider.answers.set('POST /v1/responses', {
    headers: { 'content-type': 'text/event-stream' },
    pieces: events.map((event) =>
      Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
    ),
  })
  const more = { service_tier: 'ultrafast', stream: true, store: false, max_output_tokens: 100 }
  await send('/v1/responses', { model: MODEL, input: 'Hi', ...more })
  expect((await settled()).charge).toBe(NORMAL * 2)
})

describe('a message whose place of computation is set', () => {
  it.each<[string, string | undefined, number]>([
    ['us', 'us', 1.1],
    ['us', 'global', 1],
    ['us', undefined, 1.1],
    ['global', 'us', 1],
  ])('to %s and answered by %s costs %s times as much', async (asked, answered, factor) => {
    await addChannel(2, 14, ['inference_geo'])
    const counts = { input_tokens: 100, output_tokens: 100, inference_geo: answered }
    const content = [{ type: 'text', text: 'yes' }]
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'claude-opus-5' }
    provider.answers.set('POST /v1/messages', {
      body: { ...message, content, stop_reason: 'end_turn', usage: counts },
    })
    await send('/v1/messages', question({ model: 'claude-opus-5', inference_geo: asked }))
    expect(JSON.parse(provider.requests[0]?.body ?? '')).toMatchObject({ inference_geo: asked })
    const { price, usage: billed, charge } = (await onlyEnd(rig)).data as CallSettled['data']
    expect(price).toMatchObject({ model: '1' })
    const { conditions: _, ...plain } = billed
    expect(charge).toBe(Math.round(Number(recomputedCharge(price, plain, 1)) * factor))
  })
})
