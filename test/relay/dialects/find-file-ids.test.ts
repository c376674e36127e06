import { describe, expect, it } from 'vitest'
import { ANTHROPIC_MESSAGES } from '#relay/dialects/anthropic-messages/messages-format.ts'
import { OPENAI_CHAT } from '#relay/dialects/openai-chat/chat-format.ts'
import { OPENAI_COMPACTION } from '#relay/dialects/openai-responses/compaction-format.ts'
import { OPENAI_RESPONSES } from '#relay/dialects/openai-responses/responses-format.ts'
import type { WireFormat } from '#relay/dialects/wire-format.ts'

const filesIn = (format: WireFormat, body: object | string) => {
  const text = typeof body === 'string' ? body : JSON.stringify({ model: 'm', ...body })
  const request = format.readRequest(Buffer.from(text), null)
  if ('code' in request) throw new Error(JSON.stringify(request))
  return request.fileReferences
}

const user = (...content: object[]) => ({ role: 'user', content })
const chat = (...content: object[]) => ({
  messages: [user({ type: 'text', text: 'x' }, ...content)],
})
const message = (...content: object[]) => ({ max_tokens: 9, messages: [user(...content)] })
const input = (...items: object[]) => ({ input: [user(), ...items] })
const source = { type: 'file', file_id: 'f' }

describe('a file of the provider is found', () => {
  it.each<[string, WireFormat, object | string, string]>([
    ['in a part', OPENAI_CHAT, chat({ type: 'file', file: { file_id: 'f' } }), 'file.file_id'],
    ['as a part', OPENAI_CHAT, chat({ type: 'input_file', file_id: 'f' }), 'file_id'],
    ['in another case', OPENAI_CHAT, chat({ type: 'file', file: { FileID: 'f' } }), 'file.FileID'],
    [
      'with escapes',
      OPENAI_CHAT,
      `{"model":"m","messages":[{"role":"user","content":[{"file":{"\\u0066ile_id":"f"}}]}]}`,
      'file.file_id',
    ],
    [
      'in a picture',
      OPENAI_RESPONSES,
      input(user({ type: 'input_image', file_id: 'f' })),
      'file_id',
    ],
    ['in a file', OPENAI_RESPONSES, input(user({ type: 'input_file', file_id: 'f' })), 'file_id'],
    ['in a picture', ANTHROPIC_MESSAGES, message({ type: 'image', source }), 'source.file_id'],
    [
      'for a container',
      ANTHROPIC_MESSAGES,
      message({ type: 'container_upload', file_id: 'f' }),
      'file_id',
    ],
  ])('%s of %o', (_name, format, body, end) => {
    const list = format === OPENAI_RESPONSES ? 'input[1]' : 'messages[0]'
    expect(filesIn(format, body)).toEqual([{ id: 'f', param: `${list}.content[].${end}` }])
  })

  it.each<[string, WireFormat, object, string]>([
    [
      'the result of a function',
      OPENAI_RESPONSES,
      input({ type: 'function_call_output', output: [{ type: 'input_file', file_id: 'f' }] }),
      'input[1].output[].file_id',
    ],
    [
      'a screenshot',
      OPENAI_COMPACTION,
      input({ type: 'computer_call_output', output: { type: 'x', file_id: 'f' } }),
      'input[1].output.file_id',
    ],
    [
      'a container',
      OPENAI_RESPONSES,
      { input: 'x', tools: [{ type: 'code_interpreter', container: { file_ids: ['f'] } }] },
      'tools[0].container.file_ids',
    ],
    [
      'a store of a search in files',
      OPENAI_RESPONSES,
      { input: 'x', tools: [{ type: 'file_search', vector_store_ids: ['f'] }] },
      'tools[0].vector_store_ids',
    ],
    [
      'a mask',
      OPENAI_RESPONSES,
      { input: 'x', tools: [{ type: 'image_generation', input_image_mask: { file_id: 'f' } }] },
      'tools[0].input_image_mask.file_id',
    ],
    [
      'the result of a tool',
      ANTHROPIC_MESSAGES,
      message({ type: 'tool_result', tool_use_id: 't', content: [{ type: 'document', source }] }),
      'messages[0].content[].content[].source.file_id',
    ],
    [
      'an attachment',
      OPENAI_CHAT,
      { messages: [{ role: 'user', content: 'x', attachments: [{ file_id: 'f' }] }] },
      'messages[0].attachments[].file_id',
    ],
  ])('in %s', (_name, format, body, param) => {
    expect(filesIn(format, body)).toEqual([{ id: 'f', param }])
  })

  it('after the arguments of a call, and in an outermost member', () => {
    const messages = [
      { role: 'assistant', tool_calls: [{ function: { arguments: '{}' } }], file_id: 'a' },
      user({ type: 'tool_use', input: { file_id: 'x' } }, { type: 'file', file_id: 'b' }),
      user({ type: 'tool_use', input: { deep: [{ file_id: 'x' }] }, file_id: 'c' }),
    ]
    expect(filesIn(OPENAI_CHAT, { messages, file_ids: ['d'] })?.map(({ id }) => id)).toEqual([
      ...['a', 'b', 'c', null],
    ])
  })

  it('in any number, of which only the first have ids', () => {
    const parts = Array.from({ length: 5_000 }, (_, at) => ({ type: 'file', file_id: `f${at}` }))
    const files = filesIn(OPENAI_CHAT, chat(...parts)) ?? []
    expect(files.length).toBe(101)
    expect(files.at(-1)?.id).toBe(null)
  })

  it.each<[string, string, string]>([
    ['with a long name around them', 'x'.repeat(4_000), '{"file_id":"f"}'],
    ['at addresses with a long name around them', 'x'.repeat(4_000), '{"url":"ms://f"}'],
    ['in lists that can’t be read', 'x', `{"file_ids":[${'"]",'.repeat(2)}"]"]}`],
  ])('in any number without taking long, %s', (_name, long, object) => {
    const count = long.length > 1 ? 10_000 : 190_000
    const list = Array(count).fill(object).join(',')
    const text = `{"model":"m","messages":[{"role":"user","${long}":[${list}]}]}`
    const before = process.cpuUsage()
    const files = filesIn(OPENAI_CHAT, text)
    const { user, system } = process.cpuUsage(before)
    // It takes less than 50 ms, and took more than 1 s when the path of each was built.
    expect(user + system).toBeLessThan(500_000)
    expect(files).toHaveLength(101)
    const name = object.slice(2, object.indexOf('":'))
    expect(files?.[0]?.param).toBe(`messages[0].${long}[].${name}`.slice(0, 128))
  })

  it.each([['a"b'], ['x'.repeat(300)]])('without an unusual id', (file_id) => {
    expect(filesIn(OPENAI_CHAT, chat({ type: 'file', file: { file_id } }))?.[0]?.id).toBe(null)
  })

  it('in unusual lists', () => {
    const files = (file_ids: unknown) => filesIn(OPENAI_CHAT, chat({ x: { file_ids } }))
    expect(files(['a', 'b'])?.map(({ id }) => id)).toEqual(['a', 'b'])
    expect(files([['a']])?.[0]?.id).toBe(null)
    expect(files(['a]'])?.[0]?.id).toBe(null)
  })
})

describe('an address of a file at a provider', () => {
  const picture = (url: string) => ({ type: 'image_url', image_url: { url } })

  it.each(['ms://f', 'asset://f', 'oss://f', 'fileid://f', ' MS://f', 'gs://f/x'])(
    'is found: %s',
    (url) => {
      expect(filesIn(OPENAI_CHAT, chat(picture(url)))).toEqual([
        { id: url, param: 'messages[0].content[].image_url.url' },
      ])
      expect(filesIn(OPENAI_RESPONSES, input(user({ image_url: url })))?.length).toBe(1)
      expect(filesIn(ANTHROPIC_MESSAGES, message({ source: { type: 'url', url } }))?.length).toBe(1)
    },
  )

  it('is found with escapes in its scheme', () => {
    const body = `{"model":"m","messages":[{"role":"user","content":[{"image_url":{"url":"m\\u0073://f"}}]}]}`
    expect(filesIn(OPENAI_CHAT, body)?.length).toBe(1)
  })

  it.each([
    'https://a.example/x',
    'HTTP://a.example',
    'data:image/png;base64,AA==',
    'iVBORw0KGgo=',
  ])('is not: %s', (url) => {
    expect(filesIn(OPENAI_CHAT, chat(picture(url)))).toBeUndefined()
  })
})

describe('no file is found', () => {
  it('in any number of empty lists that are deeply nested, without taking long', () => {
    const names = Array.from({ length: 55 }, (_, at) => `${at}`.repeat(50))
    const open = names.map((name) => `{"${name}":`).join('')
    const lists = Array(190_000).fill('{"file_ids":[]}').join(',')
    const close = '}'.repeat(names.length)
    const text = `{"model":"m","messages":[{"role":"user","a":${open}[${lists}]${close}}]}`
    const before = process.cpuUsage()
    expect(filesIn(OPENAI_CHAT, text)).toBeUndefined()
    const { user, system } = process.cpuUsage(before)
    expect(user + system).toBeLessThan(1_000_000)
  })

  const schema = { type: 'object', properties: { file_id: { type: 'string', default: 'x' } } }
  it.each<[string, WireFormat, object]>([
    ['a text', OPENAI_CHAT, chat({ type: 'text', text: '"file_id":"f"' })],
    ['a null', OPENAI_CHAT, chat({ type: 'file', file: { file_id: null, file_data: 'data:' } })],
    [
      'a function',
      OPENAI_CHAT,
      { ...chat(), tools: [{ type: 'function', function: { name: 'f', parameters: schema } }] },
    ],
    [
      'examples of a function',
      ANTHROPIC_MESSAGES,
      {
        ...message({ type: 'text', text: 'x' }),
        tools: [{ name: 'f', input_schema: schema, input_examples: [{ file_id: 'x' }] }],
      },
    ],
    [
      'the arguments of a call',
      ANTHROPIC_MESSAGES,
      message({
        type: 'tool_use',
        id: 't',
        name: 'f',
        input: { file_id: 'x', a: [{ file_id: 'y' }] },
      }),
    ],
    [
      'what an answer cites',
      OPENAI_RESPONSES,
      input(
        { role: 'assistant', content: [{ type: 'output_text', annotations: [{ file_id: 'f' }] }] },
        { type: 'file_search_call', id: 'fs', queries: [], results: [{ file_id: 'f' }] },
      ),
    ],
    ['metadata', OPENAI_RESPONSES, { input: 'x', metadata: { file_id: 'x' } }],
    ['a name like it', OPENAI_CHAT, chat({ type: 'file', profile_id: 'f', file_idx: 'f' })],
  ])('in %s', (_name, format, body) => {
    expect(filesIn(format, body)).toBe(undefined)
  })
})
