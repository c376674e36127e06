import { expect, it } from 'vitest'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { chatExtensionsOf } from '#relay/conversion/openai-chat/chat-extensions-of-provider.ts'
import { ANTHROPIC_MESSAGES } from '#relay/dialects/anthropic-messages/messages-format.ts'
import { GEMINI } from '#relay/dialects/gemini/generate-content-format.ts'
import { OPENAI_CHAT } from '#relay/dialects/openai-chat/chat-format.ts'
import { OPENAI_RESPONSES } from '#relay/dialects/openai-responses/responses-format.ts'
import type { WireFormat } from '#relay/dialects/wire-format.ts'
import { convertRequest } from '#relay/pipeline/convert-request.ts'

const TARGET = {
  ...{ model: 'm', outputTokensMax: 100 },
  ...{ format: 'gemini' as const, vendor: chatExtensionsOf(24) },
}
const FILE = 'https://generativelanguage.googleapis.com/v1beta/files/abc'
const PUBLIC = 'https://a.example/a.png'

const bodiesWith = (url: string) =>
  [
    [
      OPENAI_CHAT,
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] },
    ],
    [
      OPENAI_RESPONSES,
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] },
    ],
    [
      ANTHROPIC_MESSAGES,
      {
        max_tokens: 9,
        messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url } }] }],
      },
    ],
  ] as const

it.each(bodiesWith(FILE))(
  'an address of the site’s files at Google is refused in a conversion: $name',
  (format, body) => {
    const request = format.readRequest(Buffer.from(JSON.stringify({ model: 'm', ...body })), null)
    if ('code' in request) throw new Error(request.code)
    expect(convertRequest(request, GEMINI, TARGET)).toMatchObject({
      code: 'not_convertible',
      params: { param: 'url' },
    })
  },
)

type NotConvertible = readonly [
  caller: WireFormat,
  body: object,
  format: 'chat' | 'messages' | 'gemini',
  to: WireFormat,
  param: string,
]

function expectNotConvertible(...row: NotConvertible) {
  const [caller, body, format, to, param] = row
  const path = { model: 'm', isStream: false }
  const request = caller.readRequest(Buffer.from(JSON.stringify({ model: 'm', ...body })), path)
  if ('code' in request) throw new Error(request.code)
  const target = { ...TARGET, format, vendor: chatExtensionsOf(1) }
  expect(convertRequest(request, to, target)).toMatchObject({
    code: 'not_convertible',
    params: { param },
  })
}

const UNKNOWN_PART = { contents: [{ parts: [{ unknown: 1 }] }] }
const DOCX_TYPE = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
const DOCX_FILE = { filename: 'a.docx', file_data: `data:${DOCX_TYPE};base64,UEsDBA==` }
const DOCX = { messages: [{ role: 'user', content: [{ type: 'file', file: DOCX_FILE }] }] }
const UNKNOWN_CONTENT = { messages: [{ role: 'user', content: [{ type: 'unknown' }] }] }

it.each([
  [GEMINI, UNKNOWN_PART, 'chat', OPENAI_CHAT, 'contents[0].parts[0].unknown'],
  [GEMINI, UNKNOWN_PART, 'messages', ANTHROPIC_MESSAGES, 'contents[0].parts[0].unknown'],
  [OPENAI_CHAT, DOCX, 'messages', ANTHROPIC_MESSAGES, 'messages[0].content[0] (document)'],
  [OPENAI_CHAT, UNKNOWN_CONTENT, 'gemini', GEMINI, 'messages[0].content[0]'],
] as const)('an error of a lost conversation has the caller’s path: %#', expectNotConvertible)

const SEVERAL = { contents: [{ parts: [{ text: 'x' }] }], generationConfig: { candidateCount: 3 } }

it.each([
  [GEMINI, SEVERAL, 'messages', ANTHROPIC_MESSAGES, 'generationConfig.candidateCount'],
  [OPENAI_CHAT, { messages: [{ role: 'user', content: 'x' }], n: 3 }, 'gemini', GEMINI, 'n'],
] as const)('an error of several answers has the caller’s name: %#', expectNotConvertible)

const HI = [{ role: 'user', content: 'Hi' }]
const chatWith = (members: object) => ({ messages: HI, ...members })
const schema = { type: 'json_schema', json_schema: { schema: {} } }

it.each([
  [OPENAI_CHAT, chatWith({ reasoning_effort: 'bogus' }), 'reasoning_effort'],
  [OPENAI_CHAT, chatWith({ response_format: schema }), 'response_format.json_schema.name'],
  [OPENAI_CHAT, { messages: [{ role: 'wizard', content: 'Hi' }] }, 'messages[0].role'],
  [OPENAI_CHAT, { messages: [{ role: 'user', content: '' }] }, 'messages'],
  [ANTHROPIC_MESSAGES, { max_tokens: 9, messages: [{ role: 'user', content: '' }] }, 'messages'],
  [OPENAI_RESPONSES, { input: [{ role: 'wizard', content: 'Hi' }] }, 'input[0].role'],
  [OPENAI_RESPONSES, { input: 'Hi', reasoning: { effort: 'bogus' } }, 'reasoning.effort'],
  [GEMINI, { contents: [{ parts: [] }] }, 'contents'],
  [GEMINI, { contents: [{ role: 'wizard', parts: [{ text: 'Hi' }] }] }, 'contents[0].role'],
] as const)('a member that is invalid in the caller’s own format is named: %#', (...row) => {
  const [caller, body, param] = row
  expectInvalid(caller, body, param, 'invalid_in_format', 'not valid in the format of this API')
})

const F = { type: 'function', function: { name: 'f' } }
const NAMED_F = { type: 'function', name: 'f', parameters: {} }
const SEARCH = { type: 'web_search' }
const requiring = (tool: object) => ({ type: 'allowed_tools', mode: 'required', tools: [tool] })
const choosing = (tool: object) => ({
  type: 'allowed_tools',
  allowed_tools: { mode: 'required', tools: [tool] },
})
const Z = { type: 'function', function: { name: 'z' } }
const NAMED_Z = { type: 'function', name: 'z' }
const SAME = 'has the same name as another tool.'
const NONE = 'requires a tool call, but allows no tool that the request defines.'
const LACKING = "which can't express 'tool_choice'."
const ALLOWED = 'toolConfig.functionCallingConfig.allowedFunctionNames'

it.each([
  [OPENAI_CHAT, chatWith({ tools: [F, F] }), 'tools[1]', 'duplicate_tool_name', SAME],
  [
    ...([OPENAI_RESPONSES, { input: 'Hi', tools: [NAMED_F, NAMED_F] }, 'tools[1]'] as const),
    ...(['duplicate_tool_name', SAME] as const),
  ],
  [
    ...([OPENAI_CHAT, chatWith({ tools: [F], tool_choice: choosing(Z) })] as const),
    ...(['tool_choice.allowed_tools.tools', 'required_tool_missing', NONE] as const),
  ],
  [
    ...([
      OPENAI_RESPONSES,
      { input: 'Hi', tools: [NAMED_F], tool_choice: requiring(NAMED_Z) },
    ] as const),
    ...(['tool_choice', 'required_tool_missing', NONE] as const),
  ],
  [
    GEMINI,
    {
      contents: [{ parts: [{ text: 'Hi' }] }],
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['y', 'z'] } },
    },
    ...([ALLOWED, 'required_tool_missing', NONE] as const),
  ],
  // The provider’s format lacks a tool that the caller has defined.
  [
    ...([
      OPENAI_RESPONSES,
      { input: 'Hi', tools: [SEARCH], tool_choice: requiring(SEARCH) },
    ] as const),
    ...(['tool_choice', 'not_convertible', LACKING] as const),
  ],
] as const)('an error about tools says what is wrong with them: %#', (...row) => {
  const [caller, body, param, code, message] = row
  expectInvalid(caller, body, param, code, message)
})

function expectInvalid(
  caller: WireFormat,
  body: object,
  param: string,
  code: string,
  message: string,
): void {
  const path = { model: 'm', isStream: false }
  const request = caller.readRequest(Buffer.from(JSON.stringify({ model: 'm', ...body })), path)
  if ('code' in request) throw new Error(request.code)
  const isOther = caller !== ANTHROPIC_MESSAGES
  const [format, to] = isOther
    ? (['messages', ANTHROPIC_MESSAGES] as const)
    : (['gemini', GEMINI] as const)
  const target = { ...TARGET, format, vendor: chatExtensionsOf(1) }
  const error = convertRequest(request, to, target)
  expect(error).toMatchObject({ code, params: { param } })
  if (!isRelayError(error)) throw new Error('the request was converted')
  const shown = code === 'not_convertible' ? code : 'invalid_parameter'
  expect(OPENAI_CHAT.errors.errorBody(error, 'en', 'call')).toMatchObject({
    status: 400,
    body: {
      error: {
        ...{ code: shown, param, type: 'invalid_request_error' },
        message: expect.stringContaining(message),
      },
    },
  })
}

it.each(bodiesWith(PUBLIC))('a public address is converted: $name', (format, body) => {
  const request = format.readRequest(Buffer.from(JSON.stringify({ model: 'm', ...body })), null)
  if ('code' in request) throw new Error(request.code)
  expect(convertRequest(request, GEMINI, TARGET)).not.toHaveProperty('code')
})

it.each(['o3-deep-research', 'o4-mini-deep-research-2025-06-26'])(
  'a chat with %s is refused, because it runs only with a tool of the provider',
  (model) => {
    const body = { model, messages: [{ role: 'user', content: 'Hi' }] }
    const request = OPENAI_CHAT.readRequest(Buffer.from(JSON.stringify(body)), null)
    if ('code' in request) throw new Error(request.code)
    const target = { ...TARGET, model, format: 'responses' as const, vendor: chatExtensionsOf(1) }
    const refused = { code: 'needs_provider_tool', params: { subject: model } }
    expect(convertRequest(request, OPENAI_RESPONSES, target)).toMatchObject(refused)
    const vendor = { ...chatExtensionsOf(3), openAiModel: model }
    const deployment = { ...target, model: 'prod-1', vendor }
    expect(convertRequest(request, OPENAI_RESPONSES, deployment)).toMatchObject(refused)
  },
)

it('a conversion is made once for several channels of the same kind', () => {
  const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
  const request = OPENAI_CHAT.readRequest(Buffer.from(JSON.stringify(body)), null)
  if ('code' in request) throw new Error(request.code)
  const convert = (openAiModel: string) =>
    convertRequest(request, GEMINI, { ...TARGET, vendor: { ...TARGET.vendor, openAiModel } })
  expect(convert('gpt-5')).toBe(convert('gpt-5'))
  expect(convert('gpt-4o')).not.toBe(convert('gpt-5'))
})

it.each([
  [OPENAI_CHAT, 'arguments'],
  [OPENAI_CHAT, 'result'],
] as const)('a tool call with JSON that is too deep is refused: %#', (format, where) => {
  const deep = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
  const call = { name: 'f', arguments: where === 'arguments' ? deep : '{}' }
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: call }] },
    { role: 'tool', tool_call_id: 'c', content: where === 'result' ? deep : 'ok' },
  ]
  const body = Buffer.from(JSON.stringify({ model: 'm', messages }))
  const request = format.readRequest(body, null)
  if ('code' in request) throw new Error(request.code)
  expect(convertRequest(request, GEMINI, TARGET)).toMatchObject({ code: 'not_convertible' })
})
