import { describe, expect, it } from 'vitest'
import type {
  CanonicalMessage,
  CanonicalRequest,
  ContentPart,
  Thinking,
} from '#relay/canonical/canonical-request.ts'
import { writeRequest } from '#relay/conversion/gemini/write-request.ts'
import { BODY, EMPTY_REQUEST, GEMINI_2, GEMINI_3, HI } from './requests.ts'

const write = (request: Partial<CanonicalRequest>) =>
  writeRequest({ ...EMPTY_REQUEST, ...request }, BODY)
const text = (value: string): ContentPart => ({ kind: 'text', text: value })
const user = (...parts: ContentPart[]): CanonicalMessage => ({ role: 'user', parts })
const assistant = (...parts: ContentPart[]): CanonicalMessage => ({ role: 'assistant', parts })
const call = (id: string, name = 'f', argumentsJson = '{}'): ContentPart => ({
  kind: 'tool-call',
  id,
  name,
  argumentsJson,
})
const result = (callId: string, ...parts: ContentPart[]): ContentPart => ({
  kind: 'tool-result',
  callId,
  name: '',
  parts,
  isError: false,
})
const IMAGE: ContentPart = {
  kind: 'image',
  source: { kind: 'base64', mediaType: 'image/png', data: 'aQ==' },
}
const INLINE = { inlineData: { mimeType: 'image/png', data: 'aQ==' } }
const SKIP = 'skip_thought_signature_validator'

describe('the conversation for Gemini', () => {
  it('has the pictures of earlier answers as pictures, but no pictures of a user’s text', () => {
    const data = 'aQ0b'.repeat(6_000)
    const picture = `![image](data:image/png;base64,${data})`
    const messages = [
      user(text(picture)),
      assistant(text(`Here:\n${picture}\n${picture} Done.`)),
      user(text('Again')),
      assistant(text(picture), text('![image](https://a.example/x.png)')),
    ]
    for (const [model, sign] of [
      [GEMINI_2, {}],
      [GEMINI_3, { thoughtSignature: SKIP }],
    ] as const) {
      const { value } = write({ model, messages })
      const drawn = { inlineData: { mimeType: 'image/png', data }, ...sign }
      expect(value.contents).toEqual([
        { role: 'user', parts: [{ text: picture }] },
        { role: 'model', parts: [{ text: 'Here:\n' }, drawn, drawn, { text: ' Done.' }] },
        { role: 'user', parts: [{ text: 'Again' }] },
        { role: 'model', parts: [drawn, { text: '![image](https://a.example/x.png)' }] },
      ])
    }
  })

  it('has small pictures of earlier answers as text, because their text holds too little', () => {
    const small = `![image](data:image/webp;base64,${'aQ0b'.repeat(10)})`
    const large = `![image](data:image/webp;base64,${'aQ0b'.repeat(6_000)})`
    const answer = `${small}${large}${small.repeat(900)}`
    const { value, losses } = write({ messages: [user(text('Draw')), assistant(text(answer))] })
    const data = 'aQ0b'.repeat(6_000)
    const parts = [{ text: small }, { inlineData: { mimeType: 'image/webp', data } }]
    expect(value.contents).toMatchObject([{}, { parts: [...parts, { text: small.repeat(900) }] }])
    expect(losses).toEqual(['messages[1].parts[0] (small pictures as text)'])
  })

  it('has alternating roles, and results before the texts that came with them', () => {
    const { value, losses } = write({
      model: GEMINI_2,
      messages: [
        user(text('a')),
        user(text('b')),
        assistant(text('c')),
        assistant(call('t1', 'f', '{"x":1}'), call('t2', 'g')),
        user(text('reminder'), result('t2', text('2')), result('t1', text('1'), text('more'))),
        { role: 'system', parts: [text('d')] },
        user(text('e')),
      ],
    })
    expect(value.contents).toEqual([
      { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
      {
        role: 'model',
        parts: [
          { text: 'c' },
          { functionCall: { name: 'f', args: { x: 1 } } },
          { functionCall: { name: 'g', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'f', response: { output: '1\nmore' } } },
          { functionResponse: { name: 'g', response: { output: '2' } } },
        ],
      },
      { role: 'user', parts: [{ text: 'reminder' }, { text: 'd' }, { text: 'e' }] },
    ])
    expect(losses).toEqual(['messages[5] (system)'])
  })

  it('has ids and a signature for the first call in Gemini 3', () => {
    const messages = [
      user(text('a')),
      assistant(call('toolu_1'), call('toolu_2')),
      user(result('toolu_1'), result('toolu_2')),
    ]
    expect(write({ messages }).value.contents).toEqual([
      { role: 'user', parts: [{ text: 'a' }] },
      {
        role: 'model',
        parts: [
          { functionCall: { id: 'toolu_1', name: 'f', args: {} }, thoughtSignature: SKIP },
          { functionCall: { id: 'toolu_2', name: 'f', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'toolu_1', name: 'f', response: { output: '' } } },
          { functionResponse: { id: 'toolu_2', name: 'f', response: { output: '' } } },
        ],
      },
    ])
    const madeUp = [
      user(text('a')),
      assistant(call('gemini_call_x')),
      user(result('gemini_call_x')),
    ]
    expect(JSON.stringify(write({ messages: madeUp }).value)).not.toContain('gemini_call_x')
  })

  it('has media in the results of Gemini 3, and after the results of older models', () => {
    const url: ContentPart = { kind: 'image', source: { kind: 'url', url: 'https://a.org/b.png' } }
    const messages = [
      user(text('a')),
      assistant(call('c')),
      user(result('c', IMAGE, text('t'), url)),
    ]
    const file = { fileData: { mimeType: 'image/png', fileUri: 'https://a.org/b.png' } }
    const functionResponse = { name: 'f', response: { output: 't' } }
    expect(write({ messages }).value.contents).toMatchObject([
      {},
      {},
      { parts: [{ functionResponse: { ...functionResponse, id: 'c', parts: [INLINE] } }] },
      { role: 'user', parts: [file] },
    ])
    expect(write({ messages, model: GEMINI_2 }).value.contents).toMatchObject([
      {},
      {},
      { parts: [{ functionResponse }] },
      { role: 'user', parts: [INLINE, file] },
    ])
  })

  it('keeps the exact text of a result', () => {
    const responseOf = (output: string, isError = false) => {
      const part = { ...result('c', text(output)), isError } as ContentPart
      const { contents } = write({ messages: [user(part)] }).value
      return JSON.parse(JSON.stringify(contents))[0].parts[0].functionResponse.response
    }
    expect(responseOf('{"a":1}')).toEqual({ a: 1 })
    expect(responseOf('{"a":1}', true)).toEqual({ error: '{"a":1}' })
    for (const exact of ['{ "a": 1 }', '{"a":1.0}', '{"output":1}', '{"error":1}', '[1]', '{"a"']) {
      expect(responseOf(exact)).toEqual({ output: exact })
    }
  })

  it('never sends a signature that another provider made', () => {
    const { value, losses } = write({
      messages: [
        user(text('a')),
        assistant(
          { kind: 'thinking', text: 'of Claude', signature: 'abc' },
          { kind: 'thinking', text: '', redacted: 'data' },
          { kind: 'thinking', text: 'of Gemini', signature: 'gemini:c2ln' },
          { kind: 'thinking', text: '' },
          text(''),
          text('b'),
        ),
      ],
    })
    expect(value.contents).toEqual([
      { role: 'user', parts: [{ text: 'a' }] },
      {
        role: 'model',
        parts: [
          { text: 'of Claude', thought: true },
          { text: 'of Gemini', thought: true, thoughtSignature: 'c2ln' },
          { text: 'b' },
        ],
      },
    ])
    expect(losses).toEqual(['messages[1].parts[0].signature', 'messages[1].parts[1].redacted'])
  })

  it('is never empty and never begins with a call', () => {
    const system = [text('s')]
    expect(write({ system, messages: [] })).toEqual({
      value: { contents: [{ role: 'user', parts: [{ text: 's' }] }] },
      losses: ['system (as a user message)'],
    })
    const { value } = write({ system, messages: [assistant(call('c')), user(result('c'))] })
    expect(value).toMatchObject({
      systemInstruction: { parts: [{ text: 's' }] },
      contents: [{ role: 'user', parts: [{ text: ' ' }] }, { role: 'model' }, { role: 'user' }],
    })
    expect(write({ messages: [] }).value).toEqual({ contents: [] })
  })

  it('has files as data, addresses or texts', () => {
    const parts: ContentPart[] = [
      { kind: 'image', source: { kind: 'url', url: 'data:image/webp;base64,aQ==' }, detail: 'low' },
      { kind: 'image', source: { kind: 'url', url: 'https://a.org/image?x=.png' }, cache: '5m' },
      { kind: 'document', source: { kind: 'text', text: 'A text' }, name: 'a.txt' },
      { kind: 'document', source: { kind: 'file-id', id: 'gs://b/c' } },
      { kind: 'audio', mediaType: 'audio/wav', data: 'dw==' },
    ]
    expect(write({ messages: [user(...parts)] })).toMatchObject({
      value: {
        contents: [
          {
            parts: [
              { inlineData: { mimeType: 'image/webp', data: 'aQ==' } },
              { fileData: { mimeType: 'image/jpeg', fileUri: 'https://a.org/image?x=.png' } },
              { text: 'A text' },
              { fileData: { fileUri: 'gs://b/c' } },
              { inlineData: { mimeType: 'audio/wav', data: 'dw==' } },
            ],
          },
        ],
      },
      losses: [
        'messages[0].parts[0].detail',
        'messages[0].parts[1].cache',
        'messages[0].parts[2].name',
      ],
    })
  })

  it('has an empty object for arguments that are no object', () => {
    const messages = [user(text('a')), assistant(call('c', 'f', '[1]'), call('d', 'f', ''))]
    const { value, losses } = write({ messages, model: GEMINI_2 })
    const empty = { functionCall: { name: 'f', args: {} } }
    expect(value.contents).toMatchObject([{}, { parts: [empty, empty] }])
    expect(losses).toEqual(['messages[1].parts[0].argumentsJson'])
  })
})

describe('the options for Gemini', () => {
  const tool = { name: 'f', description: '', schema: { type: 'object' }, isStrict: null }

  it('name what Gemini can’t express', () => {
    const { losses } = write({
      system: [{ kind: 'text', text: 's', cache: '1h' }, IMAGE],
      tools: [{ ...tool, cache: '5m', isStrict: true }],
      toolChoice: { kind: 'required' },
      allowsParallelCalls: false,
      endUser: 'u',
      promptCacheKey: 'k',
      logprobs: 30,
      sampling: { ...EMPTY_REQUEST.sampling, stop: [...'abcdef'], seed: 2 ** 40 },
    })
    expect(losses.toSorted()).toEqual([
      'allowsParallelCalls',
      'endUser',
      'logprobs',
      'promptCacheKey',
      'sampling.seed',
      'sampling.stop',
      'system[0].cache',
      'system[1] (image)',
      'tools[0].cache',
      'tools[0].isStrict',
    ])
  })

  it('choose functions only if there are any', () => {
    expect(write({ toolChoice: { kind: 'tool', name: 'f' } })).toEqual({
      value: { contents: HI },
      losses: ['toolChoice'],
    })
    expect(write({ toolChoice: { kind: 'none' }, tools: [tool] }).value).toMatchObject({
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
      toolConfig: { functionCallingConfig: { mode: 'NONE' } },
    })
  })

  it('leave out a JSON answer beside functions in older models', () => {
    const request = { tools: [tool], answerFormat: { kind: 'json' } } as const
    expect(write({ ...request, model: GEMINI_2 }).losses).toEqual(['answerFormat'])
    expect(write(request)).toMatchObject({
      value: { generationConfig: { responseMimeType: 'application/json' } },
      losses: [],
    })
  })

  const effort = (value: 'minimal' | 'medium' | 'max'): Thinking => ({
    kind: 'effort',
    effort: value,
  })
  it.each<[string, Thinking, object | undefined, string[]]>([
    [GEMINI_3, { kind: 'off' }, { thinkingLevel: 'MINIMAL' }, ['thinking (off)']],
    ['gemini-3-pro', { kind: 'off' }, { thinkingLevel: 'LOW' }, ['thinking (off)']],
    [GEMINI_3, effort('max'), { thinkingLevel: 'HIGH' }, ['thinking.effort (max)']],
    ['gemini-3-pro', effort('medium'), { thinkingLevel: 'HIGH' }, ['thinking.effort (medium)']],
    [
      'gemini-pro-latest',
      effort('minimal'),
      { thinkingLevel: 'LOW' },
      ['thinking.effort (minimal)'],
    ],
    [GEMINI_2, effort('medium'), { thinkingBudget: 8192 }, []],
    [GEMINI_2, effort('max'), { thinkingBudget: 24_576 }, []],
    ['gemini-2.5-pro', effort('max'), { thinkingBudget: 32_768 }, []],
    ['gemini-2.5-pro', { kind: 'off' }, { thinkingBudget: 128 }, ['thinking (off)']],
    [GEMINI_2, { kind: 'budget', tokens: 31_999 }, { thinkingBudget: 24_576 }, ['thinking.tokens']],
    [GEMINI_2, { kind: 'adaptive' }, { thinkingBudget: -1 }, []],
    ['gemini-2.0-flash', { kind: 'off' }, undefined, []],
    ['gemini-2.0-flash', { kind: 'adaptive' }, undefined, ['thinking']],
  ])('limit the thinking of %s to what it allows: %j', (model, thinking, config, losses) => {
    const written = write({ model, thinking })
    const { generationConfig } = written.value as { generationConfig?: { thinkingConfig: object } }
    if (config === undefined) expect(generationConfig).toBeUndefined()
    else expect(generationConfig?.thinkingConfig).toMatchObject(config)
    expect(written.losses).toEqual(losses)
  })
})
