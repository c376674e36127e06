import { describe, expect, it } from 'vitest'
import type {
  CanonicalMessage,
  CanonicalRequest,
  ContentPart,
  ToolResultPart,
} from '#relay/canonical/canonical-request.ts'
import { type JsonObject, objectsOf } from '#relay/canonical/json-values.ts'
import { NO_OPENAI_MEMBERS } from '#relay/conversion/members-of-openai-only.ts'
import {
  type ChatExtensions,
  COMPATIBLE,
  chatExtensionsOf,
  OPEN_ROUTER,
  OPENAI,
} from '#relay/conversion/openai-chat/chat-extensions-of-provider.ts'
import { readRequest } from '#relay/conversion/openai-chat/read-request.ts'
import { writeRequest } from '#relay/conversion/openai-chat/write-request.ts'

const HI: CanonicalMessage = { role: 'user', parts: [{ kind: 'text', text: 'hi' }] }
const { value: EMPTY } = readRequest({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })

const write = (request: Partial<CanonicalRequest>, vendor: ChatExtensions = OPENAI) =>
  writeRequest({ ...EMPTY, ...request }, vendor)
const messagesOf = (messages: readonly CanonicalMessage[], vendor = OPENAI) => {
  const { value, losses } = write({ messages }, vendor)
  return { messages: value.messages as readonly JsonObject[], losses }
}
const result = (callId: string, ...parts: ContentPart[]): ToolResultPart => ({
  ...{ kind: 'tool-result', callId, name: 'f', parts, isError: false },
})
const text = (words: string): ContentPart => ({ kind: 'text', text: words })
const IMAGE: ContentPart = { kind: 'image', source: { kind: 'url', url: 'https://a.b/c.png' } }
const PNG = { kind: 'base64', mediaType: 'image/png', data: 'QUJD' } as const

describe('writing a chat request', () => {
  it('contains nothing that the request leaves open', () => {
    expect(write({})).toEqual({
      losses: [],
      value: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
    })
  })

  it('replaces identifiers and keys that are too long, always in the same way', () => {
    const long = {
      ...{ endUser: `user_${'a'.repeat(100)}`, promptCacheKey: 'k'.repeat(65) },
      openAi: { ...NO_OPENAI_MEMBERS, safetyIdentifier: 's'.repeat(65) },
    }
    const { value, losses } = write(long)
    expect(value).toMatchObject({
      user: expect.stringMatching(/^[0-9a-f]{40}$/),
      prompt_cache_key: expect.stringMatching(/^[0-9a-f]{40}$/),
      safety_identifier: expect.stringMatching(/^[0-9a-f]{40}$/),
    })
    expect(losses).toEqual([])
    expect(write(long).value).toEqual(value)
    expect(write({ endUser: 'a'.repeat(64) }).value.user).toBe('a'.repeat(64))
  })

  it('asks for the usage of a stream', () => {
    expect(write({ isStream: true }).value).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    })
    const { value } = write({ isStream: true }, { ...OPENAI, hasStreamOptions: false })
    expect(value).not.toHaveProperty('stream_options')
  })

  describe('for OpenAI’s own models', () => {
    const AZURE = chatExtensionsOf(3)
    const sampling = {
      ...EMPTY.sampling,
      ...{ temperature: 0.2, topP: 0.5, presencePenalty: 0.5, frequencyPenalty: 0, stop: ['x'] },
    }
    const SAMPLING = ['temperature', 'top_p', 'presence_penalty', 'stop', 'logprobs']
    const LOST = ['temperature', 'topP', 'presencePenalty', 'stop'].map(
      (name) => `sampling.${name}`,
    )

    it.each([
      ['gpt-5', 'minimal', ['thinking (off)']],
      ['openai/o3', 'low', ['thinking (off)']],
      ['gpt-5.1', 'none', []],
      ['gpt-4o', undefined, []],
      ['gpt-9', 'none', []],
    ])('turns thinking off for %s as far as the model can', (model, effort, losses) => {
      for (const vendor of [OPENAI, AZURE]) {
        const written = write({ model, thinking: { kind: 'off' } }, vendor)
        expect([written.value.reasoning_effort, written.losses]).toEqual([effort, losses])
      }
      const { value } = write({ model, thinking: { kind: 'off' } }, COMPATIBLE)
      expect(value.reasoning_effort).toBe('none')
    })

    it('sends no effort to models that do not reason', () => {
      for (const thinking of [
        { kind: 'budget', tokens: 9_000 },
        { kind: 'effort', effort: 'high' },
      ] as const) {
        const { value, losses } = write({ model: 'gpt-4.1', thinking, sampling }, OPENAI)
        expect(value).not.toHaveProperty('reasoning_effort')
        expect(value).toMatchObject({ temperature: 0.2, stop: ['x'] })
        expect(losses).toEqual(['thinking'])
      }
    })

    it.each(['gpt-5', 'o4-mini', 'gpt-5-mini'])('sends no sampling to %s', (model) => {
      for (const vendor of [OPENAI, AZURE]) {
        const { value, losses } = write({ model, sampling, logprobs: 2 }, vendor)
        for (const name of SAMPLING) expect(value).not.toHaveProperty(name)
        expect(losses).toEqual([...LOST, 'logprobs'])
      }
      const { value } = write({ model, sampling, logprobs: 2 }, COMPATIBLE)
      for (const name of SAMPLING) expect(value).toHaveProperty(name)
    })

    it('leaves out the default sampling of models that reason without a loss', () => {
      const usual = { ...EMPTY.sampling, temperature: 1, topP: 1 }
      expect(write({ model: 'gpt-5', sampling: usual })).toMatchObject({ losses: [] })
    })

    it('sends sampling to models that do not reason by default', () => {
      const { value, losses } = write({ model: 'gpt-5.1', sampling })
      expect([value.temperature, losses]).toEqual([0.2, []])
      const thinking = { kind: 'effort', effort: 'high' } as const
      expect(write({ model: 'gpt-5.1', sampling, thinking }).losses).toEqual(LOST)
    })
  })

  it('names the output limit as the vendor does', () => {
    expect(write({ outputTokensMax: 5 }).value).toHaveProperty('max_completion_tokens', 5)
    expect(write({ outputTokensMax: 5 }, COMPATIBLE).value).toHaveProperty('max_tokens', 5)
  })

  it('puts the results of tools directly behind the calls, in front of all other parts', () => {
    const { messages, losses } = messagesOf([
      { role: 'user', parts: [text('before'), result('a', text('A'))] },
      { role: 'user', parts: [result('b', text('B'), IMAGE), text('after')] },
      { role: 'assistant', parts: [text('fine')] },
    ])
    expect(losses).toEqual([])
    expect(messages).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'A' },
      { role: 'tool', tool_call_id: 'b', content: 'B' },
      { role: 'user', content: 'before' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'The result of the tool call b:' },
          { type: 'image_url', image_url: { url: 'https://a.b/c.png' } },
          { type: 'text', text: 'after' },
        ],
      },
      { role: 'assistant', content: 'fine' },
    ])
  })

  it('says where a result without a text is', () => {
    const { messages } = messagesOf([{ role: 'user', parts: [result('a', IMAGE)] }])
    expect(messages[0]?.content).toBe('The result is in the next message of the user.')
    expect(messages).toHaveLength(2)
    const direct = messagesOf([{ role: 'user', parts: [result('a', IMAGE)] }], OPEN_ROUTER)
    expect(direct.messages).toMatchObject([{ role: 'tool', content: [{ type: 'image_url' }] }])
  })

  it('writes empty contents as empty texts', () => {
    const { messages } = messagesOf([
      { role: 'user', parts: [result('a')] },
      { role: 'assistant', parts: [] },
      { role: 'user', parts: [] },
    ])
    expect(messages.map(({ content }) => content)).toEqual(['', '', ''])
  })

  it('replaces ids that are too long, in the call and in its result', () => {
    const id = 'x'.repeat(50)
    const { messages } = messagesOf([
      { role: 'assistant', parts: [{ kind: 'tool-call', id, name: 'f', argumentsJson: '{}' }] },
      { role: 'user', parts: [result(id, text('A'))] },
    ])
    const [call] = objectsOf(messages[0]?.tool_calls)
    expect(call?.id).toMatch(/^.{1,40}$/)
    expect(messages[1]?.tool_call_id).toBe(call?.id)
  })

  it('names everything that OpenAI can’t express', () => {
    const { value, losses } = write({
      system: [{ kind: 'text', text: 'S', cache: '1h' }],
      messages: [
        {
          role: 'assistant',
          parts: [
            { kind: 'thinking', text: 'hm', signature: 's' },
            { kind: 'tool-call', id: 'a', name: 'f', argumentsJson: '{}', signature: 'g' },
            IMAGE,
          ],
        },
        {
          role: 'user',
          parts: [
            { ...result('a', text('A')), isError: true, cache: '5m' },
            { kind: 'audio', mediaType: 'audio/ogg', data: 'QUJD' },
            { kind: 'document', source: { kind: 'url', url: 'https://a.b/c.pdf' } },
            { kind: 'image', source: { kind: 'file-id', id: 'file-1' } },
            text('ok'),
          ],
        },
      ],
      tools: [{ name: 'f', description: '', schema: {}, isStrict: null, cache: '5m' }],
      sampling: { ...EMPTY.sampling, topK: 4, stop: ['1', '2', '3', '4', '5'] },
      thinking: { kind: 'budget', tokens: 9000 },
    })
    expect(losses).toEqual([
      'system[0].cache',
      'messages[0].parts[1].signature',
      'messages[0].parts[2] (image)',
      'messages[0].parts[0] (thinking)',
      'messages[1].parts[0].isError',
      'messages[1].parts[0].cache',
      'messages[1].parts[1] (audio)',
      'messages[1].parts[2] (document)',
      'messages[1].parts[3] (image)',
      'thinking.tokens',
      'tools[0].cache',
      'sampling.topK',
      'sampling.stop[4]',
    ])
    expect(value).toMatchObject({ stop: ['1', '2', '3', '4'], reasoning_effort: 'medium' })
    expect(JSON.stringify(value)).not.toMatch(/cache|thought|top_k/)
  })

  it('omits the choice of a tool in a request without tools', () => {
    const { value, losses } = write({ toolChoice: { kind: 'auto' }, allowsParallelCalls: true })
    expect(value).toEqual({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
    expect(losses).toEqual([])
    expect(write({ toolChoice: { kind: 'required' } }).losses).toEqual(['toolChoice'])
  })

  it('joins texts for vendors that accept no lists', () => {
    const system = [text('A'), text('B')]
    const { value } = write({ system, messages: [HI] }, COMPATIBLE)
    expect(value.messages).toEqual([
      { role: 'system', content: 'A\n\nB' },
      { role: 'user', content: 'hi' },
    ])
  })

  it('returns thinking to vendors without signatures as a text', () => {
    const parts: ContentPart[] = [
      { kind: 'thinking', text: 'hm', signature: 's' },
      { kind: 'thinking', text: '', redacted: 'r' },
      text('x'),
    ]
    const { messages, losses } = messagesOf([{ role: 'assistant', parts }], COMPATIBLE)
    expect(messages).toEqual([{ role: 'assistant', content: 'x', reasoning_content: 'hm' }])
    expect(losses).toEqual(['messages[0].parts[0].signature', 'messages[0].parts[1] (thinking)'])
  })

  it('names the files that OpenAI gets as content', () => {
    const document: ContentPart = {
      kind: 'document',
      source: { ...PNG, mediaType: 'application/pdf' },
    }
    const note: ContentPart = { kind: 'document', source: { kind: 'text', text: 'note' } }
    const { messages } = messagesOf([{ role: 'user', parts: [document, note] }])
    expect(messages[0]?.content).toEqual([
      {
        type: 'file',
        file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,QUJD' },
      },
      { type: 'text', text: 'note' },
    ])
  })

  it('mentions JSON where a request for JSON does not', () => {
    const { value } = write({ answerFormat: { kind: 'json' } })
    expect(value.messages).toEqual([
      { role: 'system', content: 'Answer in JSON.' },
      { role: 'user', content: 'hi' },
    ])
    expect(value.response_format).toEqual({ type: 'json_object' })
    const system = [text('Use json.')]
    expect(write({ system, answerFormat: { kind: 'json' } }).value.messages).toHaveLength(2)
  })

  it('gives a JSON schema a name that OpenAI accepts', () => {
    const format = { kind: 'schema', schema: {}, isStrict: null } as const
    const nameOf = (name: string) =>
      write({ answerFormat: { ...format, name } }).value.response_format
    expect(nameOf('my schema.v1')).toEqual({
      type: 'json_schema',
      json_schema: { name: 'my_schema_v1', schema: {} },
    })
    expect(nameOf('')).toMatchObject({ json_schema: { name: 'answer' } })
  })

  it.each([
    ['reasoning_effort', { kind: 'off' }, { reasoning_effort: 'none' }, []],
    ['reasoning_effort', { kind: 'adaptive' }, {}, []],
    [
      'reasoning_effort',
      { kind: 'budget', tokens: 100 },
      { reasoning_effort: 'low' },
      ['thinking.tokens'],
    ],
    [
      'reasoning_effort',
      { kind: 'budget', tokens: 99_999 },
      { reasoning_effort: 'high' },
      ['thinking.tokens'],
    ],
    ['reasoning', { kind: 'off' }, { reasoning: { enabled: false } }, []],
    ['reasoning', { kind: 'effort', effort: 'low' }, { reasoning: { effort: 'low' } }, []],
    ['thinking', { kind: 'off' }, { thinking: { type: 'disabled' } }, []],
    [
      'thinking',
      { kind: 'effort', effort: 'low' },
      { thinking: { type: 'enabled' } },
      ['thinking.effort'],
    ],
    [
      'enable_thinking',
      { kind: 'budget', tokens: 700 },
      { enable_thinking: true, thinking_budget: 700 },
      [],
    ],
    [
      'enable_thinking',
      { kind: 'budget', tokens: 7 },
      { enable_thinking: true, thinking_budget: 128 },
      ['thinking.tokens'],
    ],
    [
      'enable_thinking',
      { kind: 'effort', effort: 'medium' },
      { enable_thinking: true, thinking_budget: 8_192 },
      [],
    ],
    [
      'enable_thinking',
      { kind: 'adaptive' },
      { enable_thinking: true, thinking_budget: 32_768 },
      [],
    ],
    ['enable_thinking: false', { kind: 'off' }, { enable_thinking: false }, []],
    ['enable_thinking: false', { kind: 'adaptive' }, { enable_thinking: false }, ['thinking']],
    ['enable_thinking', { kind: 'off' }, { enable_thinking: false }, []],
    [null, { kind: 'off' }, {}, ['thinking']],
  ] as const)('controls thinking by %s: %j', (thinkingControl, thinking, members, lost) => {
    const { value, losses } = write({ thinking }, { ...OPENAI, thinkingControl })
    const { model: _, messages: __, ...rest } = value
    expect([rest, losses]).toEqual([members, lost])
  })
})
