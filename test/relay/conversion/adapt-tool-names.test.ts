import { describe, expect, it } from 'vitest'
import { adaptToolNames } from '#relay/conversion/adapt-tool-names.ts'
import { convertCall } from '#relay/conversion/convert-call.ts'
import type { ProviderFormatName } from '#relay/conversion/format-conversion.ts'
import { CHAT_CONVERSION } from '#relay/conversion/openai-chat/chat-conversion.ts'
import { OPENAI } from '#relay/conversion/openai-chat/chat-extensions-of-provider.ts'

const PATH = { model: 'm', isStream: false }
const targetOf = (format: ProviderFormatName) => ({
  ...{ format, model: 'm', outputTokensMax: 4_096, vendor: OPENAI },
})
const bytes = (value: object) => Buffer.from(JSON.stringify(value))

const LONG = `mcp__${'very_long_server_name_'.repeat(3)}list_all_open_issues`
const input_schema = { type: 'object', properties: {} }
/** A request with a name in a definition, a choice, an earlier call, and its result. */
const messagesRequest = (name: string) => ({
  model: 'm',
  max_tokens: 99,
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name, input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'R' }] },
  ],
  tools: [
    { name, input_schema },
    { name: 'short', input_schema },
  ],
  tool_choice: { type: 'tool', name },
})

const NAMES_IN = /"name":"([^"]*)"/g
const namesIn = (body: Buffer) =>
  [...body.toString('utf8').matchAll(NAMES_IN)].map(([, name = '']) => name)

/** For each format, an answer that calls a tool, and the same answer as events of a stream. */
const ANSWERS = {
  chat: (name: string) => {
    const call = { index: 0, id: 'c', type: 'function', function: { name, arguments: '{}' } }
    const choice = { index: 0, finish_reason: 'tool_calls' }
    return [
      { id: 'a', choices: [{ ...choice, message: { tool_calls: [call] } }] },
      [{ id: 'a', choices: [{ ...choice, delta: { tool_calls: [call] } }] }],
    ] as const
  },
  responses: (name: string) => {
    const item = { type: 'function_call', call_id: 'c', name, arguments: '{}' }
    const response = { id: 'a', status: 'completed', output: [item] }
    return [
      response,
      [
        { type: 'response.output_item.added', output_index: 0, item },
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response },
      ],
    ] as const
  },
  gemini: (name: string) => {
    const parts = [{ functionCall: { name, args: {} } }]
    const answer = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] }
    return [answer, [answer]] as const
  },
}

describe.each(['chat', 'responses', 'gemini'] as const)(
  'a name of a tool that the format %s refuses',
  (format) => {
    const call = convertCall('messages', bytes(messagesRequest(LONG)), PATH, targetOf(format))
    const [name = ''] = namesIn(call.body).filter((each) => each !== 'short')

    it('is replaced wherever the request has it', () => {
      expect(name).toMatch(/^mcp__very_long[\w-]{10,50}$/)
      expect(call.body.toString('utf8')).not.toContain(LONG)
      expect(new Set(namesIn(call.body))).toEqual(new Set([name, 'short']))
      expect(call.body.toString('utf8').split(name).length).toBeGreaterThan(3)
      expect(call.losses).toEqual([])
    })

    it('gets the same replacement in the next request', () => {
      const next = { ...messagesRequest(LONG), tool_choice: { type: 'auto' } }
      const { body } = convertCall('messages', bytes(next), PATH, targetOf(format))
      expect(namesIn(body)).toContain(name)
    })

    it('is the name in an answer and in a stream', () => {
      const [answer, events] = ANSWERS[format](name)
      const plain = call.convertAnswer(bytes(answer), 'id')
      expect(String(plain)).toContain(`"name":"${LONG}"`)
      const stream = call.createStream('id')
      const text = events.map((data) => `data: ${JSON.stringify(data)}\n\n`).join('')
      const written = String(stream.convert(Buffer.from(text))) + stream.end(Buffer.from(''))
      expect(written).toContain(`"name":"${LONG}"`)
      expect(written).not.toContain(name)
    })
  },
)

describe('the names of tools that each format accepts', () => {
  const declaring = (name: string) => ({
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    tools: [{ functionDeclarations: [{ name }] }],
  })
  const nameAt = (format: ProviderFormatName, name: string): string | undefined =>
    namesIn(convertCall('gemini', bytes(declaring(name)), PATH, targetOf(format)).body)[0]

  it.each(['chat', 'responses', 'messages'] as const)('have no dots and colons in %s', (format) => {
    expect(nameAt(format, 'ns.tool:do-it')).toMatch(/^ns_tool_do-it_[0-9a-f]{10}$/)
    expect(nameAt(format, 'do-it_1')).toBe('do-it_1')
  })

  it('are not kept in memory for names that are longer than those of any client', () => {
    const { value } = CHAT_CONVERSION.readRequest(
      {
        ...{ model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
        tools: [256, 257].map((length) => ({ name: 'x'.repeat(length) })),
      },
      PATH,
    )
    const { request, originalNames } = adaptToolNames(value, 'chat')
    expect([...originalNames.values()]).toEqual(['x'.repeat(256)])
    expect(request.tools[1]?.name).toHaveLength(257)
  })

  it('are restored for tools that only the conversation has, up to a limit', () => {
    const calls = Array.from({ length: 200 }, (_, at) => ({
      ...{ id: `c${at}`, type: 'function', function: { name: `old.${at}`, arguments: '{}' } },
    }))
    const messages = [{ role: 'assistant', tool_calls: calls }]
    const tools = [{ name: 'new.tool' }]
    const { value } = CHAT_CONVERSION.readRequest({ model: 'm', messages, tools }, PATH)
    const names = [...adaptToolNames(value, 'chat').originalNames.values()]
    expect(names).toHaveLength(129)
    expect(names).toEqual(expect.arrayContaining(['new.tool', 'old.0', 'old.127']))
  })

  it('begin with a letter or an underscore in Gemini’s', () => {
    const tool = (name: string) => ({ type: 'function', function: { name } })
    const chat = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
    const body = { ...chat, tools: ['3d', '打开', 'ns.a:b'].map(tool) }
    const { body: sent } = convertCall('chat', bytes(body), PATH, targetOf('gemini'))
    expect(namesIn(sent)).toEqual([
      expect.stringMatching(/^_3d_[0-9a-f]{10}$/),
      expect.stringMatching(/^___[0-9a-f]{10}$/),
      'ns.a:b',
    ])
  })

  it('don’t collide with other names, even with those of replacements', () => {
    const taken = nameAt('chat', 'a.b') as string
    const names = ['a.b', 'a:b', taken, 'a_b', '']
    const tool = (name: string) => ({ type: 'function', function: { name } })
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
    const { value } = CHAT_CONVERSION.readRequest({ ...body, tools: names.map(tool) }, PATH)
    const { request, originalNames } = adaptToolNames(value, 'chat')
    const sent = request.tools.map(({ name }) => name)
    expect(new Set(sent).size).toBe(names.length)
    expect(sent.slice(2)).toEqual(names.slice(2))
    expect(sent.map((name) => originalNames.get(name) ?? name)).toEqual(names)
  })
})
