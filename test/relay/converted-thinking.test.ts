import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, relayRig, TOKEN, USER } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MODELS = ['qwen-plus', 'qwen-max', 'Qwen/Qwen3-8B', 'Qwen/Qwen2.5-7B-Instruct']
const DASH_SCOPE = 17
const SILICON_FLOW = 40
const OUTPUT_PRICE = 4
/** The most thinking of any model of DashScope. */
const MOST = 81_920
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', Object.fromEntries(MODELS.map((model) => [model, 1])))
  const ratios = Object.fromEntries(MODELS.map((model) => [model, OUTPUT_PRICE]))
  await rig.setOption('CompletionRatio', ratios)
  await rig.setOption('MaxOutputTokens', {})
  const begin = { choices: [{ index: 0, delta: { content: 'yes' }, finish_reason: 'stop' }] }
  const usage = { prompt_tokens: 10, completion_tokens: 5 }
  const events = [begin, { choices: [], usage }].map((one) => `data: ${JSON.stringify(one)}\n\n`)
  const pieces = [Buffer.from(`${events.join('')}data: [DONE]\n\n`)]
  provider.answers.set('*', { headers: { 'content-type': 'text/event-stream' }, pieces })
})

type Format = 'messages' | 'gemini' | 'responses'

/** Streams a call in a format, and returns what the provider received. */
async function send(format: Format, model: string, members: object, isStream = true) {
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
  const messages = [{ role: 'user', content: 'Hi' }]
  const [path, body] = {
    messages: ['/v1/messages', { model, messages, max_tokens: 20_000, stream: isStream }],
    gemini: [`/v1beta/models/${model}:streamGenerateContent?alt=sse`, { contents }],
    responses: ['/v1/responses', { model, input: 'Hi', stream: isStream }],
  }[format] as [string, object]
  const answer = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, ...members }),
  })
  await answer.text()
  const sent = JSON.parse(provider.requests[0]?.body ?? '{}')
  const { enable_thinking, thinking_budget, reasoning_effort, thinking } = sent
  const losses = answer.headers.get('x-conversion-loss')
  const controls = { enable_thinking, thinking_budget, reasoning_effort, thinking }
  return { sent: JSON.parse(JSON.stringify(controls)), losses }
}

const addChannel = (type: number) =>
  rig.addChannel(2, { type, baseUrl: provider.url, models: MODELS })

/** Returns the output tokens that the hold of the only call covers, and somewhat more. */
async function heldTokens(): Promise<number> {
  const [admitted] = await rig.callEvents()
  return admitted?.type === 'CallAdmitted' ? admitted.data.hold / OUTPUT_PRICE : 0
}

const ON = { enable_thinking: true }
const OFF = { enable_thinking: false }
const withBudget = (thinking_budget: number) => ({ ...ON, thinking_budget })
const gemini = (thinkingConfig: object) => ({ generationConfig: { thinkingConfig } })

describe('thinking of Qwen in a converted call', () => {
  it.each<[Format, object, object, string | null]>([
    ['messages', { thinking: { type: 'disabled' } }, OFF, null],
    ['messages', { thinking: { type: 'enabled', budget_tokens: 4_000 } }, withBudget(4_000), null],
    [
      'messages',
      { max_tokens: 60_000, thinking: { type: 'enabled', budget_tokens: 50_000 } },
      withBudget(32_768),
      'thinking.budget_tokens',
    ],
    ['gemini', gemini({ thinkingBudget: 0 }), OFF, null],
    ['gemini', gemini({ thinkingBudget: 4_000, includeThoughts: true }), withBudget(4_000), null],
    ['responses', { reasoning: { effort: 'none' } }, OFF, null],
    ['responses', { reasoning: { effort: 'low' } }, withBudget(1_024), null],
    ['gemini', gemini({ thinkingBudget: -1 }), withBudget(32_768), null],
    ['responses', {}, {}, null],
  ])('is controlled by %s with %j', async (format, members, expected, lost) => {
    await addChannel(DASH_SCOPE)
    const { sent, losses } = await send(format, 'qwen-plus', members)
    expect([sent, losses]).toEqual([expected, lost])
    const held = await heldTokens()
    if (expected === OFF) expect(held).toBeLessThan(MOST)
    else if ('enable_thinking' in expected) expect(held).toBeGreaterThanOrEqual(MOST)
  })

  it.each<[Format, object]>([
    ['messages', { thinking: { type: 'enabled', budget_tokens: 15_000 } }],
    ['gemini', gemini({ thinkingBudget: 15_000 })],
    ['responses', { max_output_tokens: 20_000, reasoning: { effort: 'high' } }],
  ])('of %s fits, with the answer, into what a low quota covers', async (format, members) => {
    await addChannel(DASH_SCOPE)
    const funds = 40_000
    await rig.setBudget(USER, TOKEN, BigInt(funds))
    const { sent, losses } = await send(format, 'qwen-plus', members)
    const { max_tokens } = JSON.parse(provider.requests[0]?.body ?? '{}')
    const { enable_thinking, thinking_budget } = sent
    expect(enable_thinking).toBe(true)
    expect(Math.min(max_tokens, thinking_budget)).toBeGreaterThan(1_000)
    expect((max_tokens + thinking_budget) * OUTPUT_PRICE).toBeLessThanOrEqual(funds)
    expect(losses).toContain('thinking_budget')
  })

  it('is turned off, and named as lost, in a plain answer of DashScope', async () => {
    await addChannel(DASH_SCOPE)
    const thinking = { type: 'enabled', budget_tokens: 4_000 }
    const { sent, losses } = await send('messages', 'qwen-plus', { thinking }, false)
    expect([sent, losses]).toEqual([OFF, 'thinking'])
    // The hold need not cover thinking that can't happen.
    expect(await heldTokens()).toBeLessThan(MOST)
  })

  it('is turned off in a plain answer of DashScope that says nothing about it', async () => {
    await addChannel(DASH_SCOPE)
    const { sent, losses } = await send('messages', 'qwen-plus', {}, false)
    expect([sent, losses]).toEqual([OFF, null])
  })

  it('is controlled at SiliconFlow, but not for a model that refuses it', async () => {
    await addChannel(SILICON_FLOW)
    const thinking = { type: 'enabled', budget_tokens: 4_000 }
    const able = await send('messages', 'Qwen/Qwen3-8B', { thinking })
    expect([able.sent, able.losses]).toEqual([withBudget(4_000), null])
    provider.requests.length = 0
    const unable = await send('messages', 'Qwen/Qwen2.5-7B-Instruct', { thinking })
    expect([unable.sent, unable.losses]).toEqual([{}, 'thinking'])
  })
})
