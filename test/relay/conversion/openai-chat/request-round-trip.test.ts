import { describe, expect, it } from 'vitest'
import type { JsonObject } from '#relay/conversion/canonical-request.ts'
import { OPEN_ROUTER, OPENAI } from '#relay/conversion/openai-chat/chat-extensions-of-provider.ts'
import { readRequest } from '#relay/conversion/openai-chat/read-request.ts'
import { writeRequest } from '#relay/conversion/openai-chat/write-request.ts'
import { AGENT_TURN } from './agent-turn.ts'

function roundTrip(body: JsonObject, vendor = OPEN_ROUTER): JsonObject {
  const { value, losses } = readRequest(body)
  expect(losses).toEqual([])
  const written = writeRequest(value, vendor)
  expect(written.losses).toEqual([])
  return written.value
}

describe('a chat request that is read and written again', () => {
  it('is the same for an agent’s turn at OpenRouter', () => {
    expect(roundTrip(AGENT_TURN)).toEqual(AGENT_TURN)
  })

  it('is the same for a request in OpenAI’s own form', () => {
    const body = {
      model: 'gpt-5.1',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: null, refusal: 'No.' },
        { role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] },
      ],
      max_completion_tokens: 9,
      n: 2,
      top_p: 0.5,
      seed: 3,
      presence_penalty: 0.5,
      frequency_penalty: 1,
      reasoning_effort: 'none',
      logprobs: true,
      user: 'u',
      prompt_cache_key: 'k',
    }
    expect(roundTrip(body, OPENAI)).toEqual(body)
  })

  it('returns every element of reasoning_details to its provider', () => {
    const details = [
      {
        type: 'reasoning.summary',
        summary: 'In short.',
        id: 'rs_1',
        format: 'openai-responses-v1',
      },
      { type: 'reasoning.encrypted', data: 'b3A=', id: 'rs_1', format: 'openai-responses-v1' },
      { type: 'reasoning.text', text: 'x', signature: 's', id: 't', format: 'google-gemini-v1' },
      { type: 'reasoning.text', text: 'unsigned' },
    ].map((detail, index) => ({ ...detail, index }))
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'hi', reasoning_details: details },
      { role: 'user', content: 'next' },
    ]
    expect(roundTrip({ model: 'm', messages }).messages).toEqual(messages)
  })

  it('has tools instead of functions', () => {
    const { value } = readRequest({
      model: 'm',
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: 'done' },
      ],
      functions: [{ name: 'f', parameters: {} }],
    })
    expect(writeRequest(value).value).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'function_1' }] },
        { role: 'tool', tool_call_id: 'function_1', content: 'done' },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: {} } }],
      parallel_tool_calls: false,
    })
  })
})
