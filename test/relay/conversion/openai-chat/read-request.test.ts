import { describe, expect, it } from 'vitest'
import { ConversionError } from '#relay/canonical/canonical-request.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { readAnswerSettings, readRequest } from '#relay/conversion/openai-chat/read-request.ts'

const HI = [{ role: 'user', content: 'hi' }]
const read = (body: JsonObject) => readRequest({ model: 'm', messages: HI, ...body })
const messagesOf = (...messages: unknown[]) => read({ messages }).value.messages
const paramOf = (body: JsonObject): string => {
  try {
    read(body)
  } catch (error) {
    if (error instanceof ConversionError) return error.param
    throw error
  }
  return 'no error'
}

describe('reading a chat request', () => {
  it('reads the smallest request', () => {
    expect(readRequest({ model: 'm', messages: HI })).toEqual({
      losses: [],
      value: {
        model: 'm',
        isStream: false,
        system: [],
        messages: [{ role: 'user', parts: [{ kind: 'text', text: 'hi' }] }],
        tools: [],
        toolChoice: null,
        allowsParallelCalls: null,
        outputTokensMax: null,
        sampling: {
          choices: null,
          temperature: null,
          topP: null,
          topK: null,
          seed: null,
          presencePenalty: null,
          frequencyPenalty: null,
          stop: [],
        },
        thinking: null,
        answerFormat: null,
        logprobs: null,
        endUser: null,
        promptCacheKey: null,
      },
    })
  })

  it('reads settings, and names those that it can’t express', () => {
    const { value, losses } = read({
      stream: true,
      stream_options: { include_usage: true, include_obfuscation: false },
      max_completion_tokens: 100,
      max_tokens: 50,
      n: 2,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      seed: 7,
      presence_penalty: 0.1,
      frequency_penalty: -0.1,
      stop: 'END',
      logprobs: true,
      top_logprobs: 3,
      user: 'u',
      prompt_cache_key: 'k',
      logit_bias: { 50256: -100 },
      store: true,
      metadata: null,
      service_tier: 'flex',
      modalities: ['text', 'audio'],
    })
    expect(value).toMatchObject({
      isStream: true,
      outputTokensMax: 100,
      logprobs: 3,
      endUser: 'u',
      promptCacheKey: 'k',
      sampling: { choices: 2, temperature: 0.5, topP: 0.9, topK: 40, seed: 7, stop: ['END'] },
    })
    expect(losses).toEqual([
      'logit_bias',
      'store',
      'service_tier',
      'stream_options.include_obfuscation',
      'modalities',
      'max_tokens',
    ])
  })

  it('collects the instructions before the conversation, and leaves later ones in place', () => {
    const { value } = read({
      messages: [
        { role: 'system', content: 'A' },
        { role: 'developer', content: [{ type: 'text', text: 'B' }] },
        { role: 'user', content: 'hi' },
        { role: 'system', content: 'C' },
      ],
    })
    expect(value.system.map((part) => 'text' in part && part.text)).toEqual(['A', 'B'])
    expect(value.messages.map(({ role }) => role)).toEqual(['user', 'system'])
  })

  it('reads every kind of content', () => {
    const [message] = messagesOf({
      role: 'user',
      content: [
        { type: 'text', text: 'look', cache_control: { type: 'ephemeral', ttl: '1h' } },
        { type: 'text', text: '' },
        { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,QUJD', detail: 'low' } },
        { type: 'image_url', image_url: { url: 'https://a.b/c.png' } },
        { type: 'input_audio', input_audio: { data: 'QUJD', format: 'mp3' } },
        {
          type: 'file',
          file: { file_data: 'data:application/pdf;base64,QUJD', filename: 'a.pdf' },
        },
        { type: 'file', file: { file_id: 'file-1' } },
        { type: 'file', file: { file_data: 'https://a.b/c.pdf' } },
      ],
    })
    expect(message?.parts).toEqual([
      { kind: 'text', text: 'look', cache: '1h' },
      {
        kind: 'image',
        source: { kind: 'base64', mediaType: 'image/jpeg', data: 'QUJD' },
        detail: 'low',
      },
      { kind: 'image', source: { kind: 'url', url: 'https://a.b/c.png' } },
      { kind: 'audio', mediaType: 'audio/mpeg', data: 'QUJD' },
      {
        kind: 'document',
        source: { kind: 'base64', mediaType: 'application/pdf', data: 'QUJD' },
        name: 'a.pdf',
      },
      { kind: 'document', source: { kind: 'file-id', id: 'file-1' } },
      { kind: 'document', source: { kind: 'url', url: 'https://a.b/c.pdf' } },
    ])
  })

  it('reports parts, tools and members that it does not know', () => {
    const { value, losses } = read({
      messages: [
        {
          role: 'user',
          name: 'ann',
          content: [
            { type: 'video_url', video_url: { url: 'https://a.b/c.mp4' } },
            { type: 'text', text: 'x', prompt_cache_breakpoint: { mode: 'explicit' } },
            { type: 'image_url', image_url: { url: 'https://a.b/c', detail: 'original' } },
            { type: 'text', text: 'y', cache_control: { type: 'ephemeral', ttl: '1d' } },
          ],
        },
      ],
      tools: [{ type: 'bash_20250124', name: 'bash' }, { type: 'web_search' }],
    })
    expect(losses).toEqual([
      'messages[0].name',
      'messages[0].content[0]',
      'messages[0].content[1].prompt_cache_breakpoint',
      'messages[0].content[2].image_url.detail',
      'messages[0].content[3].cache_control',
      'tools[0]',
      'tools[1]',
    ])
    expect(value.messages[0]?.parts).toHaveLength(3)
    expect(value.tools).toEqual([])
  })

  it('joins the results of parallel calls and knows the names of their tools', () => {
    const messages = messagesOf(
      { role: 'user', content: 'both' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
          { id: 'b', type: 'function', function: { name: 'g', arguments: '' } },
        ],
      },
      { role: 'tool', tool_call_id: 'b', content: 'B' },
      {
        role: 'tool',
        tool_call_id: 'a',
        content: [{ type: 'text', text: 'A', cache_control: { type: 'ephemeral' } }],
      },
      { role: 'user', content: 'next' },
    )
    expect(messages[1]?.parts).toEqual([
      { kind: 'tool-call', id: 'a', name: 'f', argumentsJson: '{"x":1}' },
      { kind: 'tool-call', id: 'b', name: 'g', argumentsJson: '{}' },
    ])
    expect(messages[2]).toEqual({
      role: 'user',
      parts: [
        {
          kind: 'tool-result',
          callId: 'b',
          name: 'g',
          parts: [{ kind: 'text', text: 'B' }],
          isError: false,
        },
        {
          kind: 'tool-result',
          callId: 'a',
          name: 'f',
          parts: [{ kind: 'text', text: 'A' }],
          isError: false,
          cache: '5m',
        },
      ],
    })
    expect(messages[3]?.role).toBe('user')
  })

  it('reads the older form of functions with made-up ids', () => {
    const body = {
      functions: [{ name: 'f', parameters: { type: 'object' } }],
      function_call: { name: 'f' },
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: 'done' },
      ],
    }
    const { value, losses } = read(body)
    expect(losses).toEqual([])
    expect(value.tools).toMatchObject([{ name: 'f', schema: { type: 'object' } }])
    expect(value.toolChoice).toEqual({ kind: 'tool', name: 'f' })
    expect(value.allowsParallelCalls).toBe(false)
    expect(value.messages[1]?.parts).toMatchObject([{ kind: 'tool-call', id: 'function_1' }])
    expect(value.messages[2]?.parts).toMatchObject([{ callId: 'function_1', name: 'f' }])
    expect(readAnswerSettings(body)).toEqual({ hasStreamUsage: false, usesFunctionCall: true })
  })

  it('reads texts and images in the form of the Responses API', () => {
    const url = 'https://a.b/c.png'
    const [question, answer] = messagesOf(
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'look' },
          { type: 'input_image', image_url: url },
        ],
      },
      { role: 'assistant', content: [{ type: 'output_text', text: 'I see.' }] },
    )
    expect(question?.parts).toEqual([
      { kind: 'text', text: 'look' },
      { kind: 'image', source: { kind: 'url', url } },
    ])
    expect(answer?.parts).toEqual([{ kind: 'text', text: 'I see.' }])
  })

  it('reads functions in the form of the Responses API, which some clients mix in', () => {
    const parameters = { type: 'object', properties: { path: { type: 'string' } } }
    const { value, losses } = read({
      tools: [
        { type: 'function', name: 'read', description: 'Reads.', parameters, strict: true },
        { type: 'function', function: { name: 'write' } },
      ],
      tool_choice: { type: 'function', name: 'read' },
    })
    expect(losses).toEqual([])
    expect(value.tools).toMatchObject([
      { name: 'read', description: 'Reads.', schema: parameters, isStrict: true },
      { name: 'write' },
    ])
    expect(value.toolChoice).toEqual({ kind: 'tool', name: 'read' })
  })

  it('reads a custom tool as a function with one argument', () => {
    const grammar = { syntax: 'lark', definition: 'start: "x"' }
    const format = { type: 'grammar', grammar }
    const custom = { name: 'apply_patch', description: 'Edits files.', format }
    const extra_content = { google: { thought_signature: 's' } }
    const call = {
      ...{ id: 'c1', type: 'custom', custom: { name: 'apply_patch', input: 'x "y"' } },
      extra_content,
    }
    const body = {
      messages: [
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: 'Done.' },
      ],
      tools: [
        { type: 'custom', custom },
        { type: 'custom', name: 'flat', format: { type: 'grammar', ...grammar } },
      ],
      tool_choice: { type: 'custom', custom: { name: 'apply_patch' } },
    }
    const { value, losses } = read(body)
    expect(losses).toEqual(['tools[0].custom.format', 'tools[1].format'])
    expect(value.tools).toMatchObject([
      { name: 'apply_patch', description: 'Edits files.' },
      { name: 'flat', description: '' },
    ])
    for (const { schema } of value.tools) {
      expect(JSON.stringify(schema)).toContain('lark grammar:\\nstart: \\"x\\"')
    }
    expect(value.toolChoice).toEqual({ kind: 'tool', name: 'apply_patch' })
    expect(value.messages[0]?.parts).toMatchObject([
      { argumentsJson: '{"input":"x \\"y\\""}', signature: 's' },
    ])
    expect(value.messages[1]?.parts).toMatchObject([{ callId: 'c1', name: 'apply_patch' }])
    expect(readAnswerSettings(body).custom).toEqual(new Set(['apply_patch', 'flat']))
    const allowed = { mode: 'auto', tools: [{ type: 'custom', custom: { name: 'flat' } }] }
    const choice = { type: 'allowed_tools', allowed_tools: allowed }
    expect(read({ ...body, tool_choice: choice }).value.tools).toMatchObject([{ name: 'flat' }])
  })

  it('reads Anthropic’s form of a conversation, which Cursor sends in chats with Claude', () => {
    const input_schema = { type: 'object', properties: { path: { type: 'string' } } }
    const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' }
    const cache_control = { type: 'ephemeral' }
    const call = { type: 'tool_use', id: 't1', name: 'read', input: { path: '/' } }
    const results = [
      { type: 'tool_result', tool_use_id: 't1', content: 'R', is_error: true },
      { type: 'tool_result', tool_use_id: 't2', content: [{ type: 'image', source }] },
      { type: 'text', text: 'So?' },
    ]
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }
    const { value, losses } = read({
      system: [{ type: 'text', text: 'Be brief.', cache_control }],
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: [{ type: 'image', source }] },
        { role: 'assistant', content: [thinking, { type: 'text', text: 'I look.' }, call] },
        { role: 'user', content: results },
      ],
      tools: [
        { name: 'read', description: 'Reads.', input_schema, cache_control },
        { type: 'custom', name: 'write', input_schema },
      ],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    })
    expect(losses).toEqual([])
    const text = (of: string) => ({ kind: 'text', text: of })
    const image = {
      kind: 'image',
      source: { kind: 'base64', mediaType: 'image/png', data: source.data },
    }
    expect(value).toMatchObject({
      system: [{ ...text('Be brief.'), cache: '5m' }, text('Be kind.')],
      messages: [
        { role: 'user', parts: [image] },
        {
          role: 'assistant',
          parts: [
            { kind: 'thinking', text: 'Hm.', signature: 'c2ln' },
            text('I look.'),
            { kind: 'tool-call', id: 't1', name: 'read', argumentsJson: '{"path":"/"}' },
          ],
        },
        {
          role: 'user',
          parts: [
            { callId: 't1', name: 'read', parts: [text('R')], isError: true },
            { callId: 't2', name: '', parts: [image] },
            text('So?'),
          ],
        },
      ],
      tools: [
        { name: 'read', description: 'Reads.', schema: input_schema, cache: '5m' },
        { name: 'write', schema: input_schema },
      ],
      toolChoice: { kind: 'required' },
      allowsParallelCalls: false,
    })
  })

  it.each([
    ['auto', { kind: 'auto' }],
    ['none', { kind: 'none' }],
    ['tool', { kind: 'tool', name: 'f' }],
  ])('reads the choice of the type %s in Anthropic’s form', (type, toolChoice) => {
    const choice = type === 'tool' ? { type, name: 'f' } : { type }
    expect(read({ tool_choice: choice })).toMatchObject({ value: { toolChoice }, losses: [] })
  })

  it('reads a result in Anthropic’s form that is in a message of OpenAI’s form', () => {
    const content = [{ type: 'tool_result', tool_use_id: 'a', content: 'R' }]
    const [message] = messagesOf({ role: 'tool', tool_call_id: 'a', content })
    expect(message?.parts).toMatchObject([{ callId: 'a', parts: [{ kind: 'text', text: 'R' }] }])
  })

  it('wraps arguments that a model wrote as invalid JSON', () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":' } }
    const { value, losses } = read({ messages: [{ role: 'assistant', tool_calls: [call] }] })
    expect(value.messages[0]?.parts).toMatchObject([{ argumentsJson: '{"arguments":"{\\"x\\":"}' }])
    expect(losses).toEqual(['messages[0].tool_calls[0].function.arguments'])
  })

  it('keeps a tool that is called like a member of every object', () => {
    const call = { id: '__proto__', function: { name: 'constructor', arguments: '{}' } }
    const messages = messagesOf(
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: '__proto__', content: '' },
      { role: 'tool', tool_call_id: 'constructor', content: '' },
    )
    expect(messages[1]?.parts).toMatchObject([
      { callId: '__proto__', name: 'constructor', parts: [] },
      { callId: 'constructor', name: '' },
    ])
    expect(read(JSON.parse('{"__proto__":{"a":1}}')).losses).toEqual(['__proto__'])
  })

  it.each([
    [{ tool_choice: 'any' }, { kind: 'required' }],
    [{ tool_choice: 'none' }, { kind: 'none' }],
    [{ tool_choice: { type: 'function', function: { name: 'f' } } }, { kind: 'tool', name: 'f' }],
    [{ tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto' } } }, { kind: 'auto' }],
    [{ function_call: 'auto' }, { kind: 'auto' }],
  ])('reads the choice in %j', (body, choice) => {
    expect(read(body).value.toolChoice).toEqual(choice)
  })

  const TOOLS = ['a', 'b'].map((name) => ({ type: 'function', function: { name } }))
  const allowing = (mode: string, ...tools: unknown[]) => ({
    tools: TOOLS,
    tool_choice: { type: 'allowed_tools', allowed_tools: { mode, tools } },
  })
  const B = { type: 'function', function: { name: 'b' } }

  it.each([
    [allowing('required', B), ['b'], { kind: 'required' }],
    [allowing('auto', B, { type: 'function', function: { name: 'x' } }), ['b'], { kind: 'auto' }],
    [allowing('auto'), [], { kind: 'auto' }],
    [
      {
        tools: TOOLS,
        tool_choice: {
          ...{ type: 'allowed_tools', mode: 'auto' },
          tools: [{ type: 'function', name: 'b' }],
        },
      },
      ['b'],
      { kind: 'auto' },
    ],
  ])('leaves only the allowed tools of %j', (body, names, choice) => {
    const { value, losses } = read(body)
    expect(value.tools.map(({ name }) => name)).toEqual(names)
    expect(value.toolChoice).toEqual(choice)
    expect(losses).toEqual([])
  })

  it('refuses an unknown mode of the allowed tools, and equal names of tools', () => {
    expect(paramOf(allowing('bogus', B))).toBe('tool_choice.allowed_tools.mode')
    const custom = { type: 'custom', custom: { name: 'a' } }
    expect(paramOf({ tools: [...TOOLS, custom] })).toBe('tools[2]')
    const functions = TOOLS.map((tool) => tool.function)
    expect(paramOf({ functions: [...functions, ...functions] })).toBe('functions[2]')
    const { value, losses } = read({ tools: TOOLS, functions: [...functions, { name: 'c' }] })
    expect(value.tools.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    expect(losses).toEqual([])
  })

  it('refuses to require one of the allowed tools if the request has none of them', () => {
    const other = { type: 'function', function: { name: 'x' } }
    expect(paramOf(allowing('required', other))).toBe('tool_choice.allowed_tools.tools')
  })

  it.each([
    [{ type: 'text' }, null, []],
    [{ type: 'json_object' }, { kind: 'json' }, []],
    [
      { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' }, strict: true } },
      { kind: 'schema', name: 'n', schema: { type: 'object' }, isStrict: true },
      [],
    ],
    [{ type: 'grammar', grammar: 'x' }, null, ['response_format']],
  ])('reads the answer format %j', (format, expected, lost) => {
    const { value, losses } = read({ response_format: format })
    expect([value.answerFormat, losses]).toEqual([expected, lost])
  })

  it.each([
    [{ reasoning_effort: 'high' }, { kind: 'effort', effort: 'high' }, []],
    [{ reasoning_effort: 'none' }, { kind: 'off' }, []],
    [{ reasoning: { effort: 'max' } }, { kind: 'effort', effort: 'max' }, []],
    [{ reasoning: { max_tokens: 99 } }, { kind: 'budget', tokens: 99 }, []],
    [{ reasoning: { enabled: true, exclude: true } }, { kind: 'adaptive' }, ['reasoning.exclude']],
    [{ thinking: { type: 'enabled', budget_tokens: 9 } }, { kind: 'budget', tokens: 9 }, []],
    [
      { thinking: { type: 'disabled' }, reasoning_effort: 'low' },
      { kind: 'off' },
      ['reasoning_effort'],
    ],
    [
      { thinking: { type: 'enabled' }, reasoning_effort: 'low' },
      { kind: 'effort', effort: 'low' },
      [],
    ],
    [{ enable_thinking: true, thinking_budget: 50 }, { kind: 'budget', tokens: 50 }, []],
    [{ enable_thinking: false, thinking_budget: 50 }, { kind: 'off' }, []],
  ])('reads the thinking in %j', (body, thinking, lost) => {
    const { value, losses } = read(body)
    expect([value.thinking, losses]).toEqual([thinking, lost])
  })

  it.each([
    { max_tokens: 0 },
    { max_completion_tokens: 0 },
    { max_tokens: 0, max_completion_tokens: 9 },
  ])('reads %j as no limit, as without a conversion', (limits) => {
    const { value, losses } = read(limits)
    expect([value.outputTokensMax, losses]).toEqual([null, []])
  })

  it.each([
    [{ model: 3 }, 'model'],
    [{ messages: [] }, 'messages'],
    [{ messages: ['hi'] }, 'messages[0]'],
    [{ messages: [{ role: 'robot', content: 'x' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user', content: 3 }] }, 'messages[0].content'],
    [{ messages: [{ role: 'user', content: [{ text: 'x' }] }] }, 'messages[0].content[0].type'],
    [
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] },
      'messages[0].content[0].image_url.url',
    ],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id'],
    [{ messages: [{ role: 'assistant', tool_calls: [{}] }] }, 'messages[0].tool_calls[0].id'],
    [{ tools: [{ type: 'function' }] }, 'tools[0].function'],
    [{ tool_choice: 'maybe' }, 'tool_choice'],
    [{ tool_choice: { type: 'web' } }, 'tool_choice.type'],
    [{ max_tokens: -1 }, 'max_tokens'],
    [{ n: 1.5 }, 'n'],
    [{ temperature: 'hot' }, 'temperature'],
    [{ stop: [1] }, 'stop[0]'],
    [{ reasoning_effort: 'heroic' }, 'reasoning_effort'],
    [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
  ])('names the wrong member of %j', (body, param) => {
    expect(paramOf(body)).toBe(param)
  })
})
