import { describe, expect, it } from 'vitest'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { OPEN_ROUTER, OPENAI } from '#relay/conversion/openai-chat/chat-extensions-of-provider.ts'
import { readRequest } from '#relay/conversion/openai-chat/read-request.ts'
import { writeRequest } from '#relay/conversion/openai-chat/write-request.ts'

const EPHEMERAL = { type: 'ephemeral' }
const CLAUDE = 'anthropic-claude-v1'

/** A turn of a coding agent at OpenRouter: cache marks, parallel calls, results, thinking. */
const AGENT_TURN: JsonObject = {
  model: 'anthropic/claude-sonnet-4.5',
  messages: [
    {
      role: 'system',
      content: [
        { type: 'text', text: 'You are an agent.' },
        {
          type: 'text',
          text: 'Answer in JSON when asked.',
          cache_control: { ...EPHEMERAL, ttl: '1h' },
        },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is in this picture?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0K', detail: 'high' } },
        {
          type: 'file',
          file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0x' },
        },
        { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
      ],
    },
    {
      role: 'assistant',
      content: 'I look at both files.',
      reasoning_details: [
        { type: 'reasoning.text', text: 'Two files.', signature: 'c2ln', format: CLAUDE, index: 0 },
        { type: 'reasoning.encrypted', data: 'b3BhcXVl', format: CLAUDE, index: 1 },
      ],
      tool_calls: [
        {
          id: 'toolu_1',
          type: 'function',
          function: { name: 'read_file', arguments: '{"path":"a.ts"}' },
        },
        {
          id: 'toolu_2',
          type: 'function',
          function: { name: 'read_file', arguments: '{"path":"b.ts"}' },
          extra_content: { google: { thought_signature: 'dGhvdWdodA==' } },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'toolu_1', content: 'export const a = 1' },
    {
      role: 'tool',
      tool_call_id: 'toolu_2',
      content: [
        { type: 'text', text: 'a picture:' },
        {
          type: 'image_url',
          image_url: { url: 'https://example.org/b.png' },
          cache_control: EPHEMERAL,
        },
      ],
    },
    { role: 'system', content: 'Be brief from now on.' },
    { role: 'user', content: 'Go on.' },
  ],
  stream: true,
  stream_options: { include_usage: true },
  max_tokens: 4096,
  temperature: 0.2,
  top_k: 20,
  stop: ['<end>'],
  tools: [
    {
      type: 'function',
      function: {
        name: 'read_file',
        description: 'Reads a file.',
        parameters: {
          type: 'object',
          properties: { path: { type: 'string' } },
          required: ['path'],
          additionalProperties: false,
        },
        strict: true,
      },
      cache_control: EPHEMERAL,
    },
  ],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  reasoning: { max_tokens: 2000 },
  response_format: {
    type: 'json_schema',
    json_schema: { name: 'answer', schema: { type: 'object' }, strict: false },
  },
  logprobs: true,
  top_logprobs: 2,
  user: 'user-1',
  prompt_cache_key: 'session-1',
}

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
