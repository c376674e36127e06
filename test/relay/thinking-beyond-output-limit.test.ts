import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { OPENAI_CHAT } from '#relay/dialects/openai-chat/chat-format.ts'
import { fitThinkingBudgetAndLimit } from '#relay/pipeline/thinking-beyond-output-limit.ts'
import { profileOf } from '#relay/providers/profiles/profiles-by-channel-type.ts'
import type { RelayChannel } from '#relay/views/channel-view.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, relayRig, TOKEN, USER } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MODELS = [
  ...['qwen-plus', 'qwen3-32b', 'qwq-plus', 'qwen3-coder-plus', 'deepseek-r1'],
  ...['gpt-oss-120b', 'glm-z1-9b', 'minimax-m1'],
]
const PATH = 'POST /compatible-mode/v1/chat/completions'
const DASH_SCOPE = 17
const SILICON_FLOW = 40
const OPENAI = 1
const OUTPUT_PRICE = 4
/** The most thinking of any model of DashScope. */
const MOST = 81_920
/** More than the input and rounding can cost. */
const INPUT_MOST = 5_000
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', Object.fromEntries(MODELS.map((model) => [model, 1])))
  const ratios = Object.fromEntries(MODELS.map((model) => [model, OUTPUT_PRICE]))
  await rig.setOption('CompletionRatio', ratios)
  await rig.setOption('MaxOutputTokens', {})
})

const addChannel = (type: number, more: object = {}) =>
  rig.addChannel(2, { type, baseUrl: provider.url, models: MODELS, ...more })

function answer(completion: number, reasoning: number): void {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'yes' } }]
  const usage = {
    ...{ prompt_tokens: 10, completion_tokens: completion },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
  const body = { id: 'c', object: 'chat.completion', model: 'm', choices, usage }
  provider.answers.set('*', { body })
}

async function send(members: object, path = '/v1/chat/completions') {
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], ...members }),
  })
  const text = await response.text()
  const sent = JSON.parse(provider.requests[0]?.body ?? '{}')
  return { status: response.status, text, sent }
}

/** The output tokens that the hold of the only call covers, and somewhat more. */
async function heldTokens(): Promise<number> {
  const [admitted] = await rig.callEvents()
  if (admitted?.type !== 'CallAdmitted') throw new Error('not admitted')
  return admitted.data.hold / OUTPUT_PRICE
}

async function expectHeld(tokens: number): Promise<void> {
  const held = await heldTokens()
  expect(held).toBeGreaterThanOrEqual(tokens)
  expect(held).toBeLessThan(tokens + INPUT_MOST)
}

describe('the hold of a call whose thinking does not count towards its limit', () => {
  beforeEach(() => answer(5, 0))

  it.each<[string, object, number]>([
    ['the budget that it asks for', { enable_thinking: true, thinking_budget: 8_000 }, 8_000],
    ['a budget alone', { thinking_budget: 8_000 }, 8_000],
    ['no more than any model thinks', { thinking_budget: 900_000 }, MOST],
    ['the most of any model without a budget', { enable_thinking: true }, MOST],
    ['nothing if it does not ask to think', {}, 0],
    ['nothing if it turns thinking off', { enable_thinking: false, thinking_budget: 8_000 }, 0],
    ['the most for a model that thinks by itself', { model: 'qwen3-32b' }, MOST],
    ['nothing for it if it turns that off', { model: 'qwen3-32b', enable_thinking: false }, 0],
    [
      'the most for a model that always thinks',
      { model: 'qwq-plus', enable_thinking: false },
      MOST,
    ],
    ['the most for a model without budgets', { model: 'deepseek-r1', thinking_budget: 9 }, MOST],
    [
      'the most if another member contradicts the one that the provider reads',
      { enable_thinking: true, thinking: { type: 'disabled' } },
      MOST,
    ],
    [
      'the most if only a member that the provider does not read turns thinking off',
      { model: 'qwen3-32b', thinking: { type: 'disabled' } },
      MOST,
    ],
    [
      'the most if a template asks to think',
      { enable_thinking: false, chat_template_kwargs: { enable_thinking: true } },
      MOST,
    ],
    ['the most with a budget of 0', { model: 'qwq-plus', thinking_budget: 0 }, MOST],
    ...['gpt-oss-120b', 'glm-z1-9b', 'minimax-m1'].map((model): [string, object, number] => [
      `the most for ${model}, which can't stop thinking`,
      { model, enable_thinking: false },
      MOST,
    ]),
    ['each choice', { n: 2, thinking_budget: 8_000 }, 16_100],
  ])('covers %s', async (_name, members, tokens) => {
    await addChannel(DASH_SCOPE)
    expect((await send({ model: 'qwen-plus', max_tokens: 100, ...members })).status).toBe(200)
    await expectHeld(100 + tokens)
  })

  it('covers no more if thinking counts towards the limit', async () => {
    await addChannel(OPENAI)
    const members = { enable_thinking: true, thinking_budget: 8_000 }
    await send({ model: 'qwen-plus', max_tokens: 100, ...members })
    await expectHeld(100)
  })

  it('covers the budget of an override', async () => {
    const paramOverride = JSON.stringify({ thinking_budget: 6_000, enable_thinking: true })
    await addChannel(DASH_SCOPE, { paramOverride })
    await send({ model: 'qwen-plus', max_tokens: 100 })
    await expectHeld(6_100)
  })

  it.each(['/v1/messages', '/v1/responses'])('covers what is converted from %s', async (path) => {
    await addChannel(DASH_SCOPE)
    const limit = { max_tokens: 100, max_output_tokens: 100 }
    const { status } = await send({ model: 'qwq-plus', input: 'Hi', ...limit }, path)
    expect(status).toBe(200)
    expect(await heldTokens()).toBeGreaterThanOrEqual(100 + MOST)
  })

  it('covers thinking also if the tokens of the text are counted', async () => {
    await addChannel(DASH_SCOPE)
    const content = 'A long text. '.repeat(1_000)
    await rig.setBudget(USER, TOKEN, 60_000n)
    const messages = [{ role: 'user', content }]
    const members = { max_tokens: 100, enable_thinking: true, thinking_budget: 8_000 }
    expect((await send({ model: 'qwen-plus', messages, ...members })).status).toBe(200)
    expect(await heldTokens()).toBeGreaterThanOrEqual(8_100)
  })
})

describe('a call that can not pay for all of its thinking', () => {
  const FUNDS = 40_000

  beforeEach(async () => {
    await addChannel(DASH_SCOPE)
    await rig.setBudget(USER, TOKEN, BigInt(FUNDS))
    answer(5, 0)
  })

  it.each([
    ['asks to think', { model: 'qwen-plus', enable_thinking: true }],
    ['has a budget', { model: 'qwen-plus', thinking_budget: 30_000, max_tokens: 1_000 }],
    ['has a model that thinks', { model: 'qwq-plus', max_tokens: 50_000 }],
  ])('sends an answer and a budget that it can pay if it %s', async (_name, members) => {
    const { status, sent } = await send(members)
    expect(status).toBe(200)
    const { max_tokens, thinking_budget } = sent
    expect(thinking_budget).toBeGreaterThan(100)
    expect(max_tokens).toBeGreaterThan(100)
    expect((max_tokens + thinking_budget) * OUTPUT_PRICE).toBeLessThanOrEqual(FUNDS)
    const [admitted] = await rig.callEvents()
    const limit = admitted?.type === 'CallAdmitted' ? admitted.data.outputLimit : undefined
    expect(max_tokens + thinking_budget).toBeLessThanOrEqual(limit ?? 0)
    expect((await onlyEnd(rig)).data).toMatchObject({ losses: ['thinking_budget'] })
  })

  it('is refused if the model has no budget', async () => {
    expect((await send({ model: 'deepseek-r1', max_tokens: 100 })).status).toBe(402)
  })

  it('gets no budget if the model does not think', async () => {
    const { status, sent } = await send({ model: 'qwen3-coder-plus', max_tokens: 20_000 })
    expect(status).toBe(200)
    expect(sent).not.toHaveProperty('thinking_budget')
    expect(sent.max_tokens).toBeLessThan(20_000)
  })
})

describe('the budget at a provider with a smallest budget', () => {
  const channel = { target: { profile: profileOf(SILICON_FLOW) } } as RelayChannel
  const budgetFor = (covered: number, members: object = {}) => {
    const messages = [{ role: 'user', content: 'Hi' }]
    const body = { model: 'qwq-plus', messages, max_tokens: 50_000, ...members }
    const request = OPENAI_CHAT.readRequest(Buffer.from(JSON.stringify(body)), null)
    if (isRelayError(request)) throw new Error(request.code)
    const limit = { covered, outputTokens: covered }
    const fitted = fitThinkingBudgetAndLimit(channel, request, 'qwq-plus', new Map(), limit)
    if (isRelayError(fitted)) return fitted.code
    return [fitted.outputTokens, Number(fitted.overrides.get('thinking_budget'))]
  }

  it.each<[string, unknown, number, object?]>([
    ['is half of what is covered', [500, 500], 1_000],
    ['is not below the smallest one', [72, 128], 200],
    ['is the caller’s own, smaller budget', [190, 10], 200, { thinking_budget: 10 }],
    ['is not left out if nothing else can be paid', 'insufficient_quota', 128],
  ])('%s', (_name, expected, covered, members) => {
    expect(budgetFor(covered, members)).toEqual(expected)
  })
})

it('a stream is not cut because it thinks for longer than its limit', async () => {
  await addChannel(DASH_SCOPE)
  const event = (delta: object, more: object = {}) =>
    Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta }], ...more })}\n\n`)
  const thought = event({ reasoning_content: 'think '.repeat(200) })
  const usage = { prompt_tokens: 10, completion_tokens: 6_005 }
  const pieces = [
    ...Array.from({ length: 30 }, () => thought),
    event({ content: 'yes' }),
    Buffer.from(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`),
  ]
  provider.answers.set(PATH, { headers: { 'content-type': 'text/event-stream' }, pieces })
  const { text } = await send({ model: 'qwq-plus', max_tokens: 10, stream: true })
  expect(text).toContain('[DONE]')
  expect((await onlyEnd(rig)).data).toMatchObject({ end: 'done', usage: { output: 6_005 } })
})
