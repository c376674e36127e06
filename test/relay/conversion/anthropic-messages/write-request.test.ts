import { describe, expect, it } from 'vitest'
import type {
  CanonicalMessage,
  CanonicalRequest,
  ContentPart,
} from '#relay/canonical/canonical-request.ts'
import { writeRequest } from '#relay/conversion/anthropic-messages/write-request.ts'
import { canonicalRequest, textPart } from './canonical-values.ts'

const write = (members: Partial<CanonicalRequest>, max: number | null = null) =>
  writeRequest(canonicalRequest(members), { default: 4096, max })

const message = (role: CanonicalMessage['role'], ...parts: ContentPart[]): CanonicalMessage => ({
  role,
  parts,
})
const call = (id: string, argumentsJson = '{}'): ContentPart => ({
  kind: 'tool-call',
  id,
  name: 'look_up',
  argumentsJson,
})
const result = (callId: string, ...parts: ContentPart[]): ContentPart => ({
  kind: 'tool-result',
  callId,
  name: 'look_up',
  parts,
  isError: false,
})
const toolUse = (id: string, input: unknown = {}) => ({
  type: 'tool_use',
  id,
  name: 'look_up',
  input,
})
const text = (value: string) => ({ type: 'text', text: value })

describe('writing a conversation', () => {
  it('has the default output limit if the request has none', () => {
    expect(write({ outputTokensMax: null }).value.max_tokens).toBe(4096)
    expect(write({ outputTokensMax: 7 }).value.max_tokens).toBe(7)
  })

  it('replaces the identifier of an end user that is too long', () => {
    const userIdOf = (endUser: string) => write({ endUser }).value.metadata
    expect(userIdOf('u'.repeat(256))).toEqual({ user_id: 'u'.repeat(256) })
    expect(userIdOf('u'.repeat(257))).toEqual({ user_id: expect.stringMatching(/^[0-9a-f]{40}$/) })
  })

  it('lowers the output limit to the highest one, and fits the thinking below it', () => {
    const thinking = { kind: 'budget' as const, tokens: 5000 }
    expect(write({ outputTokensMax: 8000, thinking }, 2000).value).toMatchObject({
      max_tokens: 2000,
      thinking: { type: 'enabled', budget_tokens: 1900 },
    })
    expect(write({ outputTokensMax: null }, 2000).value.max_tokens).toBe(2000)
    expect(write({ outputTokensMax: 1500 }, 2000).value.max_tokens).toBe(1500)
  })

  it('merges neighbours of one role, and puts tool results first', () => {
    const { value, losses } = write({
      messages: [
        message('user', textPart('a')),
        message('user', textPart('b')),
        message('assistant', call('x')),
        message('assistant', call('y')),
        message('user', textPart('c'), result('x')),
        message('user', result('y', textPart('ok'))),
      ],
    })
    expect(value.messages).toEqual([
      { role: 'user', content: [text('a'), text('b')] },
      { role: 'assistant', content: [toolUse('x'), toolUse('y')] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'x' },
          { type: 'tool_result', tool_use_id: 'y', content: 'ok' },
          text('c'),
        ],
      },
    ])
    expect(losses).toEqual([])
  })

  it('leaves out blank texts and messages without content', () => {
    const { value, losses } = write({
      system: [textPart(' ')],
      messages: [
        message('user', textPart('a'), textPart('\n')),
        message('assistant', textPart('')),
        message('user', textPart('b')),
      ],
    })
    expect(value.messages).toEqual([{ role: 'user', content: [text('a'), text('b')] }])
    expect(value).not.toHaveProperty('system')
    expect(losses).toEqual([])
  })

  it('has no white space at the end of an answer that the model is asked to continue', () => {
    const messages = [message('user', textPart('a')), message('assistant', textPart('So, \n'))]
    expect(write({ messages }).value.messages).toContainEqual({ role: 'assistant', content: 'So,' })
  })

  it('begins with a message of the user', () => {
    const { value, losses } = write({ messages: [message('assistant', textPart('Hello'))] })
    expect(value.messages).toEqual([
      { role: 'user', content: '.' },
      { role: 'assistant', content: 'Hello' },
    ])
    expect(losses).toEqual(['messages[0] (assistant first)'])
  })

  it('turns instructions without messages into a message of the user', () => {
    const { value, losses } = write({ system: [textPart('Tell a joke.')], messages: [] })
    expect(value).toMatchObject({ messages: [{ role: 'user', content: 'Tell a joke.' }] })
    expect(value).not.toHaveProperty('system')
    expect(losses).toEqual(['system (role)'])
  })

  it('is refused without any content', () => {
    expect(write({ messages: [message('user', textPart(''))] }).value.messages).toEqual([])
  })

  it('moves instructions before the first message to the other instructions', () => {
    const messages = [message('system', textPart('b')), message('user', textPart('hi'))]
    expect(write({ system: [textPart('a')], messages })).toMatchObject({
      value: { system: [text('a'), text('b')], messages: [{ role: 'user' }] },
      losses: [],
    })
  })
})

describe('writing instructions within the conversation', () => {
  const between = [
    message('user', textPart('a')),
    message('system', textPart('In French.')),
    message('system', textPart('In short.')),
    message('assistant', textPart('b')),
    message('system', textPart('In German.')),
    message('user', textPart('c')),
  ]

  it('keeps their role where the model and the place allow it', () => {
    const { value, losses } = write({ model: 'claude-opus-4-8', messages: between })
    expect(value.messages).toEqual([
      { role: 'user', content: 'a' },
      { role: 'system', content: [text('In French.'), text('In short.')] },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: [text('In German.'), text('c')] },
    ])
    expect(losses).toEqual(['messages[4].role (system)'])
  })

  it.each([
    'claude-sonnet-4-5',
    'anthropic.claude-opus-4-8-v1:0',
    'claude-opus-5@20260724',
    'kimi',
  ])('makes them part of the messages of the user for %s', (model) => {
    const { value, losses } = write({ model, messages: between })
    expect(value.messages).toEqual([
      { role: 'user', content: [text('a'), text('In French.'), text('In short.')] },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: [text('In German.'), text('c')] },
    ])
    expect(losses).toEqual([1, 2, 4].map((index) => `messages[${index}].role (system)`))
  })

  it('does not separate tool results from their calls', () => {
    const { value } = write({
      model: 'claude-opus-4-8',
      messages: [
        message('user', textPart('a')),
        message('assistant', call('x')),
        message('system', textPart('Hurry.')),
        message('user', result('x')),
      ],
    })
    expect(value.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'user', content: [{ type: 'tool_result' }, text('Hurry.')] },
    ])
  })
})

describe('writing tool calls', () => {
  const messagesWith = (...ids: string[]) =>
    ids.flatMap((id) => [message('assistant', call(id)), message('user', result(id))])

  it('makes ids allowed and unique, and leads results to their calls', () => {
    const messages = messagesWith('functions.a:0', 'functions_a_0', 'call_0', 'call_0', '')
    const written = write({ messages: [message('user', textPart('a')), ...messages] }).value
    const blocks = (written.messages as { content: { id?: string; tool_use_id?: string }[] }[])
      .slice(1)
      .map(({ content: [block] }) => block?.id ?? block?.tool_use_id)
    expect(blocks).toEqual([
      ...['functions_a_0', 'functions_a_0', 'functions_a_0_2', 'functions_a_0_2'],
      ...['call_0', 'call_0', 'call_0_2', 'call_0_2', 'call', 'call'],
    ])
  })

  it.each([
    ['', {}, false],
    ['{"a":1}', { a: 1 }, false],
    ['{"a":', { INVALID_JSON: '{"a":' }, true],
    ['[1]', { INVALID_JSON: '[1]' }, true],
  ])('writes the arguments %o', (json, input, isLoss) => {
    const { value, losses } = write({
      messages: [message('user', textPart('a')), message('assistant', call('x', json))],
    })
    expect(value.messages).toContainEqual({ role: 'assistant', content: [toolUse('x', input)] })
    expect(losses).toEqual(isLoss ? ['messages[1].parts[0].argumentsJson'] : [])
  })

  const image: ContentPart = { kind: 'image', source: { kind: 'file-id', id: 'f' } }
  it.each<[string, ContentPart[], object, string[]]>([
    ['no content', [], { content: 'Error', is_error: true }, []],
    ['a text', [textPart('No.')], { content: 'No.', is_error: true }, []],
    [
      'an image',
      [image],
      { content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] },
      ['messages[1].parts[0].isError'],
    ],
  ])('writes an error with %s', (_, parts, members, losses) => {
    const error = { ...result('x', ...parts), isError: true } as ContentPart
    const messages = [message('assistant', call('x')), message('user', error)]
    const written = write({ messages })
    expect(written.value.messages).toContainEqual({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'x', ...members }],
    })
    expect(written.losses).toEqual([...losses, 'messages[0] (assistant first)'])
  })

  it('gives a schema without a type the type object', () => {
    const tool = { name: 't', description: '', schema: {}, isStrict: false }
    expect(write({ tools: [tool] }).value.tools).toEqual([
      { name: 't', input_schema: { type: 'object' } },
    ])
  })

  it('has no choice of tools without tools', () => {
    const { value, losses } = write({
      toolChoice: { kind: 'required' },
      allowsParallelCalls: false,
    })
    expect(value).not.toHaveProperty('tool_choice')
    expect(losses).toEqual(['toolChoice'])
  })
})

describe('writing parts', () => {
  const writeParts = (role: 'user' | 'assistant', ...parts: ContentPart[]) => {
    const { value, losses } = write({
      messages: [message(role, ...parts), message('user', textPart('.'))],
    })
    return { messages: value.messages, losses }
  }
  const contentOf = (part: ContentPart) => {
    const { messages, losses } = writeParts('user', part)
    expect(losses).toEqual([])
    return (messages as { content: unknown[] }[])[0]?.content[0]
  }

  it('turns data URLs into base64', () => {
    const url = 'data:image/jpg;name=a.jpg;base64,aGk='
    expect(contentOf({ kind: 'image', source: { kind: 'url', url }, detail: 'auto' })).toEqual({
      type: 'image',
      source: { type: 'base64', media_type: 'image/jpeg', data: 'aGk=' },
    })
  })

  it.each([
    [
      'text/csv',
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'hi' } },
    ],
    [
      'image/png',
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
    ],
  ])('writes a document of the type %s in a form that is accepted', (mediaType, block) => {
    const source = { kind: 'base64' as const, mediaType, data: 'aGk=' }
    expect(contentOf({ kind: 'document', source })).toEqual(block)
  })

  it('names the parts that the format lacks', () => {
    const audio: ContentPart = { kind: 'audio', mediaType: 'audio/wav', data: '' }
    const image: ContentPart = {
      kind: 'image',
      source: { kind: 'url', url: 'https://example.com/a.png' },
      detail: 'high',
    }
    const zip: ContentPart = {
      kind: 'document',
      source: { kind: 'base64', mediaType: 'application/zip', data: '' },
    }
    expect(writeParts('user', textPart('a'), audio, image, zip, result('x', audio)).losses).toEqual(
      [
        'messages[0].parts[1] (audio)',
        'messages[0].parts[2].detail',
        'messages[0].parts[3] (document)',
        'messages[0].parts[4].parts[0] (audio)',
      ],
    )
  })

  it('sends no thinking without a signature', () => {
    const parts: ContentPart[] = [{ kind: 'thinking', text: 'hm' }, textPart('a')]
    const { messages, losses } = writeParts('assistant', ...parts)
    expect(messages).toContainEqual({ role: 'assistant', content: 'a' })
    expect(losses).toContain('messages[0].parts[0] (thinking)')
  })

  it('writes a refusal as text', () => {
    const { messages } = writeParts('assistant', { kind: 'refusal', text: 'No.' })
    expect(messages).toContainEqual({ role: 'assistant', content: 'No.' })
  })

  it('keeps the last four cache marks', () => {
    const marked = (value: string): ContentPart => ({ kind: 'text', text: value, cache: '5m' })
    const { value, losses } = write({
      system: [marked('a'), marked('b')],
      messages: [message('user', marked('c'), marked('d'), marked('e'))],
    })
    const mark = { cache_control: { type: 'ephemeral' } }
    expect(value.system).toEqual([text('a'), { ...text('b'), ...mark }])
    expect(value.messages).toEqual([
      { role: 'user', content: ['c', 'd', 'e'].map((one) => ({ ...text(one), ...mark })) },
    ])
    expect(losses).toEqual(['system[0].cache'])
  })
})

describe('losses of writing', () => {
  it('name the members that the format lacks', () => {
    const { losses } = write({
      sampling: {
        ...canonicalRequest({}).sampling,
        choices: 2,
        seed: 0,
        presencePenalty: 1,
        frequencyPenalty: 0,
        stop: [' ', 'END'],
      },
      logprobs: 0,
      promptCacheKey: 'k',
      answerFormat: { kind: 'json' },
    })
    expect(losses).toEqual([
      'sampling.stop[0]',
      'answerFormat (json)',
      'sampling.choices',
      'sampling.seed',
      'sampling.presencePenalty',
      'logprobs',
      'promptCacheKey',
    ])
  })
})
