import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, relayRig, TOKEN, USER } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const CLAUDE = 'claude-sonnet-4-5'
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

const MESSAGE = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: CLAUDE },
  content: [{ type: 'text', text: 'Yes' }],
  ...{ stop_reason: 'end_turn', stop_sequence: null },
  usage: { input_tokens: 5, output_tokens: 1 },
}

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 14, baseUrl: provider.url, models: [CLAUDE] })
  await rig.setOption('ModelRatio', { [CLAUDE]: 1 })
  await rig.setOption('CompletionRatio', { [CLAUDE]: 5 })
  provider.answers.set('POST /v1/messages', { body: MESSAGE })
})

async function send(members: object = {}) {
  const request = {
    ...{ model: CLAUDE, max_tokens: 16_000 },
    thinking: { type: 'enabled', budget_tokens: 10_000 },
    messages: [{ role: 'user', content: 'Go' }],
    ...members,
  }
  const headers = { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' }
  const text = JSON.stringify(request)
  const response = await fetch(`${rig.url}/v1/messages`, { method: 'POST', headers, body: text })
  const loss = response.headers.get('x-conversion-loss')
  await response.text()
  const sent = provider.requests.map(({ body }) => JSON.parse(body))[0]
  return { status: response.status, loss, sent, text: provider.requests[0]?.body, own: text }
}

describe('a budget of thinking that another format asked for', () => {
  it.each<[string, string, object]>([
    [
      'chat',
      '/v1/chat/completions',
      { max_tokens: 16_000, messages: [{ role: 'user', content: 'Go' }], reasoning_effort: 'high' },
    ],
    [
      'Responses',
      '/v1/responses',
      { input: 'Go', max_output_tokens: 16_000, reasoning: { effort: 'high' } },
    ],
  ])('(%s) stays below an output limit that the quota lowers', async (_name, path, members) => {
    await rig.setBudget(USER, TOKEN, 40_000n)
    const response = await fetch(`${rig.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: CLAUDE, ...members }),
    })
    expect(response.status, await response.text()).toBe(200)
    const { max_tokens, thinking } = JSON.parse(provider.requests[0]?.body ?? '{}')
    expect(max_tokens * 5).toBeLessThanOrEqual(40_000)
    expect(thinking.type).toBe('enabled')
    expect(thinking.budget_tokens).toBeGreaterThanOrEqual(1_024)
    expect(thinking.budget_tokens).toBeLessThan(max_tokens)
  })
})

describe('a budget of thinking', () => {
  it('stays below an output limit that the quota lowers', async () => {
    await rig.setBudget(USER, TOKEN, 40_000n)
    const { status, loss, sent } = await send()
    expect(status).toBe(200)
    expect(sent.max_tokens).toBeLessThan(10_000)
    const { type, budget_tokens } = sent.thinking
    expect(type).toBe('enabled')
    expect(budget_tokens).toBe(Math.floor((sent.max_tokens * 10_000) / 16_000))
    expect(budget_tokens).toBeGreaterThanOrEqual(1_024)
    expect(loss).toBe('thinking.budget_tokens')
  })

  it('that stays below the limit is not changed', async () => {
    await rig.setBudget(USER, TOKEN, 40_000n)
    const { sent, loss } = await send({ thinking: { type: 'enabled', budget_tokens: 2_000 } })
    expect(sent.max_tokens).toBeLessThan(16_000)
    expect(sent.thinking.budget_tokens).toBe(2_000)
    expect(loss).toBeNull()
  })

  it('of a caller who can pay passes with the same bytes', async () => {
    const { text, own } = await send({ max_tokens: 2_000 })
    expect(text).toBe(own)
  })

  it('is below the limit that the site sets for a request without one', async () => {
    const { status, sent } = await send({ max_tokens: undefined })
    expect(status).toBe(200)
    expect(sent.thinking.budget_tokens).toBeLessThan(sent.max_tokens)
  })

  it.each([256, 1_024])(
    'is off if the site’s default limit of %i leaves no room',
    async (limit) => {
      await rig.setOption('claude.default_max_tokens', { default: limit })
      const { status, sent, loss } = await send({ max_tokens: undefined })
      expect(status).toBe(200)
      expect(sent).toMatchObject({ max_tokens: limit, thinking: { type: 'disabled' } })
      expect(loss).toBe('thinking.budget_tokens')
    },
  )

  it('fits a default limit that is below it', async () => {
    await rig.setOption('claude.default_max_tokens', { default: 4_000 })
    const { status, sent } = await send({ max_tokens: undefined })
    expect(status).toBe(200)
    expect(sent).toMatchObject({ max_tokens: 4_000, thinking: { budget_tokens: 3_800 } })
  })

  it.each([
    [4_000, { type: 'enabled', budget_tokens: 2_500 }],
    [900, { type: 'disabled' }],
  ])('fits a limit of %i that the channel overrides', async (max_tokens, thinking) => {
    const paramOverride = JSON.stringify({ max_tokens })
    await rig.addChannel(2, { type: 14, baseUrl: provider.url, models: [CLAUDE], paramOverride })
    const { status, sent } = await send()
    expect(status).toBe(200)
    expect(sent).toMatchObject({ max_tokens, thinking })
  })

  it('for which the quota is too small is refused like any call without quota', async () => {
    await rig.setBudget(USER, TOKEN, 4_000n)
    const { status, sent } = await send()
    expect({ status, sent }).toEqual({ status: 402, sent: undefined })
    expect(await rig.balance()).toBe(1_000_000_000n)
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  })
})
