import { describe, expect, it } from 'vitest'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { translateToProprietaryApi } from '#relay/pipeline/translate-chat-to-proprietary-api.ts'
import { BAIDU_V1 } from '#relay/providers/proprietary-chat-apis/baidu-v1.ts'
import type { Translation } from '#relay/providers/proprietary-chat-apis/chat-translation.ts'
import { COHERE } from '#relay/providers/proprietary-chat-apis/cohere.ts'
import { answerDecoder } from '#relay/providers/proprietary-chat-apis/decode-answer-to-chat.ts'
import { TENCENT, tencentSignature } from '#relay/providers/proprietary-chat-apis/tencent.ts'
import { sparkVersion, XUNFEI } from '#relay/providers/proprietary-chat-apis/xunfei.ts'

const TOOL = {
  type: 'function',
  function: { name: 'read', description: 'Reads.', parameters: { type: 'object' } },
}
const CALL = {
  id: 'call_1',
  type: 'function',
  function: { name: 'read', arguments: '{"path":"a.txt"}' },
}
const CHAT = {
  model: 'm',
  messages: [
    { role: 'user', content: 'Read a.txt' },
    { role: 'assistant', content: null, tool_calls: [CALL] },
    { role: 'tool', tool_call_id: 'call_1', content: 'hello' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'And this?' },
        { type: 'image_url', image_url: { url: 'https://a.example/1.png' } },
      ],
    },
  ],
  tools: [TOOL],
}

function sent(translation: Translation, fields = {}, model = 'm') {
  const target = { model, isStream: false, other: '' }
  const chat = { ...CHAT, ...fields }
  const written = translateToProprietaryApi(
    translation,
    Buffer.from(JSON.stringify(chat)),
    1,
    target,
  )
  if (isRelayError(written)) throw new Error(`${written.code} ${written.params.param}`)
  const { originalNames } = written.translated
  return { body: JSON.parse(written.body.toString('utf8')), losses: written.losses, originalNames }
}

const OPTIONS = {
  ...{ id: 'chatcmpl-1', model: 'm', createdAt: 0, usesFunctionCall: false },
  originalNames: new Map<string, string>(),
}

function answered(translation: Translation, body: object, options = OPTIONS) {
  const decoded = answerDecoder(translation, options).readAnswer?.(
    Buffer.from(JSON.stringify(body)),
    200,
  )
  if (decoded?.kind !== 'answer') throw new Error(decoded?.kind)
  return JSON.parse(decoded.body.toString('utf8')).choices[0]
}

/** The arguments and the finish reason of a stream. */
function streamed(translation: Translation, events: readonly object[], options = OPTIONS) {
  const stream = answerDecoder(translation, options).createStream()
  const bytes = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  const text = stream.push(Buffer.from(bytes)).toString('utf8')
  const chunks = text.split('\n\n').filter((event) => event.startsWith('data: {'))
  const choices = chunks.flatMap((event) => JSON.parse(event.slice(6)).choices)
  const calls = choices.flatMap(({ delta }) => delta.tool_calls ?? [])
  return {
    name: calls[0]?.function.name,
    json: calls.map((call) => call.function.arguments).join(''),
    reason: choices.at(-1)?.finish_reason ?? choices.at(-2)?.finish_reason,
  }
}

describe('tools and pictures', () => {
  it('are carried to Cohere', () => {
    const { body, losses } = sent(COHERE, { tool_choice: 'required' })
    expect(body).toMatchObject({ tools: [TOOL], tool_choice: 'REQUIRED' })
    expect(body.messages).toEqual([
      { role: 'user', content: 'Read a.txt' },
      { role: 'assistant', content: null, tool_calls: [CALL] },
      { role: 'tool', tool_call_id: 'call_1', content: 'hello' },
      CHAT.messages[3],
    ])
    expect(losses).toEqual([])
  })

  it('come back from Cohere', () => {
    const message = { role: 'assistant', tool_plan: 'I read it.', tool_calls: [CALL] }
    expect(answered(COHERE, { id: 'c', finish_reason: 'TOOL_CALL', message })).toMatchObject({
      message: { content: null, reasoning_content: 'I read it.', tool_calls: [CALL] },
      finish_reason: 'tool_calls',
    })
    const delta = (tool: object) => ({ delta: { message: { tool_calls: tool } }, index: 0 })
    const start = { ...CALL, function: { name: 'read', arguments: '' } }
    const events = [
      { type: 'message-start', id: 'c' },
      { type: 'tool-call-start', ...delta(start) },
      { type: 'tool-call-delta', ...delta({ function: { arguments: '{"path":' } }) },
      { type: 'tool-call-delta', ...delta({ function: { arguments: '"a.txt"}' } }) },
      { type: 'tool-call-end', index: 0 },
      { type: 'message-end', delta: { finish_reason: 'TOOL_CALL' } },
    ]
    expect(streamed(COHERE, events)).toEqual({
      name: 'read',
      json: '{"path":"a.txt"}',
      reason: 'tool_calls',
    })
  })

  it('are carried to Baidu’s first version, one call after the other', () => {
    const second = { ...CALL, id: 'call_2', function: { name: 'list', arguments: '' } }
    const messages = [
      CHAT.messages[0],
      { role: 'assistant', content: 'I look.', tool_calls: [CALL, second] },
      { role: 'tool', tool_call_id: 'call_2', content: 'a.txt' },
      { role: 'tool', tool_call_id: 'call_1', content: 'hello' },
      { role: 'user', content: 'And?' },
    ]
    const tool_choice = { type: 'function', function: { name: 'read' } }
    const { body, losses } = sent(BAIDU_V1, { messages, tool_choice })
    expect(body).toMatchObject({
      functions: [{ name: 'read', description: 'Reads.', parameters: { type: 'object' } }],
      tool_choice,
    })
    expect(body.messages).toEqual([
      { role: 'user', content: 'Read a.txt' },
      {
        role: 'assistant',
        content: 'I look.',
        function_call: { name: 'read', arguments: '{"path":"a.txt"}' },
      },
      { role: 'function', name: 'read', content: 'hello' },
      { role: 'assistant', content: '', function_call: { name: 'list', arguments: '{}' } },
      { role: 'function', name: 'list', content: 'a.txt\n\nAnd?' },
    ])
    expect(losses).toEqual([])
  })

  it('come back from Baidu’s first version', () => {
    const function_call = { name: 'read', arguments: '{"path":"a.txt"}', thoughts: 'I read it.' }
    const answer = { id: 'as-1', result: '', finish_reason: 'function_call', function_call }
    expect(answered(BAIDU_V1, answer)).toMatchObject({
      message: { tool_calls: [{ ...CALL, id: 'call_as-1' }] },
      finish_reason: 'tool_calls',
    })
    expect(
      streamed(BAIDU_V1, [
        { ...answer, is_end: false },
        { ...answer, is_end: true },
      ]),
    ).toEqual({
      name: 'read',
      json: '{"path":"a.txt"}',
      reason: 'tool_calls',
    })
  })

  it.each([
    [[CHAT.messages[0], CHAT.messages[1]], 'messages'],
    [[...CHAT.messages.slice(0, 3), { role: 'assistant', content: 'Done.' }], 'messages'],
    [[CHAT.messages[0], CHAT.messages[2]], 'messages'],
    [CHAT.messages, 'image'],
  ])('are refused for Baidu’s first version if they can’t be carried', (messages, named) => {
    expect(() => sent(BAIDU_V1, { messages })).toThrow(named)
  })

  const SPARK = 'Spark4.0-Ultra'
  const FUNCTION = { name: 'read', description: 'Reads.', parameters: { type: 'object' } }

  it('are carried to Spark, whose texts have the calls with their results', () => {
    const second = { ...CALL, id: 'call_2', function: { name: 'list', arguments: '' } }
    const messages = [
      { role: 'system', content: 'Be brief.' },
      CHAT.messages[0],
      { role: 'assistant', content: 'I look.', tool_calls: [CALL, second] },
      { role: 'tool', tool_call_id: 'call_2', content: 'a.txt' },
      { role: 'tool', tool_call_id: 'call_1', content: 'hello' },
      { role: 'user', content: 'And?' },
    ]
    const { body, losses } = sent(XUNFEI, { messages }, SPARK)
    expect(body).toMatchObject({
      parameter: { chat: { domain: '4.0Ultra' } },
      payload: { functions: { text: [FUNCTION] } },
    })
    expect(body.payload.message.text).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Read a.txt' },
      { role: 'assistant', content: 'I look.' },
      {
        role: 'user',
        content: [
          'The function read was called with {"path":"a.txt"}:\nhello',
          'The function list was called with {}:\na.txt',
          'And?',
        ].join('\n\n'),
      },
    ])
    expect(new Set(losses)).toEqual(new Set(['messages[].content[] (tool-call)']))
  })

  it('are offered to Spark as the caller chooses among them', () => {
    const messages = [CHAT.messages[0]]
    const other = { type: 'function', function: { ...FUNCTION, name: 'list' } }
    const tools = [TOOL, other]
    const chosen = (tool_choice: unknown) => {
      const { body, losses } = sent(XUNFEI, { messages, tools, tool_choice }, 'SparkDesk-v3.5')
      return [body.payload.functions?.text.map(({ name }: { name: string }) => name), losses]
    }
    expect(chosen('auto')).toEqual([['read', 'list'], []])
    expect(chosen('none')).toEqual([undefined, []])
    expect(chosen('required')).toEqual([['read', 'list'], ['tool_choice']])
    const one = { type: 'function', function: { name: 'list' } }
    expect(chosen(one)).toEqual([['list'], ['tool_choice']])
  })

  it.each([
    ['SparkDesk-v3.1', [CHAT.messages[0]], 'tools'],
    [SPARK, [CHAT.messages[0], CHAT.messages[1], { role: 'user', content: 'And?' }], 'messages'],
    [SPARK, [CHAT.messages[0], CHAT.messages[2]], 'messages'],
    [SPARK, CHAT.messages, 'image'],
  ])('are refused for %s if they can’t be carried', (model, messages, named) => {
    expect(() => sent(XUNFEI, { messages }, model)).toThrow(named)
  })

  it.each([
    ['Baidu’s first version', BAIDU_V1, 'm'],
    ['Spark', XUNFEI, SPARK],
  ])('are refused for %s if a call has two results', (_name, translation, model) => {
    const [question, call, result] = CHAT.messages
    const repeated = { ...result, content: 'bye' }
    const fault = /^not_convertible messages\[3\]$/
    for (const messages of [
      [question, call, result, repeated],
      [question, call, result, repeated, { role: 'user', content: 'And?' }],
    ]) {
      expect(() => sent(translation, { messages }, model)).toThrow(fault)
    }
    const later = [question, call, result, { role: 'user', content: 'And?' }, repeated]
    expect(() => sent(translation, { messages: later }, model)).toThrow(/messages\[4\]$/)
    expect(() => sent(translation, { messages: [question, call, result] }, model)).not.toThrow()
  })

  it('come back from Spark', () => {
    const function_call = { name: 'read', arguments: '{"path":"a.txt"}' }
    const text = [{ content: '', role: 'assistant', content_type: 'text', function_call, index: 0 }]
    const usage = { text: { prompt_tokens: 20, completion_tokens: 9 } }
    const event = {
      header: { code: 0, message: 'Success', sid: 'cht1', status: 2 },
      payload: { choices: { status: 2, seq: 0, text }, usage },
    }
    expect(streamed(XUNFEI, [event])).toEqual({
      name: 'read',
      json: '{"path":"a.txt"}',
      reason: 'tool_calls',
    })
  })

  it('are carried to Tencent', () => {
    const { body } = sent(TENCENT, {
      tool_choice: { type: 'function', function: { name: 'read' } },
    })
    const tool = {
      Type: 'function',
      Function: { Name: 'read', Description: 'Reads.', Parameters: '{"type":"object"}' },
    }
    expect(body).toMatchObject({ Tools: [tool], ToolChoice: 'custom', CustomTool: tool })
    const call = {
      Id: 'call_1',
      Type: 'function',
      Function: { Name: 'read', Arguments: '{"path":"a.txt"}' },
    }
    expect(body.Messages).toEqual([
      { Role: 'user', Content: 'Read a.txt' },
      { Role: 'assistant', Content: '', ToolCalls: [call] },
      { Role: 'tool', ToolCallId: 'call_1', Content: 'hello' },
      {
        Role: 'user',
        Contents: [
          { Type: 'text', Text: 'And this?' },
          { Type: 'image_url', ImageUrl: { Url: 'https://a.example/1.png' } },
        ],
      },
    ])
  })

  it('come back from Tencent', () => {
    const call = (json: string) => ({
      Id: 'call_1',
      Type: 'function',
      Index: 0,
      Function: { Name: 'read', Arguments: json },
    })
    const choice = { Index: 0, FinishReason: 'tool_calls' }
    const message = { Role: 'assistant', Content: '', ToolCalls: [call('{"path":"a.txt"}')] }
    const Response = { Choices: [{ ...choice, Message: message }] }
    expect(answered(TENCENT, { Response })).toMatchObject({
      message: { tool_calls: [CALL] },
      finish_reason: 'tool_calls',
    })
    const chunk = (json: string, reason: string) => ({
      Id: 'c',
      Choices: [{ Index: 0, FinishReason: reason, Delta: { ToolCalls: [call(json)] } }],
    })
    const events = [chunk('{"path":', ''), chunk('"a.txt"}', 'tool_calls')]
    expect(streamed(TENCENT, events)).toEqual({
      name: 'read',
      json: '{"path":"a.txt"}',
      reason: 'tool_calls',
    })
  })
})

it('names of tools that providers refuse are replaced, and restored in answers', () => {
  const long = `mcp__${'files'.repeat(20)}.read`
  const named = (name: string) => ({ ...CALL, function: { ...CALL.function, name } })
  const [question, call, result] = CHAT.messages
  const { body, originalNames } = sent(COHERE, {
    tools: [{ ...TOOL, function: { ...TOOL.function, name: long } }],
    messages: [question, { ...call, tool_calls: [named(long)] }, result],
  })
  const { name } = body.tools[0].function
  expect(name).toMatch(/^[\w-]{1,64}$/)
  expect(body.messages[1].tool_calls[0].function.name).toBe(name)
  const options = { ...OPTIONS, originalNames: new Map(originalNames) }
  const message = { role: 'assistant', tool_calls: [named(name)] }
  const answer = { id: 'c', finish_reason: 'TOOL_CALL', message }
  expect(answered(COHERE, answer, options).message.tool_calls).toEqual([named(long)])
  const begun = { delta: { message: { tool_calls: named(name) } }, index: 0 }
  const events = [
    { type: 'message-start', id: 'c' },
    { type: 'tool-call-start', ...begun },
    { type: 'tool-call-end', index: 0 },
    { type: 'message-end', delta: { finish_reason: 'TOOL_CALL' } },
  ]
  expect(streamed(COHERE, events, options).name).toBe(long)
})

it('an event that is too long ends the stream', () => {
  const stream = answerDecoder(COHERE, OPTIONS).createStream()
  for (let part = 0; part < 17; part += 1) stream.push(Buffer.alloc(64 * 1024, 97))
  expect(stream.fault).toBe('too-large')
})

it('the arguments of a custom tool that are too long to be held back end the stream', () => {
  const custom = new Set(['read'])
  const stream = answerDecoder(COHERE, { ...OPTIONS, custom }).createStream()
  const send = (event: object) => stream.push(Buffer.from(`data: ${JSON.stringify(event)}\n\n`))
  const delta = (tool: object) => ({ delta: { message: { tool_calls: tool } }, index: 0 })
  const start = { ...CALL, function: { name: 'read', arguments: '{"other":"' } }
  send({ type: 'tool-call-start', ...delta(start) })
  const rest = { arguments: 'x'.repeat(900_000) }
  const event = { type: 'tool-call-delta', ...delta({ function: rest }) }
  for (let part = 0; part < 5; part += 1) {
    expect(stream.fault).toBe(null)
    send(event)
  }
  expect(stream.fault).toBe('too-large')
})

it('Tencent’s signature depends on the body, the host and the time', () => {
  const call = { host: 'hunyuan.tencentcloudapi.com', path: '/', body: Buffer.from('{}') }
  const signature = tencentSignature(['id', 'secret'], call, 1_700_000_000)
  const scope = 'Credential=id/2023-11-14/hunyuan/tc3_request'
  const [start, end = ''] = signature.split('Signature=')
  expect(start).toBe(`TC3-HMAC-SHA256 ${scope}, SignedHeaders=content-type;host, `)
  expect(end).toMatch(/^[0-9a-f]{64}$/)
  for (const other of [{ host: 'a.example' }, { body: Buffer.from('[]') }]) {
    expect(tencentSignature(['id', 'secret'], { ...call, ...other }, 1_700_000_000)).not.toBe(
      signature,
    )
  }
})

it.each([
  ['SparkDesk-v4.0', '', '/v4.0/chat', '4.0Ultra'],
  ['spark-lite', '', '/v1.1/chat', 'lite'],
  ['SparkDesk-max-32k', '', '/chat/max-32k', 'max-32k'],
  ['SparkDesk', 'v3.5', '/v3.5/chat', 'generalv3.5'],
  ['SparkDesk', 'v9', '/v2.1/chat', 'generalv2'],
])('the model %s with the version "%s" is called at %s', (model, other, path, domain) => {
  expect(sparkVersion(model, other)).toEqual([path, domain])
})

it.each([
  ['Baidu', BAIDU_V1, 'm'],
  ['Xunfei', XUNFEI, 'SparkDesk-v3.5'],
])('calls with one id can’t repeat a result in the request to %s', (_name, translation, model) => {
  const messages = [
    { role: 'user', content: 'Read a.txt' },
    { role: 'assistant', content: null, tool_calls: Array.from({ length: 50 }, () => CALL) },
    { role: 'tool', tool_call_id: 'call_1', content: 'x'.repeat(1_000) },
  ]
  expect(() => sent(translation, { messages }, model)).toThrow('messages')
})
