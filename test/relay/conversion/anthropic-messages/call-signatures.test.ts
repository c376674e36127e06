import { describe, expect, it } from 'vitest'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { type CallConversion, convertCall } from '#relay/conversion/convert-call.ts'
import type { ProviderFormatName } from '#relay/conversion/format-conversion.ts'
import { OPEN_ROUTER } from '#relay/conversion/openai-chat/chat-extensions-of-provider.ts'

const MODEL = 'gemini-3.5-flash'
const USER = { role: 'user', content: 'Go' }
const PARTS = [
  { text: 'Hm', thought: true },
  { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'R0VNU0lH' },
  { functionCall: { name: 'f', args: { a: 2 } } },
]
const ANSWER = {
  responseId: 'r1',
  candidates: [{ content: { role: 'model', parts: PARTS }, finishReason: 'STOP' }],
}

const convert = (messages: readonly object[], format: ProviderFormatName = 'gemini') => {
  const body = Buffer.from(JSON.stringify({ model: MODEL, max_tokens: 99, messages }))
  const target = { format, model: MODEL, outputTokensMax: 99, vendor: OPEN_ROUTER }
  return convertCall('messages', body, { model: MODEL, isStream: false }, target)
}

const bytes = (value: object): Buffer => Buffer.from(JSON.stringify(value))
type Blocks = readonly JsonObject[]

const plainBlocks = ({ convertAnswer }: CallConversion): Blocks =>
  JSON.parse(`${convertAnswer(bytes(ANSWER), 'id')}`).content

/** The blocks of a streamed answer as Anthropic's SDK builds them. */
function streamedBlocks({ createStream }: CallConversion): Blocks {
  const stream = createStream('id')
  const end = stream.end(Buffer.from(`data: ${JSON.stringify(ANSWER)}\n\n`)).toString()
  const blocks: JsonObject[] = []
  let json = ''
  for (const line of end.split('\n').filter((text) => text.startsWith('data: '))) {
    const { type, index, content_block, delta } = JSON.parse(line.slice('data: '.length))
    if (type === 'content_block_start') {
      expect(index).toBe(blocks.length)
      blocks.push(content_block)
      json = ''
    } else if (type === 'content_block_delta') {
      const block = blocks[index] as JsonObject
      json += delta.partial_json ?? ''
      if (delta.thinking) blocks[index] = { ...block, thinking: delta.thinking }
    } else if (type === 'content_block_stop' && json !== '') {
      blocks[index] = { ...blocks[index], input: JSON.parse(json) }
      json = ''
    }
  }
  return blocks
}

const turnWith = (content: Blocks) => [
  USER,
  { role: 'assistant', content },
  {
    role: 'user',
    content: content.flatMap(({ type, id }) =>
      type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id, content: 'done' }] : [],
    ),
  },
]

describe.each([
  ['a plain answer', plainBlocks],
  ['a stream', streamedBlocks],
])('the signature of Gemini’s call in %s', (_, blocksOf) => {
  const blocks = blocksOf(convert([USER]))

  it('is in a block before the call', () => {
    expect(blocks.map(({ type }) => type)).toEqual([
      ...['thinking', 'redacted_thinking', 'tool_use', 'tool_use'],
    ])
    expect(blocks[2]).toMatchObject({ name: 'f', input: { a: 1 } })
  })

  it('returns to Gemini with the call', () => {
    const { body, losses } = convert(turnWith(blocks))
    const { contents } = JSON.parse(body.toString()) as { contents: { parts: JsonObject[] }[] }
    const [, first, second] = contents[1]?.parts ?? []
    expect(first?.thoughtSignature).toBe('R0VNU0lH')
    expect(second).not.toHaveProperty('thoughtSignature')
    expect(losses).toEqual([])
  })

  it('is named as a loss at another provider', () => {
    const { body, losses } = convert(turnWith(blocks), 'responses')
    expect(body.toString()).not.toMatch(/R0VNU0lH|cHJvdmlkZXI6/)
    expect(losses).toContain('messages[1].content[2].signature')
  })
})

it('a block that only resembles the signature of a call stays hidden thinking', () => {
  const data = Buffer.from('provider:{"callId":1}').toString('base64')
  const block = { type: 'redacted_thinking', data }
  const { losses } = convert([USER, { role: 'assistant', content: [block] }, USER])
  expect(losses).toEqual(['messages[1].content[0].redacted'])
})

it('the signature of a call is not repeated for other calls with the same id', () => {
  const kept = { callId: 'c', callSignature: 'S1GNATURE' }
  const data = Buffer.from(`provider:${JSON.stringify(kept)}`).toString('base64')
  const call = { type: 'tool_use', id: 'c', name: 'f', input: {} }
  const content = [{ type: 'redacted_thinking', data }, call, call, call]
  const { body } = convert([USER, { role: 'assistant', content }, USER])
  expect(body.toString().split('S1GNATURE')).toHaveLength(2)
})

it('a long name of a tool is not repeated for each result', () => {
  const name = 'long_name_'.repeat(99)
  const call = { type: 'tool_use', id: 'c', name, input: {} }
  const results = Array.from({ length: 9 }, () => ({ type: 'tool_result', tool_use_id: 'c' }))
  const turns = [USER, { role: 'assistant', content: [call] }, { role: 'user', content: results }]
  const { body } = convert(turns)
  expect(body.toString().split(name)).toHaveLength(2)
  expect(body.toString().split(`"name":"${name.slice(0, 64)}"`)).toHaveLength(10)
})
