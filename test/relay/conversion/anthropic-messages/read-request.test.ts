import { describe, expect, it } from 'vitest'
import { ConversionError } from '#relay/canonical/canonical-request.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { readRequest } from '#relay/conversion/anthropic-messages/read-request.ts'

const user = (content: unknown) => ({ role: 'user', content })
const minimal = { model: 'm', max_tokens: 10, messages: [user('hi')] }
const read = (members: JsonObject) => readRequest({ ...minimal, ...members })

function paramOf(members: JsonObject): string | null {
  try {
    read(members)
    return null
  } catch (error) {
    if (error instanceof ConversionError) return error.param
    throw error
  }
}

describe('reading a request', () => {
  it('has no value for what the request does not mention', () => {
    expect(readRequest(minimal)).toEqual({
      value: {
        model: 'm',
        isStream: false,
        system: [],
        messages: [{ role: 'user', parts: [{ kind: 'text', text: 'hi' }] }],
        tools: [],
        toolChoice: null,
        allowsParallelCalls: null,
        outputTokensMax: 10,
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
      losses: [],
    })
  })

  it('finds the name of the tool for a result', () => {
    const call = { type: 'tool_use', id: 'a', name: 'look_up', input: {} }
    const result = (id: string) => ({ type: 'tool_result', tool_use_id: id })
    const messages = [{ role: 'assistant', content: [call] }, user([result('a'), result('b')])]
    const [, answer] = read({ messages }).value.messages
    expect(answer?.parts).toMatchObject([{ name: 'look_up' }, { name: '' }])
  })

  it.each<[JsonObject, unknown]>([
    [{ thinking: { type: 'adaptive' } }, { kind: 'adaptive' }],
    [{ output_config: { effort: 'low' } }, { kind: 'effort', effort: 'low' }],
    [
      { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } },
      { kind: 'effort', effort: 'max' },
    ],
  ])('reads the thinking of %o', (members, thinking) => {
    expect(read(members)).toMatchObject({ value: { thinking }, losses: [] })
  })

  it('keeps the budget of thinking if there is also an effort', () => {
    const thinking = { type: 'enabled', budget_tokens: 2000, display: 'omitted' }
    expect(read({ thinking, output_config: { effort: 'low' } })).toMatchObject({
      value: { thinking: { kind: 'budget', tokens: 2000 } },
      losses: ['thinking.display', 'output_config.effort'],
    })
  })

  it('puts the automatic cache mark on the last part that can be cached', () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: 's' }
    const messages = [user('hi'), { role: 'assistant', content: [thinking] }]
    const { value, losses } = read({ messages, cache_control: { type: 'ephemeral', ttl: '1h' } })
    expect(value.messages[0]?.parts).toEqual([{ kind: 'text', text: 'hi', cache: '1h' }])
    expect(losses).toEqual([])
  })

  it('drops an empty signature, which no provider made', () => {
    const content = [{ type: 'thinking', thinking: 'hm', signature: '' }]
    const { value } = read({ messages: [{ role: 'assistant', content }] })
    expect(value.messages[0]?.parts).toEqual([{ kind: 'thinking', text: 'hm' }])
  })

  it.each(['', [], null, undefined])('reads the content %o as no parts', (content) => {
    expect(read({ messages: [user(content)] }).value.messages).toEqual([
      { role: 'user', parts: [] },
    ])
  })

  it('reads the summary of a compaction, and leaves out what it summarizes', () => {
    const text = (value: string) => ({ kind: 'text', text: value })
    const compaction = (content: string | null) => ({ type: 'compaction', content })
    const call = { type: 'tool_use', id: 'a', name: 'f', input: {} }
    const assistant = (...content: unknown[]) => ({ role: 'assistant', content })
    const before = [user('old'), assistant(call, compaction('1'))]
    const cache_control = { type: 'ephemeral' }
    const last = { ...compaction('SUMMARY'), cache_control }
    const after = [assistant({ type: 'text', text: 'old' }, last, call), user('continue')]
    const { value, losses } = read({ messages: [...before, ...after] })
    expect(value.messages).toMatchObject([
      { parts: [{ ...text('SUMMARY'), cache: '5m' }, { kind: 'tool-call' }] },
      { parts: [text('continue')] },
    ])
    expect(losses).toEqual([])
    const failed = read({ messages: [user('old'), assistant(compaction(null), call)] })
    expect(failed.value.messages).toMatchObject([
      { parts: [text('old')] },
      { parts: [{ kind: 'tool-call' }] },
    ])
    expect(failed.losses).toEqual(['messages[1].content[0]'])
  })

  it('keeps the texts of search results, also within the result of a tool', () => {
    const found = {
      type: 'search_result',
      source: 'https://a.example/warranty',
      title: 'Warranty',
      content: [
        { type: 'text', text: 'Two years.' },
        { type: 'text', text: 'Not for batteries.' },
      ],
      citations: { enabled: true },
      cache_control: { type: 'ephemeral' },
    }
    const text = 'Warranty\n\nTwo years.\n\nNot for batteries.'
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: [found] }
    const { value, losses } = read({ messages: [user([found, result])] })
    const part = { kind: 'text', text, cache: '5m' }
    expect(value.messages[0]?.parts).toMatchObject([part, { kind: 'tool-result', parts: [part] }])
    const paths = ['messages[0].content[0]', 'messages[0].content[1].content[0]']
    expect(losses).toEqual(paths.flatMap((path) => [`${path}.citations`, `${path}.source`]))
  })

  // The text of a result is counted as input only down to a certain depth of the request.
  it.each([
    ['another search result', { type: 'search_result', content: [{ type: 'text', text: 'a' }] }],
    ['an image', { type: 'image', source: { type: 'url', url: 'https://a.example/a.png' } }],
  ])('loses a search result that contains %s as a whole', (_, content) => {
    const plain = { type: 'text', text: 'b' }
    const found = { type: 'search_result', source: 's', title: 't', content: [plain, content] }
    const source = { type: 'content', content: [plain, content] }
    const { value, losses } = read({ messages: [user([found, { type: 'document', source }])] })
    expect(value.messages.flatMap(({ parts }) => parts)).toEqual([])
    expect(losses).toEqual(['messages[0].content[0]', 'messages[0].content[1]'])
  })

  it('names the cache mark of a text within a search result', () => {
    const content = [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }]
    const { value, losses } = read({ messages: [user([{ type: 'search_result', content }])] })
    expect(value.messages[0]?.parts).toEqual([{ kind: 'text', text: 'a' }])
    expect(losses).toEqual(['messages[0].content[0].content[0].cache_control'])
  })

  it('joins the texts of a document that has its content inline', () => {
    const text = (value: string) => ({ type: 'text', text: value })
    const document = (content: unknown) => ({
      type: 'document',
      source: { type: 'content', content },
    })
    const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }
    const { value, losses } = read({
      messages: [user([document('a'), document([text('b'), text('c')]), document([image])])],
    })
    expect(value.messages[0]?.parts).toEqual([
      { kind: 'document', source: { kind: 'text', text: 'a' } },
      { kind: 'document', source: { kind: 'text', text: 'b\n\nc' } },
    ])
    expect(losses).toEqual(['messages[0].content[2]'])
  })
})

describe('losses of reading', () => {
  it.each<[string, JsonObject, string[]]>([
    ['unknown members', { service_tier: 'auto', container: 'c' }, ['service_tier', 'container']],
    ['members of metadata', { metadata: { user_id: 'u', team: 't' } }, ['metadata.team']],
    [
      'tools of the provider',
      { tools: [{ type: 'web_search_20260318', name: 'w' }] },
      ['tools[0]'],
    ],
    [
      'members of tools',
      { tools: [{ name: 't', input_schema: {}, defer_loading: true, type: 'custom' }] },
      ['tools[0].defer_loading'],
    ],
    [
      'blocks without a canonical form',
      { messages: [user([{ type: 'search_result', source: 's', title: 't', content: [] }])] },
      ['messages[0].content[0]'],
    ],
    [
      'citations',
      { messages: [user([{ type: 'text', text: 'a', citations: [{ type: 'page_location' }] }])] },
      ['messages[0].content[0].citations'],
    ],
    [
      'the context of a document',
      {
        messages: [
          user([{ type: 'document', source: { type: 'file', file_id: 'f' }, context: 'c' }]),
        ],
      },
      ['messages[0].content[0].context'],
    ],
    ['thinking between tools only', { thinking: { type: 'between_tools' } }, ['thinking.type']],
    [
      'a choice of a tool that is not converted',
      { tools: [{ type: 'bash_20250124', name: 'bash' }], tool_choice: { type: 'any' } },
      ['tools[0]', 'tool_choice'],
    ],
    [
      'a cache mark without a part',
      { messages: [user('')], cache_control: { type: 'ephemeral' } },
      ['cache_control'],
    ],
  ])('name %s', (_, members, losses) => {
    expect(read(members).losses).toEqual(losses)
  })

  it('do not name null members and the usual caller of a tool', () => {
    const call = { type: 'tool_use', id: 'a', name: 't', input: {}, caller: { type: 'direct' } }
    const messages = [user('hi'), { role: 'assistant', content: [call] }]
    expect(read({ messages, service_tier: null }).losses).toEqual([])
  })
})

describe('a request that can not be read', () => {
  it.each<[string, JsonObject]>([
    ['model', { model: undefined }],
    ['messages', { messages: 'hi' }],
    ['messages', { messages: undefined }],
    ['messages[0]', { messages: ['hi'] }],
    ['messages[0].role', { messages: [{ role: 'tool', content: 'hi' }] }],
    ['messages[0].content', { messages: [user(5)] }],
    ['messages[0].content[0].type', { messages: [user([{ text: 'a' }])] }],
    ['messages[0].content[0].text', { messages: [user([{ type: 'text' }])] }],
    ['messages[0].content[0].source', { messages: [user([{ type: 'image' }])] }],
    [
      'messages[0].content[0].source.media_type',
      { messages: [user([{ type: 'image', source: { type: 'base64', data: '' } }])] },
    ],
    [
      'messages[0].content[0].input',
      { messages: [user([{ type: 'tool_use', id: 'a', name: 'b', input: '{}' }])] },
    ],
    [
      'messages[0].content[0].cache_control',
      { messages: [user([{ type: 'text', text: 'a', cache_control: { type: 'forever' } }])] },
    ],
    [
      'messages[1].content',
      {
        messages: [
          user('a'),
          { role: 'system', content: [{ type: 'image', source: { type: 'url', url: 'u' } }] },
        ],
      },
    ],
    ['system', { system: [{ type: 'image', source: { type: 'url', url: 'u' } }] }],
    ['max_tokens', { max_tokens: -1 }],
    ['max_tokens', { max_tokens: 1.5 }],
    ['max_tokens', { max_tokens: '10' }],
    ['stream', { stream: 'true' }],
    ['temperature', { temperature: '1' }],
    ['stop_sequences[1]', { stop_sequences: ['a', 1] }],
    ['tools[0].input_schema', { tools: [{ name: 't' }] }],
    ['tool_choice.type', { tool_choice: { type: 'some' } }],
    ['thinking.type', { thinking: { type: 'much' } }],
    ['thinking.budget_tokens', { thinking: { type: 'enabled' } }],
    ['output_config.effort', { output_config: { effort: 'huge' } }],
    ['output_config.format.type', { output_config: { format: { type: 'xml' } } }],
    ['metadata', { metadata: 'u' }],
  ])('is refused at %s', (param, members) => {
    expect(paramOf(members)).toBe(param)
  })
})
