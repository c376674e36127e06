import { describe, expect, it } from 'vitest'
import { ConversionError } from '#relay/canonical/canonical-request.ts'
import { readRequest } from '#relay/conversion/openai-responses/read-request.ts'
import {
  callItem,
  callSignatureItem,
} from '#relay/conversion/openai-responses/write-response-and-items.ts'
import { AGENT_TURN } from './agent-turn.ts'

const BASE = { model: 'm', input: 'Hi' }
const read = (body: object) => readRequest({ ...BASE, ...body })
const readItems = (...input: object[]) => read({ input })

function errorOf(body: object): ConversionError {
  try {
    read(body)
  } catch (error) {
    if (error instanceof ConversionError) return error
    throw error
  }
  throw new Error('The request was read.')
}

describe('reading a request in OpenAI’s responses format', () => {
  it('reads the turn of an agent without losses', () => {
    const { value, losses } = readRequest(AGENT_TURN)
    expect(losses).toEqual([])
    expect(value).toMatchObject({ isStream: true, thinking: { kind: 'effort', effort: 'medium' } })
    expect(value.system).toEqual([
      { kind: 'text', text: 'You are a coding agent.' },
      { kind: 'text', text: 'The sandbox is read-only.' },
    ])
    expect(value.messages.map(({ role, parts }) => [role, parts.map(({ kind }) => kind)])).toEqual([
      ['user', ['text', 'image']],
      ['assistant', ['thinking', 'text', 'thinking', 'tool-call', 'tool-call']],
      ['user', ['tool-result', 'tool-result']],
      ['system', ['text']],
    ])
    expect(value.messages[1]?.parts).toMatchObject([
      { text: 'I list the files.', signature: 'openai:gAAAAAB_one' },
      { text: 'I look.' },
      { text: '', redacted: 'openai:gAAAAAB_two' },
      { id: 'call_1', name: 'shell', argumentsJson: '{"command":["ls"]}' },
      { id: 'call_2', name: 'view_image' },
    ])
    expect(value.messages[2]?.parts).toMatchObject([
      { callId: 'call_1', name: 'shell', parts: [{ kind: 'text', text: 'a.png' }] },
      { callId: 'call_2', name: 'view_image', parts: [{ kind: 'image' }] },
    ])
  })

  it('reads a signature for one call only, although a provider repeats the ids of calls', () => {
    const tools = { custom: new Set<string>(), namespaced: new Map() }
    const call = { kind: 'tool-call', id: 'call_0', name: 'f', argumentsJson: '{}' } as const
    const item = callItem('fc_1', call, 'completed', tools)
    const result = { type: 'function_call_output', call_id: 'call_0', output: '1' }
    const { value } = readItems(callSignatureItem('rs_1', 'call_0', 's1'), item, result, item)
    const calls = value.messages.flatMap(({ parts }) =>
      parts.filter((one) => one.kind === 'tool-call'),
    )
    expect(calls).toMatchObject([{ ...call, signature: 's1' }, call])
    expect(calls[1]).not.toHaveProperty('signature')
  })

  it('reads a text as a message of the user', () => {
    const { value } = read({})
    expect(value.messages).toEqual([{ role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }])
  })

  it('reads messages without a type', () => {
    const { value } = readItems({ role: 'user', content: 'a' }, { role: 'assistant', content: 'b' })
    expect(value.messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
  })

  it('reads images and files from each source', () => {
    const { value, losses } = readItems({
      role: 'user',
      content: [
        { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' },
        { type: 'input_image', file_id: 'file-1', detail: 'original' },
        { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' },
        { type: 'input_file', file_data: 'BB==' },
        { type: 'input_file', file_url: 'https://example.com/a.pdf' },
        { type: 'input_file', file_id: 'file-2' },
        { type: 'input_audio', input_audio: { data: 'CC==', format: 'mp3' } },
      ],
    })
    const pdf = 'application/pdf'
    expect(value.messages[0]?.parts).toEqual([
      ...[
        { kind: 'image', source: { kind: 'url', url: 'https://example.com/a.png' }, detail: 'low' },
        { kind: 'image', source: { kind: 'file-id', id: 'file-1' }, detail: 'high' },
      ],
      {
        kind: 'document',
        source: { kind: 'base64', mediaType: pdf, data: 'AA==' },
        name: 'a.pdf',
      },
      { kind: 'document', source: { kind: 'base64', mediaType: pdf, data: 'BB==' } },
      { kind: 'document', source: { kind: 'url', url: 'https://example.com/a.pdf' } },
      { kind: 'document', source: { kind: 'file-id', id: 'file-2' } },
      { kind: 'audio', mediaType: 'audio/mpeg', data: 'CC==' },
    ])
    expect(losses).toEqual(['input[0].content[1].detail'])
  })

  it('reads a cache breakpoint as a mark with the shortest lifetime', () => {
    const prompt_cache_breakpoint = { mode: 'explicit', ttl: '12h' }
    const content = [{ type: 'input_text', text: 'a', prompt_cache_breakpoint }]
    const { value, losses } = readItems({ role: 'user', content })
    expect(value.messages[0]?.parts).toEqual([{ kind: 'text', text: 'a', cache: '5m' }])
    expect(losses).toEqual(['input[0].content[0].prompt_cache_breakpoint.ttl'])
  })

  it('reads a custom tool as a function with one argument', () => {
    const format = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' }
    const { value, losses } = read({
      tools: [{ type: 'custom', name: 'apply_patch', description: 'Edits files.', format }],
      input: [
        { role: 'user', content: 'Edit.' },
        { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: 'x "y"' },
        { type: 'custom_tool_call_output', call_id: 'c1', output: 'Done.' },
      ],
    })
    expect(losses).toEqual(['tools[0].format'])
    expect(value.tools[0]).toMatchObject({ name: 'apply_patch', description: 'Edits files.' })
    expect(JSON.stringify(value.tools[0]?.schema)).toContain('start: \\"x\\"')
    expect(value.messages[1]?.parts).toMatchObject([{ argumentsJson: '{"input":"x \\"y\\""}' }])
    expect(value.messages[2]?.parts).toMatchObject([{ callId: 'c1', name: 'apply_patch' }])
  })

  it('joins the name of a namespace with the names of its tools', () => {
    const tool = { type: 'function', name: 'send', parameters: null, strict: null }
    const { value, losses } = read({
      tools: [{ type: 'namespace', name: 'mail', description: 'Mails.', tools: [tool] }],
      tool_choice: { type: 'function', namespace: 'mail', name: 'send' },
      input: [
        { type: 'function_call', call_id: 'c', namespace: 'mail', name: 'send', arguments: '' },
      ],
    })
    expect(value.tools.map(({ name }) => name)).toEqual(['mail__send'])
    expect(value.toolChoice).toEqual({ kind: 'tool', name: 'mail__send' })
    expect(value.messages[0]?.parts).toMatchObject([{ name: 'mail__send', argumentsJson: '{}' }])
    expect(losses).toEqual(['tools[0].description'])
  })

  it('refuses a namespace whose name would be repeated in many long names', () => {
    const tools = Array.from({ length: 99 }, (_none, at) => ({ type: 'function', name: `f${at}` }))
    const inNamespace = (length: number, each: object = {}) => {
      const all = tools.map((tool) => ({ ...tool, ...each }))
      return { tools: [{ type: 'namespace', name: 'n'.repeat(length), tools: all }], input: 'Hi' }
    }
    const error = expect.objectContaining({ param: 'tools[0].name' })
    expect(() => read(inNamespace(30))).toThrow(error)
    expect(() => read(inNamespace(3_000_000))).toThrow(error)
    const described = inNamespace(30, { description: 'Sends an e-mail to all addresses.' })
    expect(read(described).value.tools).toHaveLength(99)
  })

  it('leaves out the tools and the calls that a provider executes', () => {
    const { value, losses } = read({
      tools: [{ type: 'web_search' }, { type: 'function', name: 'f', parameters: {} }],
      input: [
        { role: 'user', content: 'Search.' },
        { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      ],
    })
    expect(value.tools.map(({ name }) => name)).toEqual(['f'])
    expect(losses).toEqual(['input[1]', 'tools[0]'])
  })

  it('reads the calls of a local shell as calls of a function', () => {
    const { value, losses } = readItems(
      { type: 'local_shell_call', call_id: 'c', action: { type: 'exec', command: ['ls'] } },
      { type: 'local_shell_call_output', id: 'c', output: 'a' },
    )
    expect(value.messages.flatMap(({ parts }) => parts)).toMatchObject([
      { kind: 'tool-call', id: 'c', name: 'local_shell' },
      { kind: 'tool-result', callId: 'c', name: 'local_shell' },
    ])
    expect(losses).toEqual(['input[0].type', 'input[1].type'])
  })

  it('leaves only the allowed tools', () => {
    const tools = ['a', 'b'].map((name) => ({ type: 'function', name, parameters: {} }))
    const allowed = [{ type: 'function', name: 'b' }]
    const choice = { type: 'allowed_tools', mode: 'required', tools: allowed }
    const { value } = read({ tools, tool_choice: choice })
    expect(value.tools.map(({ name }) => name)).toEqual(['b'])
    expect(value.toolChoice).toEqual({ kind: 'required' })
  })

  it('wraps arguments that are not an object', () => {
    const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":' }
    const { value, losses } = readItems(call)
    expect(value.messages[0]?.parts).toMatchObject([{ argumentsJson: '{"arguments":"{\\"a\\":"}' }])
    expect(losses).toEqual(['input[0].arguments'])
  })

  it('reads settings of the answer', () => {
    const schema = { type: 'object', properties: {} }
    const format = { type: 'json_schema', name: 'answer', schema, strict: true }
    const { value, losses } = read({
      text: { format, verbosity: 'medium' },
      reasoning: { effort: 'none' },
      include: ['message.output_text.logprobs'],
      top_logprobs: 3,
      max_output_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      safety_identifier: 'user-1',
      truncation: 'disabled',
      service_tier: 'auto',
    })
    expect(losses).toEqual([])
    expect(value).toMatchObject({
      answerFormat: { kind: 'schema', name: 'answer', schema, isStrict: true },
      thinking: { kind: 'off' },
      logprobs: 3,
      outputTokensMax: 100,
      sampling: { temperature: 0.5, topP: 0.9 },
      endUser: 'user-1',
    })
  })

  it('names what other formats can’t express', () => {
    const { losses } = read({
      store: true,
      truncation: 'auto',
      service_tier: 'priority',
      metadata: { a: 'b' },
      max_tool_calls: 3,
      text: { verbosity: 'low' },
      reasoning: { summary: 'detailed' },
      include: ['web_search_call.action.sources'],
      top_logprobs: 2,
    })
    expect(losses.toSorted()).toEqual(
      [
        ...['include[0]', 'max_tool_calls', 'reasoning.summary'],
        ...['service_tier', 'top_logprobs', 'truncation'],
      ].toSorted(),
    )
  })

  it.each([
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['conversation', { conversation: { id: 'conv_1' } }],
    ['prompt', { prompt: { id: 'pmpt_1' } }],
    ['input', { input: [] }],
    ['input', { input: null }],
    ['input[0]', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['input[0]', { input: [{ type: 'compaction', encrypted_content: 'x' }] }],
    ['input[0]', { input: [{ type: 'unknown' }] }],
    ['input[0].role', { input: [{ role: 'robot', content: 'a' }] }],
    ['input[0].call_id', { input: [{ type: 'function_call', name: 'f', arguments: '{}' }] }],
    ['model', { model: 7 }],
    ['tool_choice', { tool_choice: { type: 'web_search' } }],
    ['tool_choice', { tool_choice: 'required', tools: [{ type: 'web_search' }] }],
    ['tools[1]', { tools: [1, 2].map(() => ({ type: 'function', name: 'f' })) }],
    ['reasoning.effort', { reasoning: { effort: 'extreme' } }],
    ['max_output_tokens', { max_output_tokens: 0 }],
  ])('rejects a wrong %s', (param, body) => {
    expect(errorOf(body).param).toBe(param)
  })

  it('reads names such as __proto__ like any other name', () => {
    const body = JSON.parse('{"model":"m","input":"a","__proto__":1,"tools":[{"type":"toString"}]}')
    expect(readRequest(body).losses).toEqual(['__proto__', 'tools[0]'])
  })
})
