import { describe, expect, it } from 'vitest'
import { textOfAnswer } from '#relay/canonical/answer-text-for-token-count.ts'
import { readEventTexts } from '#relay/canonical/answer-text-sink.ts'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { readChatRequest } from '#relay/dialects/openai-chat/chat-format.ts'
import { passedHeaders } from '#relay/dialects/openai-responses/headers-passed-to-provider.ts'
import { readResponseTexts } from '#relay/dialects/openai-responses/read-response-texts.ts'
import {
  OPENAI_RESPONSES,
  readResponsesRequest,
} from '#relay/dialects/openai-responses/responses-format.ts'
import { streamOfResponse } from '#relay/dialects/openai-responses/stream-events.ts'
import type { ChatRequest, UpstreamChange } from '#relay/dialects/wire-format.ts'

const bytes = (value: unknown): Buffer =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
const BASE = { model: 'gpt-6', input: 'Hi' }

function read(members: object): ChatRequest {
  const request = readResponsesRequest(bytes({ ...BASE, ...members }))
  if (isRelayError(request)) throw new Error(JSON.stringify(request))
  return request
}

function errorOf(value: unknown): { code: string; param: string | undefined } | null {
  const request = readResponsesRequest(bytes(value))
  return isRelayError(request) ? { code: request.code, param: request.params.param } : null
}

const change = (more: Partial<UpstreamChange> = {}): UpstreamChange => ({
  model: 'gpt-6',
  forcesUsage: true,
  overrides: new Map(),
  allowed: new Set(),
  ...more,
})

const sent = (members: object, more: Partial<UpstreamChange> = {}) => {
  const { body, dropped } = OPENAI_RESPONSES.upstreamBody(read(members), change(more))
  return { body: JSON.parse(body.toString()) as Record<string, unknown>, dropped }
}

describe('a request of the Responses API', () => {
  it('has a text or a list of items', () => {
    expect(read({})).toMatchObject({ model: 'gpt-6', isStream: false, outputTokensMax: null })
    const input = [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }]
    const request = read({ input, stream: true, max_output_tokens: 64 })
    expect(request).toMatchObject({ isStream: true, outputTokensMax: 64, wantsUsage: true })
    expect(request.inputBound.isText).toBe(true)
    expect(request.inputBound.tokens).toBe(request.body.length)
  })

  it.each([
    [{ model: 'gpt-6' }, 'missing_parameter', 'input'],
    [{ input: 'Hi' }, 'missing_parameter', 'model'],
    [{ ...BASE, input: 7 }, 'value_not_possible', 'input'],
    [{ ...BASE, input: [] }, 'value_not_possible', 'input'],
    [{ ...BASE, input: ['Hi'] }, 'value_not_possible', 'input'],
    [{ ...BASE, input: [{ role: 7, content: 'x' }] }, 'value_not_possible', 'input[0].role'],
    [{ ...BASE, input: [{ Role: 'user', content: 'x' }] }, 'ambiguous_key', 'input[0].Role'],
    [{ ...BASE, max_output_tokens: -1 }, 'integer_out_of_range', 'max_output_tokens'],
    [{ ...BASE, max_output_tokens: '9' }, 'integer_out_of_range', 'max_output_tokens'],
    [{ ...BASE, Max_output_tokens: 9 }, 'ambiguous_key', 'Max_output_tokens'],
    [{ ...BASE, stream: 'yes' }, 'value_not_possible', 'stream'],
    [{ ...BASE, reasoning: 'high' }, 'value_not_possible', 'reasoning'],
    [{ ...BASE, reasoning: { Effort: 'high' } }, 'ambiguous_key', 'reasoning.Effort'],
    [{ ...BASE, tools: ['web_search'] }, 'value_not_possible', 'tools'],
    [{ ...BASE, text: [] }, 'value_not_possible', 'text'],
    [{ ...BASE, background: 'yes' }, 'value_not_possible', 'background'],
    [{ ...BASE, conversation: 'conv_1' }, 'stored_input', 'conversation'],
    [{ ...BASE, prompt: { id: 'pmpt_1' } }, 'stored_input', 'prompt'],
    [{ ...BASE, previous_response_id: 7 }, 'invalid_parameter', 'previous_response_id'],
    [{ ...BASE, previous_response_id: 'a b' }, 'invalid_parameter', 'previous_response_id'],
    [{ ...BASE, input: [{ type: 'item_reference', id: 'a b' }] }, 'stored_input', 'input[0]'],
    [{ ...BASE, input: [{ type: 'item_reference' }] }, 'stored_input', 'input[0]'],
    ['{"model":"m","input":[{"id":"a","id":"b"}]}', 'duplicate_key', 'input[0].id'],
  ])('%j is refused with %s %s', (body, code, param) => {
    expect(errorOf(body)).toEqual({ code, param })
  })

  it('may refer to responses and items that the provider stores', () => {
    const input = [
      { type: 'item_reference', id: 'rs_1' },
      { role: 'user', content: 'x', id: 'msg_1' },
      { id: 'fc_1' },
      { type: null, id: 'fc_2' },
    ]
    const { stored, body } = read({ input, previous_response_id: 'resp_1' })
    expect(stored).toMatchObject({ place: null, tokens: 0 })
    const references = stored?.references.map(({ id, param, span }) => ({
      ...{ id, param },
      item: span === undefined ? null : JSON.parse(body.toString('utf8', span.start, span.end)),
    }))
    expect(references).toEqual([
      { id: 'resp_1', param: 'previous_response_id', item: null },
      { id: 'rs_1', param: 'input[0]', item: input[0] },
      { id: 'fc_1', param: 'input[2]', item: input[2] },
      { id: 'fc_2', param: 'input[3]', item: input[3] },
    ])
    expect(read({}).stored).toBe(undefined)
  })

  it('is refused if it has more than 1 000 references', () => {
    const referring = (count: number) => ({
      input: Array.from({ length: count }, (_, index) => ({
        ...{ type: 'item_reference', id: `rs_${index}` },
      })),
    })
    expect(read(referring(1_000)).stored?.references).toHaveLength(1_000)
    for (const count of [1_001, 1_500]) expect(() => read(referring(count))).toThrow()
  })

  it('may have nulls in place of absent members', () => {
    const nulls = { conversation: null, previous_response_id: null, prompt: null, reasoning: null }
    expect(read({ ...nulls, max_output_tokens: null, tools: null }).outputTokensMax).toBe(null)
  })

  it.each([
    [{ effort: 'high', summary: 'auto' }, 'high'],
    [{ effort: null }, null],
    [{ effort: 'a free text' }, 'other'],
    [{}, null],
  ])('the reasoning %j has the effort %s', (reasoning, effort) => {
    expect(read({ reasoning }).reasoningEffort).toBe(effort)
  })

  it('is recognized at the path of chats', () => {
    const request = readChatRequest(bytes(BASE))
    expect(request).toMatchObject({ format: { name: 'responses' }, model: 'gpt-6' })
    const both = { ...BASE, messages: [{ role: 'user', content: 'x' }] }
    expect(readChatRequest(bytes(both))).toMatchObject({ format: { name: 'chat' } })
    expect(readChatRequest(bytes({ ...BASE, input: 7 }))).toMatchObject({
      params: { param: 'input' },
    })
  })
})

describe('the bound of the input', () => {
  const boundOf = (item: object) => {
    const request = read({ input: [item] })
    const { tokens, ceiling, isText } = request.inputBound
    return { extra: tokens - request.body.length, isBounded: ceiling < 10_000_000, isText }
  }

  it.each([
    [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://a/b.png' }] }, 6_000],
    [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://a/b.pdf' }] }, 100_000],
    [
      {
        type: 'function_call_output',
        call_id: 'c',
        output: [{ type: 'input_image', image_url: 'https://a/b.png' }],
      },
      6_000,
    ],
    [{ type: 'computer_call_output', call_id: 'c', output: { type: 'x' } }, 6_000],
    [{ type: 'image_generation_call', id: 'ig_1', result: null }, 6_000],
    [{ type: 'reasoning', id: 'rs_1', summary: [] }, 10_000],
    [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: '' }, 10_000],
    [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: null }, 10_000],
  ])('%j may have more tokens than bytes', (item, extra) => {
    expect(boundOf(item)).toEqual({ extra, isBounded: true, isText: false })
  })

  it.each([
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output: 'done' },
    { type: 'custom_tool_call', call_id: 'c', name: 'apply_patch', input: 'x' },
    { type: 'local_shell_call', call_id: 'c', status: 'completed', action: { type: 'exec' } },
    {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'x', annotations: [] }],
    },
  ])('%j has at most one token per byte', (item) => {
    expect(boundOf(item)).toEqual({ extra: 0, isBounded: true, isText: true })
  })

  it.each([{}, { id: null }])('has no hidden tokens for reasoning with %j, without an id', (id) => {
    const summary = [{ type: 'summary_text', text: 'I ask.' }]
    const bound = { extra: 0, isBounded: true, isText: true }
    expect(boundOf({ type: 'reasoning', ...id, summary })).toEqual(bound)
  })

  it('finds the id of reasoning also if its name is escaped', () => {
    const item = '{"type":"reasoning","\\u0069d":"rs_1","summary":[]}'
    const request = readResponsesRequest(Buffer.from(`{"model":"m","input":[${item}]}`))
    if (isRelayError(request)) throw new Error(request.code)
    expect(request.inputBound.tokens - request.body.length).toBe(10_000)
  })

  it('covers encrypted reasoning by its bytes, because its tokens can not be counted', () => {
    const encrypted = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' }
    expect(boundOf(encrypted)).toEqual({ extra: 0, isBounded: true, isText: false })
  })

  it.each([
    { type: 'a_new_item', text: 'x' },
    { type: 'message', role: 'user', content: [{ type: 'a_new_part' }] },
    { type: 'message', role: 'user', content: ['text'] },
    { type: 'message', role: 'user', content: 'x', memory: 'm' },
  ])('%j may have any number of tokens', (item) => {
    expect(boundOf(item).isBounded).toBe(false)
  })
})

describe('the tools of a request', () => {
  const FUNCTION = { type: 'function', name: 'f', parameters: { type: 'object' } }

  it.each([
    FUNCTION,
    { type: 'custom', name: 'apply_patch', format: { type: 'grammar' } },
    { type: 'local_shell' },
    { type: 'shell' },
    { type: 'shell', environment: null },
    { type: 'shell', environment: { type: 'local' } },
    { type: 'apply_patch' },
    { type: 'computer_use_preview', display_width: 1, display_height: 1, environment: null },
    { type: 'tool_search' },
    { type: 'namespace', name: 'n', tools: [FUNCTION] },
    { name: 'f', parameters: {} },
  ])('%j costs only tokens and is sent', (tool) => {
    expect(sent({ tools: [tool] })).toMatchObject({ body: { tools: [tool] }, dropped: [] })
  })

  it.each([
    { type: 'web_search' },
    { type: 'web_search_preview_2025_03_11' },
    { type: 'file_search', vector_store_ids: ['vs_1'] },
    { type: 'code_interpreter', container: { type: 'auto', memory_limit: '1g' } },
    { type: 'image_generation' },
  ])('%j is removed unless the channel allows it, and has a limit', (tool) => {
    const tools = [tool, FUNCTION]
    expect(sent({ tools })).toMatchObject({ body: { tools: [FUNCTION] }, dropped: ['tools'] })
    const allowed = new Set(['tools'])
    const body = { ...BASE, tools, max_tool_calls: 10 }
    expect(sent({ tools }, { allowed })).toEqual({ body, dropped: [] })
    const text = `{"tools":${JSON.stringify(tools)},"model":"m","input":"Hi"} \n`
    const request = readResponsesRequest(bytes(text)) as ChatRequest
    const spaced = OPENAI_RESPONSES.upstreamBody(request, change({ model: 'm', allowed })).body
    expect(spaced.toString()).toBe(text.replace('} \n', ',"max_tool_calls":10} \n'))
  })

  it.each([
    { type: 'mcp', server_label: 's', server_url: 'https://a' },
    { type: 'programmatic_tool_calling' },
    { type: 'shell', environment: { type: 'container_auto' } },
    { environment: { type: 'container_reference', container_id: 'c' }, type: 'shell' },
    { type: 'shell', environment: { type: 'local', container_id: 'c' } },
    { type: 'namespace', name: 'n', tools: [{ type: 'web_search' }] },
    { type: 'function', name: 'f', server_url: 'https://a' },
    { type: 'a_new_tool' },
  ])('%j has no price and is always removed', (tool) => {
    const tools = [tool, FUNCTION]
    for (const allowed of [new Set<string>(), new Set(['tools'])]) {
      const { body, dropped } = sent({ tools }, { allowed })
      expect(body).toEqual({ ...BASE, tools: [FUNCTION] })
      expect(dropped).toEqual(['tools'])
    }
  })

  it.each([
    { type: 'web_search' },
    { type: 'shell', environment: { type: 'container_auto' } },
    { Type: 'web_search' },
  ])('%j can not hide in an item', (tool) => {
    const input = [{ type: 'additional_tools', role: 'developer', tools: [tool] }]
    const error = { code: 'provider_tool_in_input', param: 'input[0].tools' }
    expect(errorOf({ ...BASE, input })).toEqual(error)
  })

  it('a function may be in an item', () => {
    const items = [
      { type: 'additional_tools', role: 'developer', tools: [FUNCTION] },
      { type: 'mcp_list_tools', server_label: 's', tools: [{ name: 'a', input_schema: {} }] },
    ]
    expect(errorOf({ ...BASE, input: items })).toBe(null)
  })
})

describe('the body for the provider', () => {
  it('is the same buffer if nothing changes', () => {
    const request = read({ stream: true, max_output_tokens: 32, store: false })
    expect(OPENAI_RESPONSES.upstreamBody(request, change()).body).toBe(request.body)
  })

  it('gets the model and the output limit that the hold covers', () => {
    expect(sent({}, { model: 'other', outputTokens: 300 }).body).toEqual({
      ...{ ...BASE, model: 'other' },
      max_output_tokens: 300,
    })
    expect(sent({ max_output_tokens: 99 }, { outputTokens: 300 }).body.max_output_tokens).toBe(99)
    expect(sent({ max_output_tokens: 999 }, { outputTokens: 300 }).body.max_output_tokens).toBe(300)
  })

  it('has no member with another price or another limit', () => {
    const members = {
      service_tier: 'priority',
      background: false,
      max_tokens: 9,
      access_programs: {},
    }
    const { body, dropped } = sent({ ...members, store: true, prompt_cache_key: 'k' })
    expect(body).toEqual({ ...BASE, store: true, prompt_cache_key: 'k' })
    expect(dropped).toEqual(['service_tier', 'background', 'max_tokens', 'access_programs'])
  })

  it('has the outline of a request', () => {
    const outline = OPENAI_RESPONSES.outlineOf(read({ max_output_tokens: 70, stream: true }))
    expect(outline).toMatchObject({ model: 'gpt-6', outputTokensMax: 70, isStream: true })
  })
})

it('the headers of a session pass, and no credentials', () => {
  const headers = {
    authorization: 'Bearer x',
    cookie: 'a=b',
    'openai-beta': 'responses_websockets=2026-02-06, responses=v1',
    'openai-organization': 'org-1',
    originator: 'codex_cli_rs',
    session_id: 's',
    'x-codex-turn-state': 't',
    'x-forwarded-for': '1.2.3.4',
  }
  expect(passedHeaders(headers)).toEqual([
    ...['openai-beta', 'responses=v1', 'originator', 'codex_cli_rs', 'session_id', 's'],
    ...['x-codex-turn-state', 't'],
  ])
  expect(passedHeaders({ 'openai-beta': 'responses_websockets=2026-02-06' })).toEqual([])
})

describe('the usage', () => {
  const bounds = { inputCeiling: 10_000, outputCeiling: 10_000 }
  const usageOf = (raw: unknown) =>
    OPENAI_RESPONSES.readUsage(raw, {
      ...bounds,
      body: Buffer.from('{}'),
      isOutputTotalLessPrompt: false,
    })

  it('includes cached tokens, cache writes and reasoning', () => {
    const { usage, isTrusted } = usageOf({
      input_tokens: 1_000,
      input_tokens_details: {
        cached_tokens: 600,
        cache_write_tokens: 300,
        cache_write_tokens_details: { ttl_12h_tokens: 100, ttl_30m_tokens: 200 },
      },
      output_tokens: 500,
      output_tokens_details: { reasoning_tokens: 400 },
      total_tokens: 1_500,
    })
    expect(isTrusted).toBe(true)
    expect(usage).toMatchObject({ inputUncached: 100, cacheRead: 600, output: 500, reasoning: 400 })
    expect(usage).toMatchObject({ cacheWrite5m: 200, cacheWrite1h: 100 })
  })

  it.each([-1, 'x', 1.5, 1e9])('a count %s of long writes makes nothing cheaper', (long) => {
    const details = {
      cache_write_tokens: 300,
      cache_write_tokens_details: { ttl_12h_tokens: long },
    }
    const raw = { input_tokens: 300, input_tokens_details: details, output_tokens: 1 }
    expect(usageOf(raw).usage).toMatchObject({ cacheWrite5m: 0, cacheWrite1h: 300 })
  })

  it.each([null, {}, { input_tokens: -5, output_tokens: -5 }])('%j is not trusted', (raw) => {
    const { usage, isTrusted } = usageOf(raw)
    expect(isTrusted).toBe(false)
    expect(Object.values(usage).every((count) => !(Number(count) < 0))).toBe(true)
  })
})

describe('the texts of a response', () => {
  const RESPONSE = {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    output: [
      {
        ...{ id: 'rs_1', type: 'reasoning', encrypted_content: 'x'.repeat(1_000) },
        summary: [{ type: 'summary_text', text: 'Think. ' }],
      },
      {
        ...{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' },
        content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
      },
      {
        ...{ id: 'fc_1', type: 'function_call', call_id: 'c', status: 'completed' },
        ...{ name: 'read', arguments: '{"a":1}' },
      },
    ],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  }

  it('are read once from a complete response', () => {
    const { text, tokens } = textOfAnswer(bytes(RESPONSE), readResponseTexts)
    expect(text).toContain('Hello')
    expect(text).toContain('Think. ')
    expect(text).toContain('read')
    expect(text).toContain('{"a":1}')
    expect(text.length).toBe('Think. Helloread{"a":1}'.length)
    expect(tokens).toBe(1)
  })

  it('are read once from a stream, which repeats them', () => {
    const pieces: string[] = []
    let characters = 0
    readEventTexts(streamOfResponse(bytes(RESPONSE)), readResponseTexts, {
      text: (_choice, _place, piece) => pieces.push(piece),
      data: (length) => {
        characters += length
      },
    })
    expect(pieces.toSorted()).toEqual(['Hello', 'read', '{"a":1}'].toSorted())
    expect(characters).toBe(1_000)
  })

  it('nothing is read from bytes that are no JSON', () => {
    const sink = { text: () => expect.fail(), data: () => expect.fail() }
    for (const text of ['', 'x', '[]', 'null', '{"type":7}']) readResponseTexts(text, sink)
  })
})
