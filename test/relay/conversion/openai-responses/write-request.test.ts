import { describe, expect, it } from 'vitest'
import type { CanonicalMessage, CanonicalRequest } from '#relay/canonical/canonical-request.ts'
import { readRequest } from '#relay/conversion/openai-responses/read-request.ts'
import { writeRequest } from '#relay/conversion/openai-responses/write-request.ts'
import { AGENT_TURN } from './agent-turn.ts'

const EMPTY: CanonicalRequest = readRequest({ model: 'gpt-5.1', input: 'Hi' }).value
const write = (request: Partial<CanonicalRequest>) => writeRequest({ ...EMPTY, ...request })
const writeMessages = (...messages: CanonicalMessage[]) => {
  const { value, losses } = write({ messages })
  return { input: value.input, losses }
}
const text = (value: string) => ({ kind: 'text', text: value }) as const

describe('writing a request in OpenAI’s responses format', () => {
  it('writes an equivalent request for the turn of an agent', () => {
    const first = readRequest(AGENT_TURN)
    const { value, losses } = writeRequest(first.value)
    expect(losses).toEqual([])
    const [developer, ...input] = AGENT_TURN.input
    const instructions = `${AGENT_TURN.instructions}\n\n${developer?.content?.[0]?.text}`
    expect(value).toEqual({ ...AGENT_TURN, instructions, input })
    expect(readRequest(value).value).toEqual({
      ...first.value,
      system: [{ kind: 'text', text: instructions }],
    })
  })

  it('writes a minimal request', () => {
    expect(writeRequest(EMPTY).value).toEqual({
      model: 'gpt-5.1',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
      store: false,
      include: ['reasoning.encrypted_content'],
    })
  })

  it('sends instructions as a message if there is no other', () => {
    const { value } = write({ system: [text('Be kind.')], messages: [] })
    const content = [{ type: 'input_text', text: 'Be kind.' }]
    expect(value.input).toEqual([{ type: 'message', role: 'developer', content }])
    expect(value).not.toHaveProperty('instructions')
  })

  it('never sends thinking of another provider', () => {
    const { input, losses } = writeMessages(
      { role: 'user', parts: [text('a')] },
      {
        role: 'assistant',
        parts: [
          { kind: 'thinking', text: 'Claude thinks.', signature: 'Ep4B' },
          { kind: 'thinking', text: '', redacted: 'gemini:x' },
          { kind: 'thinking', text: 'GPT thinks.', signature: 'openai:gAAA' },
          text('b'),
          { kind: 'thinking', text: 'No answer follows.', signature: 'openai:gBBB' },
        ],
      },
    )
    expect(input).toMatchObject([
      { role: 'user' },
      { type: 'reasoning', encrypted_content: 'gAAA' },
      { role: 'assistant' },
    ])
    expect(losses).toEqual([0, 1, 4].map((at) => `messages[1].parts[${at}] (thinking)`))
  })

  it('shortens the id of a call in the same way in the call and its result', () => {
    const id = 'x'.repeat(65)
    const { input } = writeMessages(
      { role: 'assistant', parts: [{ kind: 'tool-call', id, name: 'f', argumentsJson: '{}' }] },
      {
        role: 'user',
        parts: [{ kind: 'tool-result', callId: id, name: 'f', parts: [], isError: true }],
      },
    )
    const [call, result] = input as [{ call_id: string }, { call_id: string; output: unknown }]
    expect(call.call_id).toMatch(/^call_[0-9a-f]{40}$/)
    expect(result).toMatchObject({ call_id: call.call_id, output: '' })
  })

  it('keeps the order of results and texts within a message', () => {
    const result = { kind: 'tool-result', callId: 'c', name: 'f', isError: false } as const
    const { input } = writeMessages({
      role: 'user',
      parts: [{ ...result, parts: [text('a'), text('b')] }, text('Continue.')],
    })
    expect(input).toMatchObject([
      { type: 'function_call_output', output: [{ text: 'a' }, { text: 'b' }] },
      { role: 'user', content: [{ text: 'Continue.' }] },
    ])
  })

  it('writes documents and images in the forms that OpenAI accepts', () => {
    const pdf = { kind: 'base64', mediaType: 'application/pdf', data: 'AA' } as const
    const { input, losses } = writeMessages({
      role: 'user',
      parts: [
        { kind: 'document', source: pdf },
        { kind: 'document', source: { kind: 'text', text: 'Plain.' }, name: 'a.txt' },
        { kind: 'document', source: { kind: 'url', url: 'https://example.com' } },
        { kind: 'image', source: { kind: 'file-id', id: 'file-1' }, cache: '1h' },
        { kind: 'audio', mediaType: 'audio/wav', data: 'AA' },
      ],
    })
    expect(input).toMatchObject([
      {
        content: [
          { filename: 'document.pdf', file_data: 'data:application/pdf;base64,AA' },
          { type: 'input_text', text: 'Plain.' },
          { type: 'input_file', file_url: 'https://example.com' },
          { type: 'input_image', file_id: 'file-1', detail: 'auto' },
        ],
      },
    ])
    expect(losses).toEqual([
      'messages[0].parts[1].name',
      'messages[0].parts[3].cache',
      'messages[0].parts[4] (audio)',
    ])
  })

  it('never lets OpenAI make a schema strict', () => {
    const tool = { name: 'f', description: '', schema: {}, isStrict: null, cache: '5m' } as const
    const { value, losses } = write({ tools: [tool], toolChoice: { kind: 'tool', name: 'f' } })
    const parameters = { type: 'object', properties: {} }
    expect(value.tools).toEqual([{ type: 'function', name: 'f', parameters, strict: false }])
    expect(value.tool_choice).toEqual({ type: 'function', name: 'f' })
    expect(losses).toEqual(['tools[0].cache'])
  })

  it.each([
    ['gpt-5.1', { kind: 'off' }, { effort: 'none' }, []],
    ['gpt-5', { kind: 'off' }, { effort: 'minimal', summary: 'auto' }, ['thinking (off)']],
    ['o3', { kind: 'effort', effort: 'max' }, { effort: 'high', summary: 'auto' }, 1],
    ['openai/gpt-5.2', { kind: 'effort', effort: 'max' }, { effort: 'xhigh', summary: 'auto' }, 1],
    ['gpt-6', { kind: 'effort', effort: 'max' }, { effort: 'max', summary: 'auto' }, []],
    ['grok-4', { kind: 'budget', tokens: 9_000 }, { effort: 'medium', summary: 'auto' }, 1],
    ['gpt-5', { kind: 'adaptive' }, { summary: 'auto' }, []],
    ['gpt-4o', { kind: 'off' }, undefined, []],
    ['gpt-4o', { kind: 'adaptive' }, undefined, ['thinking']],
  ] as const)('writes for %s the thinking %j', (model, thinking, reasoning, losses) => {
    const written = write({ model, thinking })
    expect(written.value.reasoning).toEqual(reasoning)
    if (losses === 1) expect(written.losses).toHaveLength(1)
    else expect(written.losses).toEqual(losses)
  })

  it('asks only models that reason for encrypted reasoning', () => {
    expect(write({ model: 'gpt-4o' }).value).not.toHaveProperty('include')
    expect(write({ model: 'grok-4' }).value).not.toHaveProperty('include')
    const include = ['reasoning.encrypted_content']
    expect(write({ model: 'grok-4', thinking: { kind: 'adaptive' } }).value.include).toEqual(
      include,
    )
  })

  it.each([
    ['gpt-5', null, false],
    ['gpt-5.1', null, true],
    ['gpt-5.1', { kind: 'effort', effort: 'low' }, false],
    ['gpt-5.1', { kind: 'off' }, true],
    ['gpt-4o', null, true],
    ['grok-4', { kind: 'adaptive' }, true],
  ] as const)(
    'knows whether %s with the thinking %j accepts a temperature',
    (model, thinking, is) => {
      const sampling = { ...EMPTY.sampling, temperature: 0.2 }
      const { value, losses } = write({ model, thinking, sampling, logprobs: 2 })
      expect(value.temperature).toBe(is ? 0.2 : undefined)
      expect(value.top_logprobs).toBe(is ? 2 : undefined)
      expect(losses).toEqual(is ? [] : ['sampling.temperature', 'logprobs'])
    },
  )

  it('mentions JSON in the input if JSON is requested', () => {
    const { value } = write({ answerFormat: { kind: 'json' } })
    expect(value.text).toEqual({ format: { type: 'json_object' } })
    expect(value.input).toMatchObject([{ role: 'developer' }, { role: 'user' }])
    const messages = [{ role: 'user', parts: [text('Write JSON.')] }] as const
    expect(write({ answerFormat: { kind: 'json' }, messages }).value.input).toHaveLength(1)
  })

  it('leaves out what OpenAI rejects', () => {
    const { value, losses } = write({
      outputTokensMax: 1,
      endUser: `user_${'a'.repeat(100)}`,
      promptCacheKey: 'k'.repeat(65),
      toolChoice: { kind: 'auto' },
      allowsParallelCalls: false,
      sampling: {
        ...{ choices: 2, temperature: 1, topP: 0.5, topK: 3, seed: 4 },
        ...{ presencePenalty: 0.1, frequencyPenalty: 0.2, stop: ['x'] },
      },
    })
    expect(value).toMatchObject({ max_output_tokens: 16, top_p: 0.5 })
    expect(value.safety_identifier).toHaveLength(40)
    expect(value.prompt_cache_key).toHaveLength(40)
    for (const name of ['temperature', 'tool_choice', 'parallel_tool_calls']) {
      expect(value).not.toHaveProperty(name)
    }
    const names = ['choices', 'topK', 'seed', 'presencePenalty', 'frequencyPenalty', 'stop']
    expect(losses).toEqual(['outputTokensMax', ...names.map((name) => `sampling.${name}`)])
  })
})
