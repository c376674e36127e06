import { describe, expect, it } from 'vitest'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { ANTHROPIC_MESSAGES } from '#relay/dialects/anthropic-messages/messages-format.ts'
import { GEMINI } from '#relay/dialects/gemini/generate-content-format.ts'
import { OPENAI_CHAT } from '#relay/dialects/openai-chat/chat-format.ts'
import { OPENAI_RESPONSES } from '#relay/dialects/openai-responses/responses-format.ts'
import type { WireFormat } from '#relay/dialects/wire-format.ts'
import { mayHideReasoning } from '#relay/pipeline/must-read-usage-after-disconnect.ts'

const messages = [{ role: 'user', content: 'hello' }]
const CHAT = [OPENAI_CHAT, { messages }] as const
const MESSAGES = [ANTHROPIC_MESSAGES, { messages, max_tokens: 100 }] as const
const RESPONSES = [OPENAI_RESPONSES, { input: 'hello' }] as const
const NATIVE = [GEMINI, { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] }] as const
const thinkingBudget = (tokens: number) => ({
  generationConfig: { thinkingConfig: { thinkingBudget: tokens } },
})
const extraBody = (config: object, others: object = {}) => ({
  extra_body: { google: { thinking_config: config, ...others } },
})
const LITE = 'gemini-2.5-flash-lite'

function mayHide(
  [format, body]: readonly [WireFormat, object],
  model: string,
  members: object,
  upstreamModel: string | null = null,
) {
  const bytes = Buffer.from(JSON.stringify({ model, ...body, ...members }))
  const request = format.readRequest(bytes, { model, isStream: true })
  if (isRelayError(request)) throw new Error(JSON.stringify(request))
  return mayHideReasoning({ request, upstreamModel })
}

describe('reasoning may be hidden', () => {
  it.each([
    ['by a model that reasons unless told otherwise', CHAT, 'o3', {}],
    ['by gpt-5', CHAT, 'openai/gpt-5-mini', {}],
    ['by a model that was asked to', CHAT, 'gpt-5.4', { reasoning_effort: 'high' }],
    ['by a model that always reasons', RESPONSES, 'gpt-5.1-codex-max', {}],
    ['by Gemini 2.5', CHAT, 'gemini-2.5-flash', {}],
    ['by Gemini with a budget', NATIVE, 'gemini-2.5-flash-lite', thinkingBudget(512)],
    ['by Gemini with a budget in a chat', CHAT, LITE, extraBody({ thinking_budget: 512 })],
    ['by Gemini with two', CHAT, LITE, extraBody({ thinking_budget: 0 }, { thinkingConfig: {} })],
    [
      'by Gemini with another control than a budget of 0',
      CHAT,
      LITE,
      { ...extraBody({ thinking_budget: 0 }), reasoning_effort: 'low' },
    ],
    ['by a tuned model', CHAT, 'ft:o4-mini:site::1', {}],
    ['by Claude with a budget', MESSAGES, 'claude-opus-4-5', { thinking: { type: 'adaptive' } }],
    ['by a model of a Responses request', RESPONSES, 'gpt-5.2', { reasoning: { effort: 'low' } }],
  ] as const)('%s', (_, request, model, members) => {
    expect(mayHide(request, model, members)).toBe(true)
  })

  it.each([
    ['by a model that does not reason', CHAT, 'gpt-4.1', {}],
    ['by a model that shows its reasoning', CHAT, 'deepseek-r1', {}],
    ['without effort', RESPONSES, 'gpt-5', { reasoning: { effort: 'none' } }],
    ['by a model that was not asked to', CHAT, 'gpt-5.4', {}],
    ['by Claude without thinking', MESSAGES, 'claude-opus-4-5', { thinking: { type: 'disabled' } }],
    ['by Gemini 2.0', CHAT, 'gemini-2.0-flash', {}],
    ['by Gemini with a budget of 0', NATIVE, 'gemini-2.5-flash', thinkingBudget(0)],
    ['by a model of Gemini that was not asked to', NATIVE, 'gemini-2.5-flash-lite', {}],
    ['by Gemini with a budget of 0 in a chat', CHAT, LITE, extraBody({ thinking_budget: 0 })],
    ['by Gemini without a control in a chat', CHAT, LITE, { extra_body: {} }],
  ] as const)('not %s', (_, request, model, members) => {
    expect(mayHide(request, model, members)).toBe(false)
  })

  it('by a deployment whose name does not name the model', () => {
    expect(mayHide(CHAT, 'gpt-5', {}, 'prod-reasoner')).toBe(true)
    expect(mayHide(CHAT, 'my-model', {}, 'o3')).toBe(true)
  })
})
