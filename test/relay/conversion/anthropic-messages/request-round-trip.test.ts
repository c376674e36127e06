import { describe, expect, it } from 'vitest'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { readRequest } from '#relay/conversion/anthropic-messages/read-request.ts'
import { writeRequest } from '#relay/conversion/anthropic-messages/write-request.ts'

/** A turn of a coding agent: cached instructions, parallel calls, an image as result, thinking. */
const AGENT_TURN: JsonObject = {
  model: 'claude-sonnet-4-5-20250929',
  max_tokens: 32_000,
  system: [
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1' },
    {
      type: 'text',
      text: 'You are a coding agent.',
      cache_control: { type: 'ephemeral', ttl: '1h' },
    },
  ],
  messages: [
    { role: 'user', content: 'Show me the logo and the readme.' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'I need two files.', signature: 'EqQBsigned' },
        { type: 'redacted_thinking', data: 'EmwKencrypted' },
        { type: 'text', text: 'Reading both.' },
        { type: 'tool_use', id: 'toolu_01A', name: 'read', input: { path: 'logo.png' } },
        { type: 'tool_use', id: 'toolu_01B', name: 'read', input: { path: 'README.md' } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_01A',
          content: [
            { type: 'text', text: 'logo.png, 16 × 16' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0' } },
          ],
        },
        {
          type: 'tool_result',
          tool_use_id: 'toolu_01B',
          content: 'No such file.',
          is_error: true,
        },
        {
          type: 'text',
          text: '<system-reminder>Be brief.</system-reminder>',
          cache_control: { type: 'ephemeral' },
        },
      ],
    },
  ],
  tools: [
    {
      name: 'read',
      description: 'Reads a file.',
      input_schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { path: { type: 'string', minLength: 1 } },
        required: ['path'],
        additionalProperties: false,
      },
      cache_control: { type: 'ephemeral' },
    },
  ],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  thinking: { type: 'enabled', budget_tokens: 31_999 },
  metadata: { user_id: 'user_abc_session_1' },
  stream: true,
}

const DEFAULT_LIMIT = 8192

function roundTrip(body: JsonObject) {
  const { value: request, losses } = readRequest(body)
  const written = writeRequest(request, { default: DEFAULT_LIMIT, max: null })
  return { body: written.value, losses: [...losses, ...written.losses] }
}

const user = (content: unknown) => ({ role: 'user', content })
const minimal = { model: 'claude-sonnet-4-5', max_tokens: 2048, messages: [user('hi')] }

describe('a request that is read and written again', () => {
  it('is the same for a turn of an agent', () => {
    expect(roundTrip(AGENT_TURN)).toEqual({ body: AGENT_TURN, losses: [] })
  })

  it.each<[string, JsonObject]>([
    ['a minimal request', {}],
    ['a system text', { system: 'Be brief.' }],
    ['a stream', { stream: true }],
    ['an end user', { metadata: { user_id: 'u-1' } }],
    ['stop sequences', { stop_sequences: ['END', '\n\nHuman:'] }],
    ['a temperature', { temperature: 0.3 }],
    ['other sampling parameters', { top_p: 0.9, top_k: 40 }],
    ['a limit of 0, which only fills the cache', { max_tokens: 0 }],
    ['a budget of thinking', { thinking: { type: 'enabled', budget_tokens: 1500 } }],
    ['no thinking', { thinking: { type: 'disabled' } }],
    [
      'adaptive thinking',
      { model: 'claude-opus-4-8', thinking: { type: 'adaptive' }, max_tokens: 100 },
    ],
    [
      'an effort',
      {
        model: 'claude-opus-5',
        thinking: { type: 'adaptive' },
        output_config: { effort: 'xhigh' },
      },
    ],
    [
      'a schema for the answer',
      {
        output_config: {
          format: {
            type: 'json_schema',
            schema: {
              type: 'object',
              properties: { __proto__x: { type: 'string', format: 'date' } },
              required: ['__proto__x'],
              additionalProperties: false,
            },
          },
        },
      },
    ],
    [
      'a system message within the conversation',
      {
        model: 'claude-opus-4-8',
        messages: [user('a'), { role: 'system', content: 'Now in French.' }],
      },
    ],
    [
      'images and documents',
      {
        messages: [
          user([
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
            { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
            { type: 'image', source: { type: 'file', file_id: 'file_1' } },
            {
              type: 'document',
              source: { type: 'base64', media_type: 'application/pdf', data: 'aGk=' },
              title: 'A',
              cache_control: { type: 'ephemeral', ttl: '1h' },
            },
            { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
            { type: 'document', source: { type: 'file', file_id: 'file_2' } },
            {
              type: 'document',
              source: { type: 'text', media_type: 'text/plain', data: 'plain' },
            },
          ]),
        ],
      },
    ],
  ])('is the same for %s', (_, members) => {
    const body = { ...minimal, ...members }
    expect(roundTrip(body)).toEqual({ body, losses: [] })
  })

  it.each([
    { type: 'auto', disable_parallel_tool_use: true },
    { type: 'any' },
    { type: 'any', disable_parallel_tool_use: true },
    { type: 'tool', name: 'look_up' },
    { type: 'none' },
  ])('keeps the choice of tools $type', (choice) => {
    const tools = [{ name: 'look_up', input_schema: { type: 'object' } }]
    const body = { ...minimal, tools, tool_choice: choice }
    expect(roundTrip(body)).toEqual({ body, losses: [] })
  })

  it('has the same meaning after other ways of writing the same', () => {
    const text = { type: 'text', text: 'hi' }
    const older = { type: 'json_schema', schema: { type: 'string' } }
    const body = {
      ...minimal,
      messages: [user([text]), user('again')],
      output_format: older,
      tools: [],
      system: [],
      thinking: null,
    }
    expect(roundTrip(body)).toEqual({
      body: {
        ...minimal,
        messages: [user([text, { type: 'text', text: 'again' }])],
        output_config: { format: older },
      },
      losses: [],
    })
  })

  it('keeps members of tool inputs and schemas that are called like parts of JavaScript', () => {
    const input = JSON.parse('{"__proto__":{"a":1},"constructor":2}') as JsonObject
    const call = { type: 'tool_use', id: 'toolu_1', name: 'constructor', input }
    const body = {
      ...minimal,
      tools: [
        {
          name: 'constructor',
          strict: true,
          input_schema: {
            type: 'object',
            properties: JSON.parse('{"__proto__":{"type":"string"}}') as JsonObject,
            additionalProperties: false,
          },
        },
      ],
      messages: [
        user('hi'),
        { role: 'assistant', content: [call] },
        user([{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' }]),
      ],
    }
    const { body: written, losses } = roundTrip(body)
    expect(JSON.parse(JSON.stringify(written))).toEqual(body)
    expect(JSON.stringify(written)).toContain('{"__proto__":{"a":1},"constructor":2}')
    expect(JSON.stringify(written)).toContain('{"__proto__":{"type":"string"}}')
    expect(losses).toEqual([])
  })
})
