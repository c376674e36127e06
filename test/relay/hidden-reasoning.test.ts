import { describe, expect, it } from 'vitest'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { ANTHROPIC_MESSAGES } from '#relay/dialects/anthropic-messages/messages-request.ts'
import { OPENAI_CHAT } from '#relay/dialects/openai-chat/chat-request.ts'
import { OPENAI_RESPONSES } from '#relay/dialects/openai-responses/responses-request.ts'
import type { WireFormat } from '#relay/dialects/wire-format.ts'
import { mayHideReasoning } from '#relay/pipeline/hidden-reasoning.ts'

const messages = [{ role: 'user', content: 'hello' }]
const CHAT = [OPENAI_CHAT, { messages }] as const
const MESSAGES = [ANTHROPIC_MESSAGES, { messages, max_tokens: 100 }] as const
const RESPONSES = [OPENAI_RESPONSES, { input: 'hello' }] as const

function mayHide([format, body]: readonly [WireFormat, object], model: string, members: object) {
  const bytes = Buffer.from(JSON.stringify({ model, ...body, ...members }))
  const request = format.readRequest(bytes, null)
  if (isRelayError(request)) throw new Error(JSON.stringify(request))
  return mayHideReasoning({ request, upstreamModel: null })
}

describe('reasoning may be hidden', () => {
  it.each([
    ['by a model that reasons unless told otherwise', CHAT, 'o3', {}],
    ['by gpt-5', CHAT, 'openai/gpt-5-mini', {}],
    ['by a model that was asked to', CHAT, 'gpt-5.4', { reasoning_effort: 'high' }],
    ['by a model that always reasons', RESPONSES, 'gpt-5.1-codex-max', {}],
    ['by Gemini 2.5', CHAT, 'gemini-2.5-flash', {}],
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
  ] as const)('not %s', (_, request, model, members) => {
    expect(mayHide(request, model, members)).toBe(false)
  })
})
