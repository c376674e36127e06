import { describe, expect, it } from 'vitest'
import { convertCall } from '#relay/conversion/convert-call.ts'
import { callerPathsOfLosses } from '#relay/conversion/loss-paths-in-caller-format.ts'
import { OPENAI } from '#relay/conversion/openai-chat/chat-extensions-of-provider.ts'
import type { ConvertedFormatName } from '#relay/dialects/wire-format.ts'

const LOSSES = [
  'promptCacheKey',
  'system[0].cache',
  'messages[0].parts[0].cache',
  'messages[1].parts[2].parts[0] (audio)',
  'sampling.topK',
  'sampling.stop[4]',
  'tools[3].schema.properties.cache.$ref',
]

it.each<[ConvertedFormatName, readonly string[]]>([
  [
    'chat',
    [
      'prompt_cache_key',
      'messages[].content[].cache_control',
      'messages[].content[].content[] (audio)',
      'top_k',
      'stop[4]',
      'tools[].function.parameters.properties.cache.$ref',
    ],
  ],
  [
    'messages',
    [
      'prompt_cache_key',
      'system[].cache_control',
      'messages[].content[].cache_control',
      'messages[].content[].content[] (audio)',
      'top_k',
      'stop_sequences[4]',
      'tools[].input_schema.properties.cache.$ref',
    ],
  ],
])('a loss has the name that the format of the caller uses: %s', (format, names) => {
  expect(callerPathsOfLosses(LOSSES, format)).toEqual(names)
})

it('a loss in Gemini’s format is in its configuration or contents', () => {
  expect(
    callerPathsOfLosses(['sampling.topK', 'messages[0] (system)', 'thinking (off)'], 'gemini'),
  ).toEqual([
    'generationConfig.topK',
    'contents[] (system)',
    'generationConfig.thinkingConfig (off)',
  ])
})

it('a loss without a name in the format of the caller is unchanged', () => {
  expect(callerPathsOfLosses(['endUser', 'constructor', ''], 'gemini')).toEqual([
    'endUser',
    'constructor',
    '',
  ])
})

it('a loss with a very long name is translated at once', () => {
  const rest = '.a'.repeat(500_000)
  const [name] = callerPathsOfLosses([`tools[0].schema${rest}`], 'messages')
  expect(name === `tools[].input_schema${rest}`).toBe(true)
})

describe('a loss within a message is named by its place in the request of the caller', () => {
  const cache_control = { type: 'ephemeral' }
  const text = { type: 'text', text: 'Hi.', cache_control }
  const lossesOf = (
    from: ConvertedFormatName,
    body: object,
    format: 'chat' | 'messages' | 'gemini',
  ) =>
    convertCall(
      from,
      Buffer.from(JSON.stringify({ model: 'm', ...body })),
      { model: 'm', isStream: false },
      { format, model: 'm', outputTokensMax: 8, outputTokensCovered: null, vendor: OPENAI },
    ).losses

  it('in Anthropic’s', () => {
    const result = { type: 'tool_result', tool_use_id: 't', content: [text] }
    const messages = [
      { role: 'user', content: 'Hi.' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
      { role: 'user', content: [result, text] },
    ]
    expect(lossesOf('messages', { max_tokens: 8, system: [text], messages }, 'chat')).toEqual([
      'system[0].cache_control',
      'messages[2].content[0].content[0].cache_control',
      'messages[2].content[1].cache_control',
    ])
  })

  it('in OpenAI’s, although results of tools are joined', () => {
    const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '' } })
    const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: [text] })
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi.' },
      { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] },
      result('a'),
      result('b'),
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: [{ type: 'text', text: 'So?' }, text] },
    ]
    expect(lossesOf('chat', { messages }, 'gemini')).toEqual([
      'messages[5] (system)',
      'messages[3].cache_control',
      'messages[4].cache_control',
      'messages[6].content[1].cache_control',
    ])
  })

  it('in the Responses API, although items are joined', () => {
    const thought = (text: string) => ({
      ...{ type: 'reasoning', id: text, summary: [{ type: 'summary_text', text }] },
    })
    const answer = { role: 'assistant', content: 'Hello.' }
    const input = [{ role: 'user', content: 'Hi.' }, thought('a'), answer, thought('b'), answer]
    const body = { input: [...input, { role: 'user', content: 'So?' }] }
    expect(lossesOf('responses', body, 'messages')).toEqual([
      'input[1] (thinking)',
      'input[3] (thinking)',
    ])
  })

  it('in Gemini’s, although contents of the model are joined', () => {
    const model = (...parts: object[]) => ({ role: 'model', parts })
    const thought = { text: 'Hm.', thought: true, thoughtSignature: 'c2ln' }
    const contents = [
      { role: 'user', parts: [{ text: 'Hi.' }] },
      model({ text: 'Hello. ' }),
      model({ text: 'How?' }, thought),
      { role: 'user', parts: [{ text: 'So?' }] },
    ]
    expect(lossesOf('gemini', { contents }, 'chat')).toEqual(['contents[2].parts[1] (thinking)'])
  })
})

it('a loss of the part that a cache mark of the request concerns has the path of the part', () => {
  const image = { type: 'image', source: { type: 'file', file_id: 'f' } }
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'a' }, image] }]
  const cache_control = { type: 'ephemeral' }
  const body = Buffer.from(JSON.stringify({ model: 'm', max_tokens: 9, messages, cache_control }))
  const target = { format: 'chat' as const, model: 'm', outputTokensMax: 9, vendor: OPENAI }
  const { losses } = convertCall('messages', body, { model: 'm', isStream: false }, target)
  expect(losses).toEqual(['messages[0].content[1] (image)'])
})
