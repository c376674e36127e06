import { describe, expect, it } from 'vitest'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { type ChatRequest, readChatRequest } from '#relay/dialects/openai-chat/chat-request.ts'
import { upstreamBody } from '#relay/dialects/openai-chat/upstream-body.ts'

const MESSAGES = '"messages":[{"role":"user","content":"hi"}]'

function read(text: string): ChatRequest {
  const request = readChatRequest(Buffer.from(text))
  if (isRelayError(request)) throw new Error(request.code)
  return request
}

describe('the bytes for the provider', () => {
  const NONE = new Map<string, string>()
  const PLAIN = { allowed: new Set<string>() }

  it('are the very bytes that came when nothing changes', () => {
    const request = read(`{"model":"m",${MESSAGES},  "odd" :\t[1.0, 2e0]}`)
    const change = { model: 'm', forcesUsage: true, overrides: NONE, ...PLAIN }
    expect(upstreamBody(request, change)).toEqual({ body: request.body, dropped: [] })
    expect(upstreamBody(request, change).body).toBe(request.body)
  })

  it('carry a mapped model and nothing else new', () => {
    const request = read(`{ "model" : "m" , ${MESSAGES}, "x":1.0}`)
    const { body } = upstreamBody(request, {
      model: 'other',
      forcesUsage: true,
      overrides: NONE,
      ...PLAIN,
    })
    expect(body.toString()).toBe(`{ "model" : "other" , ${MESSAGES}, "x":1.0}`)
  })

  it('ask for usage in a stream, keeping the caller’s other options', () => {
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

  it('take overrides in and stay one object with each key once', () => {
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
  ])('%s is dropped wherever it stands', (name) => {
    const member = `${JSON.stringify(name)}:["x",{"a":1}]`
    for (const text of [
      `{${member},"model":"m",${MESSAGES}}`,
      `{"model":"m" , ${member} , ${MESSAGES}}`,
      `{"model":"m",${MESSAGES},\n${member} }`,
    ]) {
      expect(sent(text)).toEqual([plain, [name]])
    }
  })

  it('several go at once, and what is new stands before the first that stays', () => {
    const text = `{"route":1,"models":[],"model":"m","speed":"fast","best_of":2,${MESSAGES},"plugins":[]}`
    const [body, dropped] = sent(text, [], [['top_k', '3']])
    expect(body).toEqual({ top_k: 3, ...plain })
    expect(dropped).toEqual(['route', 'models', 'speed', 'best_of', 'plugins'])
  })

  it.each(['"auto"', '"default"', 'null'])('the service tier %s passes', (tier) => {
    const text = `{"model":"m",${MESSAGES},"service_tier":${tier}}`
    expect(sent(text)).toEqual([{ ...plain, service_tier: JSON.parse(tier) }, []])
  })

  it('what the channel allows passes, and nothing beside it', () => {
    const text = `{"model":"m","service_tier":"flex","speed":"fast",${MESSAGES}}`
    expect(sent(text, ['service_tier'])).toEqual([{ ...plain, service_tier: 'flex' }, ['speed']])
  })

  it('an admin’s override stands, whatever the caller wrote', () => {
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
  ])('%s, which clients send, passes', (name) => {
    const text = `{"model":"m",${MESSAGES},"${name}":null}`
    expect(sent(text)).toEqual([{ ...plain, [name]: null }, []])
  })
})
