import { describe, expect, it } from 'vitest'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { readChatRequest } from '#relay/dialects/openai-chat/chat-format.ts'
import { upstreamBody } from '#relay/dialects/openai-chat/upstream-body.ts'
import type { ChatRequest } from '#relay/dialects/wire-format.ts'

const MESSAGES = '"messages":[{"role":"user","content":"hi"}]'

function read(text: string): ChatRequest {
  const request = readChatRequest(Buffer.from(text))
  if (isRelayError(request)) throw new Error(request.code)
  return request
}

describe('request body that is sent to the provider', () => {
  const NONE = new Map<string, string>()
  const PLAIN = { allowed: new Set<string>() }

  it('equals the caller’s bytes when nothing changes', () => {
    const request = read(`{"model":"m",${MESSAGES},  "odd" :\t[1.0, 2e0]}`)
    const change = { model: 'm', forcesUsage: true, overrides: NONE, ...PLAIN }
    expect(upstreamBody(request, change)).toEqual({ body: request.body, dropped: [] })
    expect(upstreamBody(request, change).body).toBe(request.body)
  })

  it('differs only in the model when the model is mapped', () => {
    const request = read(`{ "model" : "m" , ${MESSAGES}, "x":1.0}`)
    const { body } = upstreamBody(request, {
      model: 'other',
      forcesUsage: true,
      overrides: NONE,
      ...PLAIN,
    })
    expect(body.toString()).toBe(`{ "model" : "other" , ${MESSAGES}, "x":1.0}`)
  })

  it('asks for usage in a stream and keeps the caller’s other options', () => {
    const options = '"stream_options":{"x":1}'
    for (const text of [
      `{"model":"m",${MESSAGES},"stream":true}`,
      `{"model":"m",${MESSAGES},"stream":true,"stream_options":null}`,
      `{"model":"m",${MESSAGES},"stream":true,${options}}`,
    ]) {
      const request = read(text)
      const { body } = upstreamBody(request, {
        model: 'm',
        forcesUsage: true,
        overrides: NONE,
        ...PLAIN,
      })
      const sent = JSON.parse(body.toString()) as { stream_options: { x?: number } }
      expect(sent.stream_options).toMatchObject({ include_usage: true })
      expect(sent.stream_options.x).toBe(text.includes(options) ? 1 : undefined)
    }
  })

  it.each([
    ['{"include_usage":false}', { include_usage: true }],
    ['{"include_usage":false,"y":2}', { include_usage: true, y: 2 }],
    ['{"y":2}', { include_usage: true, y: 2 }],
    ['null', { include_usage: true }],
    ['{"include_usage":true,"y":2}', { include_usage: true, y: 2 }],
  ])('asks for usage in a stream whose options are overridden by %s', (override, options) => {
    for (const own of ['', ',"stream_options":{"include_usage":true,"x":1}']) {
      const request = read(`{"model":"m",${MESSAGES},"stream":true${own}}`)
      const overrides = new Map([['stream_options', override]])
      const change = { model: 'm', overrides, ...PLAIN }
      const { body } = upstreamBody(request, { ...change, forcesUsage: true })
      expect(JSON.parse(body.toString()).stream_options).toEqual(options)
      // The override is sent unchanged to a channel that does not take `include_usage`.
      const unforced = upstreamBody(request, { ...change, forcesUsage: false }).body
      expect(JSON.parse(unforced.toString()).stream_options).toEqual(JSON.parse(override))
    }
  })

  it('includes the overrides and has each key once', () => {
    const request = read(`{"model":"m",${MESSAGES},"temperature":1}`)
    const overrides = new Map([
      ['temperature', '0.1'],
      ['top_k', '3'],
    ])
    const { body } = upstreamBody(request, {
      model: 'other',
      forcesUsage: true,
      overrides,
      ...PLAIN,
    })
    const again = read(body.toString())
    expect(again.model).toBe('other')
    expect(JSON.parse(body.toString())).toMatchObject({ temperature: 0.1, top_k: 3 })
  })
})

describe('members that choose another model, price or route', () => {
  function sent(text: string, allowed: string[] = [], overrides: [string, string][] = []) {
    const change = { model: 'm', forcesUsage: false, allowed: new Set(allowed) }
    const { body, dropped } = upstreamBody(read(text), { ...change, overrides: new Map(overrides) })
    return [JSON.parse(body.toString()) as Record<string, unknown>, dropped] as const
  }
  const plain = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }

  it.each([
    ...['models', 'route', 'provider', 'plugins', 'preset', 'speed', 'web_search_options'],
    ...['best_of', 'max_output_tokens', 'n_predict', 'maxOutputTokens', 'candidateCount'],
    ...['fallbacks', 'api_base', 'api_key', 'base_url', 'mock_response', 'custom_llm_provider'],
    ...['search_parameters', 'enable_search', 'extra_body', 'aws_region_name', 'providerOptions'],
    ...['litellm_metadata', 'input_cost_per_token', 'Service_Tier', 'MODELS'],
    ...['drop_params', 'additional_drop_params', 'allowed_openai_params', 'safety_model'],
    ...['draft_model', 'options', 'search_type', 'chat_template'],
    ...['serviceTier', 'webSearchOptions', 'bestOf', 'apiBase', 'extraBody', 'service-tier'],
    ...['n_cmpl', 'tokens_to_generate', 'auto_max_new_tokens', 'adapters', 'connectors'],
    ...['enable_multimedia', 'enable_speed_search', 'enable_deep_read'],
  ])('%s is dropped at any position', (name) => {
    const member = `${JSON.stringify(name)}:["x",{"a":1}]`
    for (const text of [
      `{${member},"model":"m",${MESSAGES}}`,
      `{"model":"m" , ${member} , ${MESSAGES}}`,
      `{"model":"m",${MESSAGES},\n${member} }`,
    ]) {
      expect(sent(text)).toEqual([plain, [name]])
    }
  })

  it('several members are dropped at once, and overrides are added', () => {
    const text = `{"route":1,"models":[],"model":"m","speed":"fast","best_of":2,${MESSAGES},"plugins":[]}`
    const [body, dropped] = sent(text, [], [['top_k', '3']])
    expect(body).toEqual({ top_k: 3, ...plain })
    expect(dropped).toEqual(['route', 'models', 'speed', 'best_of', 'plugins'])
  })

  it.each(['"auto"', '"default"', 'null'])('the service tier %s passes', (tier) => {
    const text = `{"model":"m",${MESSAGES},"service_tier":${tier}}`
    expect(sent(text)).toEqual([{ ...plain, service_tier: JSON.parse(tier) }, []])
  })

  it('members that the channel allows pass, and the others are dropped', () => {
    const text = `{"model":"m","best_of":2,"speed":"fast",${MESSAGES}}`
    expect(sent(text, ['best_of'])).toEqual([{ ...plain, best_of: 2 }, ['speed']])
  })

  it.each(['flex', 'priority', 'scale'])('the service tier %s needs a price', (tier) => {
    const text = `{"model":"m","service_tier":"${tier}",${MESSAGES}}`
    expect(sent(text, ['service_tier'])).toEqual([plain, ['service_tier']])
  })

  it('an admin’s override replaces the caller’s value', () => {
    const text = `{"model":"m",${MESSAGES},"service_tier":"priority","Top_K":9}`
    const overrides: [string, string][] = [
      ['service_tier', '"flex"'],
      ['top_k', '1'],
    ]
    expect(sent(text, [], overrides)).toEqual([{ ...plain, service_tier: 'flex', top_k: 1 }, []])
  })

  it.each([
    ...['reasoning', 'reasoning_effort', 'verbosity', 'prompt_cache_key', 'store', 'metadata'],
    ...['prediction', 'safety_identifier', 'thinking', 'chat_template_kwargs', 'usage'],
    ...['transforms', 'include_reasoning', 'enable_thinking', 'top_k', 'cache_prompt', 'user'],
    ...['tools', 'response_format', 'modalities', 'audio', 'cache_control', 'repetition_penalty'],
  ])('the common member %s passes', (name) => {
    const text = `{"model":"m",${MESSAGES},"${name}":null}`
    expect(sent(text)).toEqual([{ ...plain, [name]: null }, []])
  })
})

describe('tools that the provider runs itself', () => {
  const change = { model: 'm', forcesUsage: false, overrides: new Map<string, string>() }
  function sent(tools: string, others = '', allowed: string[] = []) {
    const request = read(`{"model":"m",${MESSAGES},"tools":${tools}${others}}`)
    const { body, dropped } = upstreamBody(request, { ...change, allowed: new Set(allowed) })
    const { model: _model, messages: _messages, ...rest } = JSON.parse(body.toString())
    return [rest, dropped] as const
  }
  const call = '{"type":"function","function":{"name":"f"}}'
  const custom = '{"type":"custom","custom":{"name":"c"}}'
  const search = '{"type":"web_search","web_search":{"enable":true}}'

  it.each([
    `[${call},${search},${custom}]`,
    `[${search} , ${call},${custom}]`,
    `[ ${call},${custom} ,${search}, ${search}]`,
    `[${search},${search},${call},${search},${custom},${search}]`,
  ])('are left out of %s', (tools) => {
    expect(sent(tools)).toEqual([{ tools: JSON.parse(`[${call},${custom}]`) }, ['tools']])
  })

  it('are not functions whose type has escapes', () => {
    const tools = '[{"type":"functio\\u006e","function":{}}]'
    expect(sent(tools)).toEqual([{ tools: JSON.parse(tools) }, []])
  })

  it.each([
    ...['{"type":"builtin_function","function":{"name":"$web_search"}}', '{"googleSearch":{}}'],
    ...['{"type":"web_s\\u0065arch"}', '{"type":"function","Type":"web_search"}'],
    ...['{"type":"function","type":"web_search"}', '{"type":null,"function":{}}', '{"Type":"x"}'],
    '{"type":"web_search","function":{"name":"f"}}',
    ...['{"googleSearch":{},"type":"function","function":{"name":"f"}}'],
    ...['{"type":"function","function":{"name":"f"},"web_search":{"enable":true}}'],
    ...['{"type":"function","function":{},"google\\u0053earch":{}}'],
    ...['{"type":"custom","custom":{"name":"c"},"code_execution":{}}'],
  ])('are recognized by their type and by their members: %s', (tool) => {
    expect(sent(`[${tool},${call}]`)).toEqual([{ tools: [JSON.parse(call)] }, ['tools']])
  })

  it('are dropped with tool_choice and parallel_tool_calls when no tool remains', () => {
    const others = ',"tool_choice":"auto","parallel_tool_calls":true,"top_k":1'
    expect(sent(`[${search}]`, others)).toEqual([{ top_k: 1 }, ['tools']])
  })

  const functionChoice = '{"type":"function","function":{"name":"f"}}'
  const both = `{"type":"web_search"},${functionChoice}`

  // Providers refuse a request that chooses a tool which it does not have.
  it.each<[string, object | null]>([
    ['{"type":"web_search"}', null],
    [
      `{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[${both}]}}`,
      {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [JSON.parse(functionChoice)] },
      },
    ],
    [
      `{"type":"allowed_tools","mode":"auto","tools":[${both}]}`,
      {
        ...{ type: 'allowed_tools', mode: 'auto', tools: [JSON.parse(functionChoice)] },
      },
    ],
    ['{"type":"allowed_tools","mode":"auto","tools":[{"type":"web_search"}]}', null],
  ])('are also left out of the choice %s', (choice, kept) => {
    const [body, dropped] = sent(`[${search},${call}]`, `,"tool_choice":${choice}`)
    expect(body.tool_choice ?? null).toEqual(kept)
    expect(dropped).toEqual(['tools', 'tool_choice'])
  })

  it.each([functionChoice, '"required"', `{"type":"allowed_tools","tools":[${functionChoice}]}`])(
    'leave the choice %s of another tool as it is',
    (choice) => {
      const [body, dropped] = sent(`[${search},${call}]`, `,"tool_choice":${choice}`)
      expect([body.tool_choice, dropped]).toEqual([JSON.parse(choice), ['tools']])
    },
  )

  it('are not parsed for the choice if they are longer than 1 MiB, so that no call waits', () => {
    const long = `{"type":"web_search","web_search":{"prompt":"${'x'.repeat(60_000)}"}}`
    const chosen = (count: number) =>
      sent(`[${call},${Array(count).fill(long)}]`, ',"tool_choice":{"type":"web_search"}')[1]
    expect(chosen(17)).toEqual(['tools', 'tool_choice'])
    expect(chosen(18)).toEqual(['tools'])
  })

  it('are dropped even where the channel allows tools, because they have no price', () => {
    expect(sent(`[${search}]`, '', ['tools'])).toEqual([{}, ['tools']])
  })

  it('pass where an admin’s override sets them', () => {
    const request = read(`{"model":"m",${MESSAGES},"tools":[${search},${call}]}`)
    const overrides = new Map([['tools', `[${search}]`]])
    const { body, dropped } = upstreamBody(request, { ...change, overrides, allowed: new Set() })
    expect(JSON.parse(body.toString()).tools).toEqual([JSON.parse(search)])
    expect(dropped).toEqual([])
  })

  it.each([
    `[${call},${custom}]`,
    '[{"function":{"name":"f"}},{"name":"f","description":"","parameters":{}},{}]',
    '[{"type":"function","function":{},"cache_control":{"type":"ephemeral"}}]',
    '[{"name":"f","input_schema":{},"cache_control":{"type":"ephemeral"}}]',
    ...['[]', 'null'],
  ])('are absent from %s, whose bytes are sent unchanged', (tools) => {
    const request = read(`{"model":"m",${MESSAGES},"tools":${tools},"tool_choice":"auto"}`)
    const { body } = upstreamBody(request, { ...change, allowed: new Set() })
    expect(body).toBe(request.body)
  })

  it('are left out in time linear in their number', () => {
    const tools = `[${Array.from({ length: 4_096 }, (_, i) => (i % 2 ? call : search)).join()}]`
    expect(sent(tools)[0].tools).toHaveLength(2_048)
    const tooMany = Buffer.from(`{"model":"m",${MESSAGES},"tools":[${'{},'.repeat(4_096)}{}]}`)
    expect(readChatRequest(tooMany)).toMatchObject({ code: 'list_too_long' })
  })
})

describe('output limit that the gateway adds', () => {
  it.each([
    ['o3-mini', 'my-deployment', true, 'max_completion_tokens'],
    ['prod-gpt-5', 'gateway', true, 'max_completion_tokens'],
    ['mini', 'prod-o4-mini', true, 'max_completion_tokens'],
    ['gpt-4o', 'my-deployment', true, 'max_tokens'],
    ['gpt-35-turbo', 'my-deployment', true, 'max_tokens'],
    ['o3-mini', 'deepseek-chat', false, 'max_tokens'],
    ['mini', 'openai/o3-mini', false, 'max_completion_tokens'],
  ])(
    'for %s, sent as %s (a deployment: %s), is the member %s',
    (asked, model, isDeployment, member) => {
      const request = read(`{"model":"${asked}",${MESSAGES}}`)
      const { body } = upstreamBody(request, {
        ...{ model, isDeployment, forcesUsage: false, outputTokens: 300 },
        ...{ overrides: new Map(), allowed: new Set<string>() },
      })
      const { messages: _messages, model: _model, ...limits } = JSON.parse(body.toString())
      expect(limits).toEqual({ [member]: 300 })
    },
  )

  it.each([
    ['a larger override', '', { max_tokens: '100000' }, { max_tokens: 300 }],
    ['a smaller override', '', { max_tokens: '20' }, { max_tokens: 20 }],
    ['the request’s larger limit', ',"max_tokens":9000', {}, { max_tokens: 300 }],
    [
      'both members, of which one is smaller',
      ',"max_tokens":9000,"max_completion_tokens":50',
      {},
      { max_tokens: 300, max_completion_tokens: 50 },
    ],
  ])('bounds %s', (_case, members, overrides, expected) => {
    const request = read(`{"model":"m",${MESSAGES}${members}}`)
    const { body } = upstreamBody(request, {
      ...{ model: 'm', forcesUsage: false, outputTokens: 300, allowed: new Set<string>() },
      overrides: new Map(Object.entries(overrides)),
    })
    const { messages: _messages, model: _model, ...limits } = JSON.parse(body.toString())
    expect(limits).toEqual(expected)
  })
})
