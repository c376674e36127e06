import type { IncomingMessage, ServerResponse } from 'node:http'
import { CHANNELS_STREAM, type ChannelTerms } from '#domain/channels/events.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { serve } from '#test/support/start-http-server.ts'
import { awsChunk, awsException } from '../support/aws-event-stream.ts'
import type { RelayRig } from '../support/relay-rig.ts'
import { serviceAccountFile } from '../support/service-account.ts'

/** What a simulated model answers. */
export type Turn =
  | { readonly kind: 'call'; readonly name: string; readonly args: object; readonly usage: Counts }
  | { readonly kind: 'text'; readonly text: string; readonly usage: Counts }

/** Tokens. `input` includes `cached`. */
type Counts = { readonly input: number; readonly cached: number; readonly output: number }

export const CALL_USAGE = { input: 100, cached: 20, output: 10 }
export const TEXT_USAGE = { input: 130, cached: 0, output: 12 }
const ARGUMENTS = { city: 'Paris' }
export const SENTENCE = 'It is 21 °C in Paris.'
export const CITY_JSON = JSON.stringify(ARGUMENTS)
/** With a model ratio of 1.25, a completion ratio of 4 and a cache ratio of 0.5. */
export const CHARGES = { call: 163, text: 223 }

export const TOOL_RESULT = /"tool_call_id"|"tool_result"|"function_call_output"|"functionResponse"/
const SCHEMA = /"json_schema"|"responseSchema"|"responseJsonSchema"|"response_format"/
const TOOLS = /"tools":\[\{/

/**
 * Calls the tool of a request, answers with JSON if the request has a schema, and else with a
 * sentence.
 */
function weatherTurn(body: string): Turn {
  if (TOOL_RESULT.test(body)) return { kind: 'text', text: SENTENCE, usage: TEXT_USAGE }
  if (SCHEMA.test(body)) return { kind: 'text', text: CITY_JSON, usage: TEXT_USAGE }
  if (TOOLS.test(body)) return { kind: 'call', name: 'weather', args: ARGUMENTS, usage: CALL_USAGE }
  return { kind: 'text', text: SENTENCE, usage: TEXT_USAGE }
}

/** A provider's format: how it writes a turn as one answer, and as the events of a stream. */
type Format = {
  readonly answer: (turn: Turn) => object
  readonly events: (turn: Turn) => readonly string[]
}

const named = (data: { readonly type: string; readonly [name: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const unnamed = (data: object): string => `data: ${JSON.stringify(data)}\n\n`

const chatUsage = ({ input, cached, output }: Counts) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached },
})
const CHAT: Format = {
  answer: (turn) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'model',
    choices: [
      turn.kind === 'text'
        ? { index: 0, message: { role: 'assistant', content: turn.text }, finish_reason: 'stop' }
        : {
            index: 0,
            message: {
              role: 'assistant',
              content: null,
              tool_calls: [chatCall(turn.name, jsonOf(turn))],
            },
            finish_reason: 'tool_calls',
          },
    ],
    usage: chatUsage(turn.usage),
  }),
  events: (turn) => {
    const chunk = (choices: readonly object[], more = {}) =>
      unnamed({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'model',
        choices,
        ...more,
      })
    const delta = (value: object, finish_reason: string | null = null) =>
      chunk([{ index: 0, delta: value, finish_reason }])
    const content =
      turn.kind === 'text'
        ? piecesOf(turn.text).map((text) => delta({ content: text }))
        : [
            delta({ tool_calls: [{ index: 0, ...chatCall(turn.name, '') }] }),
            ...piecesOf(jsonOf(turn)).map((text) =>
              delta({ tool_calls: [{ index: 0, function: { arguments: text } }] }),
            ),
          ]
    return [
      delta({ role: 'assistant', content: '' }),
      ...content,
      delta({}, turn.kind === 'text' ? 'stop' : 'tool_calls'),
      chunk([], { usage: chatUsage(turn.usage) }),
      'data: [DONE]\n\n',
    ]
  },
}
const chatCall = (name: string, json: string) => ({
  id: 'call_1',
  type: 'function',
  function: { name, arguments: json },
})

/** The arguments of a call, or the text. */
const jsonOf = (turn: Turn): string =>
  turn.kind === 'text' ? turn.text : JSON.stringify(turn.args)

/** Splits a text into the pieces of a stream. */
const piecesOf = (text: string): readonly string[] => text.match(/.{1,4}/gs) ?? []

const messagesUsage = ({ input, cached, output }: Counts) => ({
  input_tokens: input - cached,
  cache_read_input_tokens: cached,
  cache_creation_input_tokens: 0,
  output_tokens: output,
})
const MESSAGES: Format = {
  answer: (turn) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'model',
    content: [
      turn.kind === 'text'
        ? { type: 'text', text: turn.text }
        : { type: 'tool_use', id: 'toolu_1', name: turn.name, input: turn.args },
    ],
    stop_reason: turn.kind === 'text' ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    usage: messagesUsage(turn.usage),
  }),
  events: (turn) => {
    const { content, stop_reason, usage, ...message } = MESSAGES.answer(turn) as {
      readonly [name: string]: unknown
    }
    const begun = {
      ...message,
      content: [],
      stop_reason: null,
      usage: { ...(usage as object), output_tokens: 1 },
    }
    const block =
      turn.kind === 'text'
        ? { type: 'text', text: '' }
        : { type: 'tool_use', id: 'toolu_1', name: turn.name, input: {} }
    const deltas = piecesOf(jsonOf(turn)).map((text) =>
      turn.kind === 'text'
        ? { type: 'text_delta', text }
        : { type: 'input_json_delta', partial_json: text },
    )
    const end = { stop_reason, stop_sequence: null }
    return [
      { type: 'message_start', message: begun },
      { type: 'content_block_start', index: 0, content_block: block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: end, usage: { output_tokens: turn.usage.output } },
      { type: 'message_stop' },
    ].map(named)
  },
}

const responsesUsage = ({ input, cached, output }: Counts) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: input + output,
})
const responseItem = (turn: Turn, text: string, status: string) =>
  turn.kind === 'text'
    ? {
        id: 'msg_1',
        type: 'message',
        status,
        role: 'assistant',
        content: status === 'completed' ? [{ type: 'output_text', text, annotations: [] }] : [],
      }
    : {
        id: 'fc_1',
        type: 'function_call',
        status,
        call_id: 'call_1',
        name: turn.name,
        arguments: text,
      }
const RESPONSES: Format = {
  answer: (turn) => ({
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    error: null,
    incomplete_details: null,
    model: 'model',
    output: [responseItem(turn, jsonOf(turn), 'completed')],
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    usage: responsesUsage(turn.usage),
  }),
  events: (turn) => {
    const response = RESPONSES.answer(turn)
    const begun = { ...response, status: 'in_progress', output: [], usage: null }
    const whole = jsonOf(turn)
    const place = { output_index: 0, item_id: turn.kind === 'text' ? 'msg_1' : 'fc_1' }
    const part = { ...place, content_index: 0 }
    const pieces = piecesOf(whole)
    const content =
      turn.kind === 'text'
        ? [
            {
              type: 'response.content_part.added',
              ...part,
              part: { type: 'output_text', text: '', annotations: [] },
            },
            ...pieces.map((delta) => ({
              type: 'response.output_text.delta',
              ...part,
              delta,
              logprobs: [],
            })),
            { type: 'response.output_text.done', ...part, text: whole, logprobs: [] },
            {
              type: 'response.content_part.done',
              ...part,
              part: { type: 'output_text', text: whole, annotations: [] },
            },
          ]
        : [
            ...pieces.map((delta) => ({
              type: 'response.function_call_arguments.delta',
              ...place,
              delta,
            })),
            {
              type: 'response.function_call_arguments.done',
              ...place,
              name: turn.name,
              arguments: whole,
            },
          ]
    return [
      { type: 'response.created', response: begun },
      { type: 'response.in_progress', response: begun },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: responseItem(turn, '', 'in_progress'),
      },
      ...content,
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: responseItem(turn, whole, 'completed'),
      },
      { type: 'response.completed', response },
    ].map((event, sequence_number) => named({ ...event, sequence_number }))
  },
}

const geminiChunk = (parts: readonly object[], more: object = {}, finishReason?: string) => ({
  candidates: [
    { index: 0, content: { role: 'model', parts }, ...(finishReason && { finishReason }) },
  ],
  modelVersion: 'model',
  responseId: 'r1',
  ...more,
})
const geminiUsage = ({ input, cached, output }: Counts) => ({
  usageMetadata: {
    promptTokenCount: input,
    cachedContentTokenCount: cached,
    candidatesTokenCount: output,
    totalTokenCount: input + output,
  },
})
const geminiParts = (turn: Turn): readonly object[] =>
  turn.kind === 'text'
    ? piecesOf(turn.text).map((text) => ({ text }))
    : [{ functionCall: { name: turn.name, args: turn.args } }]
const GEMINI: Format = {
  answer: (turn) => geminiChunk(geminiParts(turn), geminiUsage(turn.usage), 'STOP'),
  events: (turn) => [
    ...geminiParts(turn).map((part) => unnamed(geminiChunk([part]))),
    unnamed(geminiChunk([{ text: '' }], geminiUsage(turn.usage), 'STOP')),
  ],
}

/** The formats by the end of a path, and whether the path asks for a stream. */
const PATHS: readonly (readonly [RegExp, Format, boolean | null])[] = [
  [/\/chat\/completions$/, CHAT, null],
  [/\/responses$/, RESPONSES, null],
  [/\/messages$/, MESSAGES, null],
  [/:generateContent$/, GEMINI, false],
  [/:streamGenerateContent$/, GEMINI, true],
  [/:rawPredict$/, MESSAGES, false],
  [/:streamRawPredict$/, MESSAGES, true],
  [/\/invoke$/, MESSAGES, false],
  [/\/invoke-with-response-stream$/, MESSAGES, true],
]

export type FamilyRequest = { readonly path: string; readonly body: string }

/** How the provider fails. The number is that of the events before the fault. */
export type Fault =
  | { readonly kind: 'status'; readonly status: number; readonly text: string }
  | { readonly kind: 'error-event'; readonly after: number; readonly text: string }
  | { readonly kind: 'cut'; readonly after: number }
  | { readonly kind: 'stall'; readonly after: number }

/** What tests can change. */
type Script = {
  fault: Fault | null
  /** The number of bytes of a stream's first packet. */
  splitAt: number | null
  /** Changes the bytes of a stream or of a plain answer. */
  change: ((text: string) => string) | null
  /** The content type, if it is another one than that of the answer. */
  contentType: string | null
  readonly requests: FamilyRequest[]
}

const FORMATS = { chat: CHAT, messages: MESSAGES, responses: RESPONSES, gemini: GEMINI }

/** Returns the bytes of a stream in a provider's format, or in Amazon's frames around it. */
export const streamOf = (format: keyof typeof FORMATS, turn: Turn, isAws = false): Buffer =>
  Buffer.concat(
    FORMATS[format]
      .events(turn)
      .map((event) => (isAws ? awsChunk(dataOf(event)) : Buffer.from(event))),
  )

/** A provider that answers in the format of each path, and keeps the requests. */
export async function providerOfAllFormats(turnFor: (body: string) => Turn = weatherTurn) {
  const script: Script = {
    ...{ fault: null, splitAt: null, change: null, contentType: null },
    requests: [],
  }
  const server = await serve((request, response) => {
    void answerInFormat(request, response, script, turnFor)
  })
  return Object.assign(script, server)
}

const errorBody = (message: string) => ({
  type: 'error',
  error: { type: 'server_error', code: 'server_error', message, status: 'UNAVAILABLE' },
})

async function answerInFormat(
  request: IncomingMessage,
  response: ServerResponse,
  script: Script,
  turnFor: (body: string) => Turn,
): Promise<void> {
  const { fault, change, contentType, requests } = script
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const body = Buffer.concat(parts).toString('utf8')
  const [path = ''] = (request.url ?? '').split('?')
  if (path === '/token') {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ access_token: 'token', expires_in: 3600 }))
    return
  }
  requests.push({ path, body })
  const [, format, isStream] = PATHS.find(([pattern]) => pattern.test(path)) ?? []
  if (format === undefined || fault?.kind === 'status') {
    const { status = 404, text = '' } = fault?.kind === 'status' ? fault : {}
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(errorBody(text)))
    return
  }
  const turn = turnFor(body)
  if (!(isStream ?? body.includes('"stream":true'))) {
    response.writeHead(200, { 'content-type': contentType ?? 'application/json' })
    const text = JSON.stringify(format.answer(turn))
    response.end(change === null ? text : change(text))
    return
  }
  const isAws = path.endsWith('/invoke-with-response-stream')
  const streamType = isAws ? 'application/vnd.amazon.eventstream' : 'text/event-stream'
  response.writeHead(200, { 'content-type': contentType ?? streamType })
  for (const piece of packetsOf(format.events(turn), script, isAws)) {
    response.write(piece)
    await new Promise((resume) => setImmediate(resume))
  }
  if (fault?.kind === 'cut') response.destroy()
  else if (fault?.kind !== 'stall') response.end()
}

function packetsOf(
  events: readonly string[],
  { fault, splitAt, change }: Script,
  isAws: boolean,
): readonly Buffer[] {
  const bytesOf = (event: string) => (isAws ? awsChunk(dataOf(event)) : Buffer.from(event))
  if (fault !== null && fault.kind !== 'status') {
    const before = events.slice(0, fault.after).map(bytesOf)
    if (fault.kind !== 'error-event') return before
    const error = `event: error\ndata: ${JSON.stringify(errorBody(fault.text))}\n\n`
    const name = 'internalServerException'
    return [...before, isAws ? awsException(name, fault.text) : Buffer.from(error)]
  }
  if (change !== null) return [Buffer.from(change(events.join('')))]
  const packets = events.map(bytesOf)
  if (splitAt === null) return packets
  const bytes = Buffer.concat(packets)
  return [bytes.subarray(0, splitAt), bytes.subarray(splitAt)]
}

const dataOf = (event: string): string => /^data: (.*)$/m.exec(event)?.[1] ?? ''

/** A family of providers: what its channels need beside the address, and their key. */
export type Family = {
  readonly name: string
  readonly terms: (model: string) => Partial<ChannelTerms>
  readonly key?: (url: string) => string
}

const called =
  (type: number, name: string, other = '') =>
  (model: string): Partial<ChannelTerms> => ({
    ...{ type, other },
    modelMapping: JSON.stringify({ [model]: name }),
  })
const serviceAccount = (url: string) => serviceAccountFile({ token_uri: `${url}/token` })

export const FAMILIES: readonly Family[] = [
  { name: 'OpenAI', terms: () => ({ type: 1 }) },
  { name: 'an OpenAI-compatible provider', terms: () => ({ type: 8 }) },
  { name: 'Anthropic', terms: () => ({ type: 14 }) },
  { name: 'Gemini', terms: () => ({ type: 24 }) },
  {
    name: 'Bedrock',
    terms: called(33, 'anthropic.claude-haiku-4-5-20251001-v1:0'),
    key: () => 'AKIAPLANTED7ACCESSKEY|secret|eu-west-1',
  },
  {
    name: 'Vertex AI with Claude',
    terms: called(41, 'claude-haiku-4-5', 'us-east5'),
    key: serviceAccount,
  },
  {
    name: 'Vertex AI with Gemini',
    terms: called(41, 'gemini-3.1-pro-preview', 'us-east5'),
    key: serviceAccount,
  },
  { name: 'Azure', terms: () => ({ type: 3 }) },
]

/** Adds a channel of a family that offers one model. */
export const addFamilyChannel = (
  { append }: Pick<RelayRig, 'append'>,
  { terms, key }: Family,
  url: string,
  model: string,
): Promise<void> =>
  append(CHANNELS_STREAM, {
    type: 'ChannelsCreated',
    v: 1,
    data: {
      terms: { ...PLAIN_CHANNEL_TERMS, baseUrl: url, models: [model], ...terms(model) },
      channels: [{ channelId: 2, name: 'channel 2', keyRefs: [key ? `key:${key(url)}` : 'ref'] }],
      keyMode: '',
      isEnabled: true,
    },
  })
