import type { Scripted } from './scripted-provider.ts'

/** One provider with a format of its own: what it gets, and what it answers. */
export type ProviderScript = {
  readonly type: number
  readonly key: string
  readonly other?: string
  /** The model in the channel and in the request. */
  readonly model: string
  readonly plainPath: string
  readonly streamPath: string
  readonly plain: Scripted
  readonly stream: Scripted
  /** An error that rejects the request. */
  readonly error: Scripted
  readonly errorStatus: number
  /** The provider's message in the error. */
  readonly errorText: string
  /** An error that rejects the site's key. */
  readonly keyError: Scripted
  /** The body that the provider gets for the question of the test. */
  readonly request: object
  readonly streamRequest: object
  /** The answers of other paths, such as that of a token. */
  readonly others?: Readonly<Record<string, Scripted>>
  /** True if the pieces of a stream are messages of a websocket, which can't be split. */
  readonly isWebsocket?: true
  /** The path of the stream, if it has an address of its own, which the first answer names. */
  readonly streamOf?: string
  /** What no caller may see. */
  readonly secrets: readonly string[]
}

/** The answer and the usage of every script. */
export const TEXT = 'Hé, how are you?'
export const USAGE = { input: 20, output: 9 }

const sse = (events: readonly (readonly [string, unknown])[]): Scripted => ({
  headers: { 'content-type': 'text/event-stream' },
  pieces: events.map(([name, data]) => Buffer.from(eventOf(name, data))),
})
function eventOf(name: string, data: unknown): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  return `${name === '' ? '' : `event:${name}\n`}data: ${text}\n\n`
}
const OPENAI_USAGE = { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 }
const [FIRST, SECOND] = ['Hé, how ', 'are you?']
const MESSAGES = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Hello' },
]

const COHERE_USAGE = {
  billed_units: { input_tokens: 20, output_tokens: 9 },
  tokens: { input_tokens: 88, output_tokens: 11 },
}
const cohere: ProviderScript = {
  type: 34,
  key: 'co-planted-key-0123456789',
  model: 'command-a-03-2025',
  plainPath: 'POST /v2/chat',
  streamPath: 'POST /v2/chat',
  request: {
    model: 'command-a-03-2025',
    messages: MESSAGES,
    stream: false,
    max_tokens: 50,
    temperature: 0.5,
  },
  streamRequest: {
    model: 'command-a-03-2025',
    messages: MESSAGES,
    stream: true,
    max_tokens: 50,
    temperature: 0.5,
  },
  plain: {
    body: {
      id: 'c14c80c3',
      finish_reason: 'COMPLETE',
      message: { role: 'assistant', content: [{ type: 'text', text: TEXT }] },
      usage: COHERE_USAGE,
    },
  },
  stream: sse([
    [
      'message-start',
      { type: 'message-start', id: 'c14c80c3', delta: { message: { role: 'assistant' } } },
    ],
    [
      'content-start',
      {
        type: 'content-start',
        index: 0,
        delta: { message: { content: { type: 'text', text: '' } } },
      },
    ],
    ...[FIRST, SECOND].map(
      (text) =>
        [
          'content-delta',
          { type: 'content-delta', index: 0, delta: { message: { content: { text } } } },
        ] as const,
    ),
    ['content-end', { type: 'content-end', index: 0 }],
    [
      'message-end',
      { type: 'message-end', delta: { finish_reason: 'COMPLETE', usage: COHERE_USAGE } },
    ],
  ]),
  error: { status: 400, body: { message: 'invalid request: too many tokens' } },
  errorStatus: 400,
  errorText: 'invalid request: too many tokens',
  keyError: { status: 401, body: { message: 'invalid api token' } },
  secrets: ['co-planted-key-0123456789'],
}

const BAIDU_TOKEN = 'planted-baidu-token-0123456789'
const BAIDU_BODY = {
  messages: [{ role: 'user', content: 'Hello' }],
  system: 'Be brief.',
  temperature: 0.5,
  max_output_tokens: 50,
  disable_search: true,
}
const BAIDU_PATH = 'POST /rpc/2.0/ai_custom/v1/wenxinworkshop/chat/completions_pro'
const baidu: ProviderScript = {
  type: 15,
  key: 'planted-client-id|planted-client-secret',
  model: 'ERNIE-4.0-8K',
  plainPath: BAIDU_PATH,
  streamPath: BAIDU_PATH,
  request: { ...BAIDU_BODY, stream: false },
  streamRequest: { ...BAIDU_BODY, stream: true },
  plain: {
    body: {
      id: 'as-1',
      object: 'chat.completion',
      result: TEXT,
      is_truncated: false,
      finish_reason: 'normal',
      usage: OPENAI_USAGE,
    },
  },
  stream: sse([
    ['', { id: 'as-1', sentence_id: 0, is_end: false, result: FIRST, usage: OPENAI_USAGE }],
    ['', { id: 'as-1', sentence_id: 1, is_end: true, result: SECOND, usage: OPENAI_USAGE }],
  ]),
  error: { body: { error_code: 336_003, error_msg: 'the max length of messages' } },
  errorStatus: 400,
  errorText: 'the max length of messages',
  keyError: { body: { error_code: 110, error_msg: 'Access token invalid' } },
  others: {
    'POST /oauth/2.0/token': { body: { access_token: BAIDU_TOKEN, expires_in: 2_592_000 } },
  },
  secrets: ['planted-client-id', 'planted-client-secret', BAIDU_TOKEN],
}

const ZHIPU_BODY = {
  prompt: [{ role: 'user', content: 'Be brief.\n\nHello' }],
  temperature: 0.5,
}
const zhipu: ProviderScript = {
  type: 16,
  key: 'planted-zhipu-id.planted-zhipu-secret',
  model: 'chatglm_turbo',
  plainPath: 'POST /api/paas/v3/model-api/chatglm_turbo/invoke',
  streamPath: 'POST /api/paas/v3/model-api/chatglm_turbo/sse-invoke',
  request: ZHIPU_BODY,
  streamRequest: { ...ZHIPU_BODY, incremental: true },
  plain: {
    body: {
      code: 200,
      msg: 'ok',
      success: true,
      data: {
        task_id: '7',
        choices: [{ role: 'assistant', content: JSON.stringify(TEXT) }],
        usage: OPENAI_USAGE,
      },
    },
  },
  stream: {
    headers: { 'content-type': 'text/event-stream' },
    pieces: [
      Buffer.from(`event:add\nid:7\ndata:${FIRST}\n\n`),
      Buffer.from(`event:add\nid:7\ndata:${SECOND}\n\n`),
      Buffer.from(`event:finish\nid:7\ndata:\nmeta:${JSON.stringify({ usage: OPENAI_USAGE })}\n\n`),
    ],
  },
  error: { body: { code: 1261, msg: 'Prompt too long', success: false } },
  errorStatus: 400,
  errorText: 'Prompt too long',
  keyError: { body: { code: 1002, msg: 'Authorization invalid', success: false } },
  secrets: ['planted-zhipu-id', 'planted-zhipu-secret'],
}

const TENCENT_USAGE = { PromptTokens: 20, CompletionTokens: 9, TotalTokens: 29 }
const TENCENT_BODY = {
  Model: 'hunyuan-lite',
  Messages: [
    { Role: 'system', Content: 'Be brief.' },
    { Role: 'user', Content: 'Hello' },
  ],
  Temperature: 0.5,
  EnableEnhancement: false,
}
const tencentChunk = (content: string, reason: string) => ({
  Id: 'c1',
  Usage: TENCENT_USAGE,
  Choices: [{ Index: 0, FinishReason: reason, Delta: { Role: 'assistant', Content: content } }],
})
const tencent: ProviderScript = {
  type: 23,
  key: 'AKIDplanted0123456789|planted-tencent-secret',
  model: 'hunyuan-lite',
  plainPath: 'POST /',
  streamPath: 'POST /',
  request: { ...TENCENT_BODY, Stream: false },
  streamRequest: { ...TENCENT_BODY, Stream: true },
  plain: {
    body: {
      Response: {
        RequestId: 'r1',
        Id: 'c1',
        Usage: TENCENT_USAGE,
        Choices: [
          { Index: 0, FinishReason: 'stop', Message: { Role: 'assistant', Content: TEXT } },
        ],
      },
    },
  },
  stream: sse([
    ['', tencentChunk(FIRST, '')],
    ['', tencentChunk(SECOND, '')],
    ['', tencentChunk('', 'stop')],
  ]),
  error: {
    body: {
      Response: { Error: { Code: 'InvalidParameterValue.Model', Message: 'the model is wrong' } },
    },
  },
  errorStatus: 400,
  errorText: 'the model is wrong',
  keyError: {
    body: { Response: { Error: { Code: 'AuthFailure.SecretIdNotFound', Message: 'no such id' } } },
  },
  secrets: ['AKIDplanted0123456789', 'planted-tencent-secret'],
}

const DIFY_BODY = {
  inputs: {},
  query: 'Be brief.\n\nHello',
  response_mode: 'streaming',
  conversation_id: '',
  user: 'tallygate',
  auto_generate_name: false,
}
const DIFY_STREAM = sse([
  ['', { event: 'workflow_started', message_id: 'm1', data: { id: 'w' } }],
  ['', { event: 'message', message_id: 'm1', answer: FIRST }],
  ['ping', ''],
  ['', { event: 'message', message_id: 'm1', answer: SECOND }],
  ['', { event: 'message_end', message_id: 'm1', metadata: { usage: OPENAI_USAGE } }],
])
const dify: ProviderScript = {
  type: 37,
  key: 'app-planted-key-0123456789',
  model: 'my-app',
  plainPath: 'POST /v1/chat-messages',
  streamPath: 'POST /v1/chat-messages',
  request: DIFY_BODY,
  streamRequest: DIFY_BODY,
  plain: DIFY_STREAM,
  stream: DIFY_STREAM,
  error: {
    status: 400,
    body: { code: 'invalid_param', message: 'query is required', status: 400 },
  },
  errorStatus: 400,
  errorText: 'query is required',
  keyError: { status: 401, body: { code: 'unauthorized', message: 'invalid token' } },
  secrets: ['app-planted-key-0123456789'],
}

const COZE_BODY = {
  bot_id: '7379462189365198898',
  user_id: 'tallygate',
  stream: true,
  auto_save_history: false,
  additional_messages: [
    { role: 'user', type: 'question', content: 'Be brief.\n\nHello', content_type: 'text' },
  ],
}
const COZE_STREAM = sse([
  ['conversation.chat.created', { id: 'chat1', status: 'created' }],
  ['conversation.message.delta', { id: 'm1', type: 'answer', content: FIRST }],
  ['conversation.message.delta', { id: 'm1', type: 'answer', content: SECOND }],
  ['conversation.message.completed', { id: 'm1', type: 'answer', content: TEXT }],
  ['conversation.message.completed', { id: 'm2', type: 'follow_up', content: 'More?' }],
  [
    'conversation.chat.completed',
    { id: 'chat1', usage: { token_count: 29, output_count: 9, input_count: 20 } },
  ],
  ['done', '[DONE]'],
])
const coze: ProviderScript = {
  type: 49,
  key: 'pat_planted-key-0123456789',
  other: '7379462189365198898',
  model: 'my-bot',
  plainPath: 'POST /v3/chat',
  streamPath: 'POST /v3/chat',
  request: COZE_BODY,
  streamRequest: COZE_BODY,
  plain: COZE_STREAM,
  stream: COZE_STREAM,
  error: { body: { code: 4000, msg: 'the parameter is invalid' } },
  errorStatus: 400,
  errorText: 'the parameter is invalid',
  keyError: { body: { code: 4100, msg: 'authentication is invalid' } },
  secrets: ['pat_planted-key-0123456789', '7379462189365198898'],
}

const sparkMessage = (seq: number, status: number, content: string, more = {}) =>
  Buffer.from(
    JSON.stringify({
      header: { code: 0, message: 'Success', sid: 'cht1', status },
      payload: { choices: { status, seq, text: [{ content, role: 'assistant' }] }, ...more },
    }),
  )
const sparkError = (code: number, message: string): Scripted => ({
  pieces: [Buffer.from(JSON.stringify({ header: { code, message, sid: 'cht1', status: 2 } }))],
})
const SPARK_USAGE = {
  text: { question_tokens: 4, prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 },
}
const SPARK_STREAM: Scripted = {
  pieces: [
    sparkMessage(0, 0, FIRST),
    sparkMessage(1, 1, SECOND),
    sparkMessage(2, 2, '', { usage: SPARK_USAGE }),
  ],
  // The call ends although the provider does not close the websocket.
  keepsOpen: true,
}
const SPARK_BODY = {
  header: { app_id: 'plantedapp' },
  parameter: { chat: { domain: 'generalv3.5', temperature: 0.5, max_tokens: 50 } },
  payload: { message: { text: MESSAGES } },
}
const xunfei: ProviderScript = {
  type: 18,
  key: 'plantedapp|planted-spark-secret|planted-spark-key',
  model: 'SparkDesk-v3.5',
  isWebsocket: true,
  plainPath: 'GET /v3.5/chat',
  streamPath: 'GET /v3.5/chat',
  request: SPARK_BODY,
  streamRequest: SPARK_BODY,
  plain: SPARK_STREAM,
  stream: SPARK_STREAM,
  error: sparkError(10_907, 'too many tokens'),
  errorStatus: 400,
  errorText: 'too many tokens',
  keyError: { status: 401, body: { message: 'HMAC signature does not match' } },
  secrets: ['plantedapp', 'planted-spark-secret', 'planted-spark-key'],
}

const REPLICATE_BODY = {
  input: { prompt: 'Hello', system_prompt: 'Be brief.', max_tokens: 50, temperature: 0.5 },
  stream: true,
}
const REPLICATE_PATH = 'POST /v1/models/meta/meta-llama-3-8b-instruct/predictions'
const prediction = (fields: object): Scripted => ({ body: { id: 'p1', urls: {}, ...fields } })
const replicate: ProviderScript = {
  type: 56,
  key: 'r8_planted-key-0123456789',
  model: 'meta/meta-llama-3-8b-instruct',
  plainPath: REPLICATE_PATH,
  streamPath: REPLICATE_PATH,
  request: REPLICATE_BODY,
  streamRequest: REPLICATE_BODY,
  plain: prediction({ status: 'starting' }),
  // The test provider sets the address of the stream, whose events can be split.
  streamOf: '/stream/p1',
  stream: sse([
    ['output', FIRST],
    ['output', SECOND],
    ['done', '{}'],
  ]),
  error: { status: 422, body: { title: 'Input', detail: 'prompt is required', status: 422 } },
  errorStatus: 422,
  errorText: 'prompt is required',
  keyError: { status: 401, body: { title: 'Unauthenticated', detail: 'no such token' } },
  others: {
    'GET /v1/predictions/p1': prediction({
      status: 'succeeded',
      output: [FIRST, SECOND],
      metrics: { input_token_count: 20, output_token_count: 9 },
    }),
  },
  secrets: ['r8_planted-key-0123456789'],
}

/** The scripts by the number of the channel type. */
export const PROVIDER_SCRIPTS: ReadonlyMap<number, ProviderScript> = new Map(
  [cohere, baidu, zhipu, tencent, dify, coze, xunfei, replicate].map((script) => [
    script.type,
    script,
  ]),
)
