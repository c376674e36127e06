import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { outcomeOf } from '#relay/channel-health/attempt-outcome.ts'
import { disablingFailureCode } from '#relay/channel-health/count-account-rejections.ts'
import { accountCodeIn, accountErrorOf } from '#relay/pipeline/detect-provider-account-error.ts'
import { isRetryable } from '#relay/pipeline/retryable-failures.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, PROVIDER_KEY, relayRig } from './support/relay-rig.ts'
import { type Scripted, scriptedProvider } from './support/scripted-provider.ts'

const CLAUDE = 'claude-sonnet-5-5'
const GPT = 'gpt-5'
const lines: string[] = []
const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) })
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(() => relayRig({}, {}, undefined, { log }))
const ORGANIZATION = 'acme-organization'

beforeEach(async () => {
  lines.length = 0
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  const setting = '{"rate_limit_headers":true}'
  const shared = { baseUrl: provider.url, setting, organization: ORGANIZATION }
  await rig.addChannel(2, { ...shared, type: 14, models: [CLAUDE] })
  await rig.addChannel(3, { ...shared, models: [GPT] })
  await rig.setOption('ModelRatio', { [CLAUDE]: 1.5, [GPT]: 1.25 })
  await rig.setOption('CompletionRatio', { [CLAUDE]: 5, [GPT]: 4 })
})

type Format = 'chat' | 'messages'
const PATHS = { chat: '/v1/chat/completions', messages: '/v1/messages' }
const answerOf = (model: string) =>
  `POST ${model === CLAUDE ? PATHS.messages : PATHS.chat}` as const

async function call(
  format: Format,
  model: string,
  isStream = false,
  more: Record<string, string> = {},
) {
  const response = await fetch(`${rig.url}${PATHS[format]}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json', ...more },
    body: JSON.stringify({
      model,
      max_tokens: 16,
      stream: isStream,
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  })
  const { status, headers } = response
  return { status, headers, text: await response.text(), id: headers.get('x-request-id') }
}

const SECRETS = [
  PROVIDER_KEY,
  ORGANIZATION,
  'sk-other-SECRET012345',
  'AIzaSySECRETSECRET01',
  'Bearer SECRETTOKEN',
  'org-SECRET01',
  'proj_SECRET01',
  'secret.person@example.org',
  '10.9.8.7:8443',
  'https://secret.example.net/path',
  'secret-resource.openai.azure.com',
  'req_SECRET0123456',
  'projects/secret-project',
]
const FOUND = new RegExp(
  `SECRET|secret|${ORGANIZATION}|10\\.9\\.8|${PROVIDER_KEY}|127\\.0\\.0\\.1:`,
)
const planted = SECRETS.join(' and ')
const envelope = {
  type: 'error',
  request_id: 'req_SECRET0123456',
  user_id: 'user_SECRET',
  error: {
    type: 'invalid_request_error',
    message: `prompt is too long ${planted}`,
    code: `code ${planted}`,
    param: `param ${planted}`,
    details: [{ reason: planted, [PROVIDER_KEY]: planted, account: 'SECRET', deep: [[planted]] }],
  },
}
const HEADERS = {
  'x-request-id': PROVIDER_KEY,
  'request-id': PROVIDER_KEY,
  'x-ratelimit-limit-requests': PROVIDER_KEY,
  'x-ratelimit-limit-tokens': 'secret-SECRET@x',
  'anthropic-ratelimit-requests-limit': 'sk-SECRET0123456',
  'openai-organization': ORGANIZATION,
  'set-cookie': 'a=SECRET',
}
const FORMATS = [
  ['chat', GPT],
  ['messages', CLAUDE],
  ['chat', CLAUDE],
  ['messages', GPT],
] as const

async function expectNoSecret({ text, headers }: Awaited<ReturnType<typeof call>>) {
  const settled = await onlyEnd(rig)
  const all = { text, headers: [...headers], lines, settled }
  for (const [place, found] of Object.entries(all)) {
    const shown = JSON.stringify(found).replaceAll(rig.url, '')
    expect([place, shown.match(FOUND)?.[0]]).toEqual([place, undefined])
  }
}

const sse = (data: Record<string, unknown>, name = String(data.type ?? '')) =>
  Buffer.from(`${name === '' ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`)
const FIRST = {
  [GPT]: sse({ id: 'c', model: GPT, choices: [{ index: 0, delta: { content: 'Hello' } }] }),
  [CLAUDE]: Buffer.concat([
    sse({
      type: 'message_start',
      message: { id: 'm', type: 'message', role: 'assistant', model: CLAUDE, content: [] },
    }),
    sse({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'text', text: '' },
    }),
    sse({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } }),
  ]),
}
const errorEventOf = (model: string, body: Record<string, unknown>) =>
  model === CLAUDE ? sse(body, 'error') : sse(body, '')

describe.each(FORMATS)('secrets in errors for a caller of %s from %s', (format, model) => {
  it('do not show in the answer, the headers, the log and the events', async () => {
    provider.answers.set(answerOf(model), { status: 400, headers: HEADERS, body: envelope })
    const answer = await call(format, model)
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('prompt is too long ***')
    await expectNoSecret(answer)
  })

  it.each([0, 1])('do not show in an error event after %i pieces of the stream', async (before) => {
    const pieces = [...(before > 0 ? [FIRST[model]] : []), errorEventOf(model, envelope)]
    const headers = { ...HEADERS, 'content-type': 'text/event-stream' }
    provider.answers.set(answerOf(model), { headers, pieces })
    const answer = await call(format, model, true)
    expect(answer.status).toBe(before > 0 ? 200 : 400)
    expect(answer.text).toContain('prompt is too long')
    await expectNoSecret(answer)
  })

  it('do not show in a body that is no error of the format', async () => {
    for (const body of [
      planted,
      { error: planted },
      { message: planted },
      [planted],
      { error: 5 },
    ]) {
      provider.answers.set(answerOf(model), { status: 503, body })
      const { text } = await call(format, model)
      expect(text.replaceAll(rig.url, '')).not.toMatch(FOUND)
    }
  })
})

describe('an error of a provider with the caller’s format', () => {
  it('passes in its own words to a chat', async () => {
    const error = {
      message: "This model's maximum context length is 128000 tokens.",
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
      details: { limit: 128_000, hints: ['shorten the input'] },
      inner: null,
    }
    provider.answers.set(answerOf(GPT), { status: 400, body: { error, extra: 'word' } })
    const { status, text } = await call('chat', GPT)
    expect(status).toBe(400)
    expect(JSON.parse(text)).toEqual({ error, extra: 'word' })
  })

  // Clients of several formats send the headers of all of them.
  it('passes in its own words to a chat that names a version of Anthropic’s API', async () => {
    const error = { message: 'Too long.', type: 'invalid_request_error', param: null, code: 'x' }
    provider.answers.set(answerOf(GPT), { status: 400, body: { error } })
    const { text } = await call('chat', GPT, false, { 'anthropic-version': '2023-06-01' })
    expect(JSON.parse(text)).toEqual({ error })
  })

  it('passes in its own words to a message, with the id of the call', async () => {
    const error = { type: 'overloaded_error', message: 'Overloaded', details: { retries: 2 } }
    const body = { type: 'error', error, request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy' }
    provider.answers.set(answerOf(CLAUDE), { status: 529, body })
    const { status, text, headers, id } = await call('messages', CLAUDE)
    expect(status).toBe(529)
    expect(JSON.parse(text)).toEqual({ type: 'error', error, request_id: id })
    expect(headers.get('request-id')).toBe(id)
  })

  it('delivers no text of an answer that is not billed', async () => {
    const chunk = { choices: [{ delta: { content: 'free text' } }], error: { message: 'Failed' } }
    const headers = { 'content-type': 'text/event-stream' }
    provider.answers.set(answerOf(GPT), { headers, pieces: [FIRST[GPT], sse(chunk)] })
    const { text } = await call('chat', GPT, true)
    expect(text).toContain('"message":"Failed"')
    expect(text).not.toContain('free text')
  })

  it('does not pass where the site hides the errors of providers', async () => {
    await rig.setOption('global.hide_upstream_error_enabled', 'true')
    const error = { type: 'invalid_request_error', message: 'Own words', details: ['own'] }
    for (const [format, model] of FORMATS) {
      provider.answers.set(answerOf(model), { status: 400, body: { type: 'error', error } })
      expect((await call(format, model)).text).not.toMatch(/own/i)
    }
  })
})

describe('an error of a provider with another format', () => {
  it.each([
    [
      529,
      { type: 'overloaded_error', message: 'Overloaded' },
      'server_error',
      'server_is_overloaded',
    ],
    [429, { type: 'rate_limit_error', message: 'Slow' }, 'rate_limit_error', 'rate_limit_exceeded'],
    [
      400,
      { type: 'invalid_request_error', message: 'prompt is too long: 5 tokens > 4 maximum' },
      'invalid_request_error',
      'context_length_exceeded',
    ],
  ])(
    'with status %i and %o has the type and code that a chat reads',
    async (status, error, type, code) => {
      provider.answers.set(answerOf(CLAUDE), { status, body: { type: 'error', error } })
      const answer = await call('chat', CLAUDE)
      expect(answer.status).toBe(status)
      expect(JSON.parse(answer.text)).toEqual({
        error: { message: error.message, type, param: null, code },
      })
    },
  )

  it.each([
    [
      429,
      { type: 'tokens', code: 'rate_limit_exceeded', message: 'Slow' },
      'rate_limit_error',
      'Slow',
    ],
    [503, { type: 'server_error', code: 'slow_down', message: 'Busy' }, 'overloaded_error', 'Busy'],
    [500, { type: 'server_error', message: 'Failed' }, 'api_error', 'Failed'],
    [
      400,
      {
        type: 'invalid_request_error',
        code: 'context_length_exceeded',
        message: "This model's maximum context length is 4 tokens.",
      },
      'invalid_request_error',
      "prompt is too long: This model's maximum context length is 4 tokens.",
    ],
  ])(
    'with status %i and %o has the type that a message reads',
    async (status, error, type, message) => {
      provider.answers.set(answerOf(GPT), { status, body: { error } })
      const answer = await call('messages', GPT)
      expect(answer.status).toBe(status)
      expect(JSON.parse(answer.text)).toEqual({
        type: 'error',
        error: { type, message },
        request_id: answer.id,
      })
    },
  )

  it.each([
    ['chat', CLAUDE, { type: 'authentication_error', message: 'Own words' }],
    ['messages', CLAUDE, { type: 'billing_error', message: 'Own words' }],
  ] as const)(
    'about the site’s account stays hidden for a %s from %s',
    async (format, model, error) => {
      const headers = { 'content-type': 'text/event-stream' }
      const pieces = [FIRST[model], sse({ type: 'error', error }, 'error')]
      provider.answers.set(answerOf(model), { headers, pieces })
      const { text } = await call(format, model, true)
      expect(text).not.toMatch(/Own words|billing_error|authentication_error/)
      expect(text).toContain('own key or account')
    },
  )
})

it.each([
  [{ code: 401, status: 'UNAUTHENTICATED', message: 'x' }, 'authentication_error'],
  [{ code: 400, message: 'x', details: [null, { reason: 'API_KEY_INVALID' }] }, 'invalid_api_key'],
  [{ type: 'billing_error', message: 'x' }, 'billing_error'],
  [{ code: 'insufficient_quota', type: 'insufficient_quota', message: 'x' }, 'insufficient_quota'],
  [{ code: 400, status: 'INVALID_ARGUMENT', message: 'API_KEY_INVALID' }, null],
  [{ type: 'invalid_request_error', message: 'authentication_error' }, null],
])('the error %o is about the site’s account: %s', (error, code) => {
  expect(accountCodeIn(Buffer.from(JSON.stringify({ error })))).toBe(code)
})

it('an error of the account with a success status counts towards disabling the key', () => {
  const body = Buffer.from(JSON.stringify({ code: 514, statusText: 'unAuthApiKey' }))
  const failed = { kind: 'failed', status: 200, error: 'error-event', retryAfterMs: 0 } as const
  expect(disablingFailureCode({ ...failed, body }, [], Buffer.alloc(0))).toBe('invalid_api_key')
})

const OF_DASH_SCOPE = { request_id: 'r', message: 'x' }
it.each([
  [{ ...OF_DASH_SCOPE, code: 'Arrearage' }, true],
  [{ ...OF_DASH_SCOPE, code: 'PostpaidBillOverdue' }, true],
  [{ error: { message: 'x', details: [{ reason: 'API_KEY_INVALID' }] } }, true],
  [{ error: { message: 'x', type: 'insufficient_quota', code: 'credit_balance_exhausted' } }, true],
  [{ ...OF_DASH_SCOPE, code: 'InvalidParameter' }, false],
  [{ ...OF_DASH_SCOPE, code: 400 }, false],
  [{ error: { message: 'Arrearage' }, code: 'x' }, false],
  // A reseller adds a general code to the provider's error.
  [{ error: { message: 'x', type: 'insufficient_quota' }, code: 'bad_request' }, true],
  [{ error: { message: 'x', type: 'bad_request' }, code: 'Arrearage' }, false],
])('an answer 400 with %o leads to another channel only for the account: %s', (body, isOthers) => {
  const failed = { kind: 'failed', status: 400, error: 'status', retryAfterMs: 0 } as const
  const end = { ...failed, body: Buffer.from(JSON.stringify(body)) }
  expect([true, false].map((isStream) => isRetryable(end, isStream))).toEqual([isOthers, isOthers])
  expect(accountErrorOf(end) !== null).toBe(isOthers)
})

const CREDIT = 'Your credit balance is too low to access the Anthropic API. Please go to Plans.'
const REJECTED_KEY =
  'Incorrect API key provided: xa***. You can obtain one from https://console.x.ai.'
const TEAM = '11111111-2f3a-4b5c-8d6e-777777777777'
const SPENT = `Your team ${TEAM} has either used all available credits or reached its limit.`
const ofAnthropic = (message: string) => ({
  ...{ type: 'error', error: { type: 'invalid_request_error', message } },
})
const ofXai = (error: string) => ({ code: 'Client specified an invalid argument', error })

it.each([
  [400, ofAnthropic(`messages.0: "${CREDIT}"`)],
  [413, ofAnthropic(CREDIT)],
  [400, { error: ofAnthropic(CREDIT).error }],
  [400, ofAnthropic(REJECTED_KEY)],
  [400, ofXai(`Invalid role: ${REJECTED_KEY}`)],
  [400, ofXai(CREDIT)],
  [400, ofXai(SPENT)],
  [400, { error: REJECTED_KEY }],
  [400, { code: ['x'], error: REJECTED_KEY }],
  [400, { type: 'error', error: { type: 'invalid_request_error', message: [CREDIT] } }],
])('an answer %i with %o may be provoked and does not blame the account', (status, body) => {
  const failed = { kind: 'failed', status, error: 'status', retryAfterMs: 0 } as const
  const end = { ...failed, body: Buffer.from(JSON.stringify(body)) }
  expect([accountErrorOf(end), isRetryable(end, true), outcomeOf(end)]).toEqual([
    null,
    false,
    'well',
  ])
})

describe('an error in a vendor’s own format', () => {
  const VENDOR = 'vendor-model'
  const CHAT = '/v1/chat/completions'
  const setUp = async (type: number, path: string, answer: Scripted) => {
    const shared = { models: [VENDOR], other: 'account' }
    await rig.addChannel(4, { ...shared, type, baseUrl: provider.url, priority: 1 })
    const next = type === 14 ? 14 : 1
    await rig.addChannel(5, { ...shared, type: next, baseUrl: `${provider.url}/next` })
    await rig.setOption('ModelRatio', { [VENDOR]: 1 })
    provider.answers.set(`POST ${path}`, answer)
    const message = { role: 'assistant', content: 'Hello' }
    const body = { choices: [{ index: 0, message, finish_reason: 'stop' }] }
    provider.answers.set(`POST /next${CHAT}`, { body })
    const content = [{ type: 'text', text: 'Hello' }]
    provider.answers.set(`POST /next${PATHS.messages}`, {
      body: { type: 'message', role: 'assistant', content, usage: { input_tokens: 1 } },
    })
  }

  const suspended =
    'Your account org-446a70bb2cc542e3960c0b7f05e4e0e1 <ak-f817m9q3k3wi11gjwbgi> is suspended ' +
    'due to insufficient balance, please recharge your account'
  const ZHIPU = '/api/paas/v4/chat/completions'
  const ARK = '/api/v3/chat/completions'
  const zhipu = (code: string) => ({ error: { code, message: '您的账户已欠费，请充值后重试。' } })
  const ofFastGpt = { code: 514, statusText: 'unAuthApiKey', message: 'Api Key', data: null }
  it.each([
    [25, CHAT, 429, { error: { message: suspended, type: 'exceeded_current_quota_error' } }],
    [26, ZHIPU, 429, zhipu('1112')],
    [26, ZHIPU, 429, zhipu('1113')],
    [26, ZHIPU, 429, zhipu('1309')],
    [45, ARK, 429, { error: { code: 'SetLimitExceeded', type: 'TooManyRequests', message: 'x' } }],
    [22, CHAT, 200, ofFastGpt],
    [22, CHAT, 500, { ...ofFastGpt, code: 510, statusText: 'insufficientQuota' }],
    [14, PATHS.messages, 400, ofAnthropic(CREDIT)],
    [14, PATHS.messages, 400, ofAnthropic('You have reached your specified API usage limits. You')],
    [14, PATHS.messages, 400, ofAnthropic('This organization has been disabled.')],
    [48, CHAT, 400, ofXai(REJECTED_KEY)],
    [48, CHAT, 429, ofXai(SPENT)],
    [8, CHAT, 400, { error: { message: 'Restricted', code: 'organization_restricted' } }],
  ])('of type %i at %s with status %i and %o is about the account', async (...row) => {
    const [type, path, status, body] = row
    await setUp(type, path, { status, body })
    const format = type === 14 ? 'messages' : 'chat'
    const { status: shown, text } = await call(format, VENDOR)
    expect(shown, text).toBe(502)
    expect(text).toContain('own key or account')
    expect(text).not.toMatch(
      /suspended|ak-|欠费|Api Key|credit|usage limits|disabled|provided|Restrict/,
    )
    expect((await onlyEnd(rig)).data).toMatchObject({ errorCode: 'upstream_account' })
    await rig.setOption('RetryTimes', '1')
    expect((await call(format, VENDOR)).status).toBe(200)
  })

  const CLOUDFLARE = '/client/v4/accounts/account/ai/v1/chat/completions'
  const ofCloudflare = (code: number, message: string) => ({
    ...{ result: null, success: false, errors: [{ code, message }], messages: [] },
  })
  const XAI = 'Failed to deserialize the JSON body into the target type: missing field `content`'
  const faults = [{ type: 'missing', loc: ['body', 'messages'], msg: 'Field required' }]
  it.each([
    [39, CLOUDFLARE, 400, ofCloudflare(5006, 'AiError: Bad input'), 'AiError: Bad input'],
    [39, CLOUDFLARE, 429, ofCloudflare(3036, 'Used up'), 'Used up'],
    [39, CLOUDFLARE, 200, ofCloudflare(3030, 'Failed'), 'Failed'],
    [48, CHAT, 422, XAI, XAI],
    [42, CHAT, 422, { object: 'error', message: { detail: faults } }, 'body.messages: Field requi'],
    [8, CHAT, 200, { object: 'error', message: 'Too long', code: 400 }, 'Too long'],
    [8, CHAT, 400, { code: 20_015, msg: 'Bad value' }, 'Bad value'],
    [8, CHAT, 400, { error: [{ message: 'First' }, { message: 'Second' }] }, 'First'],
  ])('of type %i at %s with status %i and %o shows its words', async (...row) => {
    const [type, path, status, body, words] = row
    await setUp(type, path, { status, body })
    const { status: shown, text } = await call('chat', VENDOR)
    expect(shown).toBe(status === 200 ? 502 : status)
    expect(JSON.parse(text).error.message).toContain(words)
  })

  it.each([
    '<html><body>Bad gateway of SECRET</body></html>',
    '["SECRET"]',
    'event:error\ndata:{"account":"SECRET"}',
    '{"message":"SECRET',
    '\u0000\u0001SECRET',
  ])('in the unreadable text %o is not shown', async (body) => {
    await setUp(8, CHAT, { status: 400, body })
    const { text } = await call('chat', VENDOR)
    expect(JSON.parse(text).error.message).toBe('The provider answered 400.')
  })

  it('that is not an error, with status 200, shows no text of an answer', async () => {
    await setUp(8, CHAT, { body: { message: 'A text that would not be billed.' } })
    const { status, text } = await call('chat', VENDOR)
    expect(status).toBe(502)
    expect(text).not.toContain('billed')
  })
})

describe('the headers of an answer', () => {
  const failed = (headers: Record<string, string>) =>
    provider.answers.set(answerOf(GPT), { status: 429, headers, body: { error: { message: 'x' } } })

  it.each([
    [{ 'retry-after': '120' }, '120', null],
    [{ 'retry-after': '99999999' }, '3600', null],
    [{ 'retry-after': '0.25' }, '1', '250'],
    [{ 'retry-after': '2', 'retry-after-ms': '1234' }, '2', '1234'],
    [{ 'retry-after-ms': '3000' }, '3', null],
    [{ 'retry-after': '-5' }, null, null],
    [{ 'retry-after': 'soon' }, null, null],
    [
      { date: 'Sun, 06 Nov 1994 08:49:37 GMT', 'retry-after': 'Sun, 06 Nov 1994 08:50:07 GMT' },
      '30',
      null,
    ],
  ])('follow the provider’s %o', async (headers, seconds, exact) => {
    failed(headers as Record<string, string>)
    const { headers: shown } = await call('chat', GPT)
    expect([shown.get('retry-after'), shown.get('retry-after-ms')]).toEqual([seconds, exact])
  })

  const GEMINI = 'gemini-3-pro'
  const failedAtGoogle = async (body: (error: object) => unknown) => {
    await rig.addChannel(4, { type: 24, baseUrl: provider.url, models: [GEMINI] })
    await rig.setOption('ModelRatio', { [GEMINI]: 1 })
    const info = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '12.5s' }
    const error = { code: 429, message: 'Slow', status: 'RESOURCE_EXHAUSTED', details: [info] }
    const path = `POST /v1beta/models/${GEMINI}:generateContent` as const
    provider.answers.set(path, { status: 429, body: body({ error }) })
  }

  // Google states the delay only in the body, which a caller of another format does not get.
  it('follow the delay in the body of a Google error, during which the channel rests', async () => {
    await failedAtGoogle((error) => error)
    const { status, headers } = await call('chat', GEMINI)
    expect([status, headers.get('retry-after'), headers.get('retry-after-ms')]).toEqual([
      ...[429, '13', '12500'],
    ])
    const other = { type: 24, baseUrl: `${provider.url}/other`, models: [GEMINI], priority: -1 }
    await rig.addChannel(5, other)
    const candidates = [{ content: { parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }]
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
    const path = `POST /other/v1beta/models/${GEMINI}:generateContent` as const
    provider.answers.set(path, { body: { candidates, usageMetadata } })
    expect((await call('chat', GEMINI)).status).toBe(200)
  })

  it('and the words of a Google error in a list reach the caller', async () => {
    await failedAtGoogle((error) => [error])
    const { headers, text } = await call('chat', GEMINI)
    expect(headers.get('retry-after')).toBe('13')
    expect(JSON.parse(text).error).toMatchObject({ message: 'Slow', code: 'rate_limit_exceeded' })
  })

  it('follow the last attempt of a call that fails after retries', async () => {
    await rig.setOption('RetryTimes', '1')
    await rig.addChannel(4, { baseUrl: `${provider.url}/last/v1`, models: [GPT], priority: -1 })
    failed({ 'retry-after': '7', 'x-ratelimit-limit-requests': '9' })
    const last = {
      status: 503,
      headers: { 'retry-after': '11' },
      body: { error: { message: 'y' } },
    }
    provider.answers.set('POST /last/v1/chat/completions', last)
    const { status, headers } = await call('chat', GPT)
    expect([status, headers.get('retry-after')]).toEqual([503, '11'])
    expect(headers.get('x-ratelimit-limit-requests')).toBeNull()
  })

  const LIMITS = {
    'x-ratelimit-remaining-tokens': '149984',
    'x-ratelimit-reset-tokens': '6m0s',
    'anthropic-ratelimit-tokens-reset': '2026-11-27T12:00:00Z',
    'x-ratelimit-odd': 'not a word',
    'x-other': '1',
  }
  const ANSWER = { id: 'c', model: GPT, choices: [], usage: { prompt_tokens: 1 } }

  it('show the provider’s rate limits where the channel allows it', async () => {
    provider.answers.set(answerOf(GPT), { headers: LIMITS, body: ANSWER })
    const { headers } = await call('chat', GPT)
    const shown = [...headers].filter(([name]) => name in LIMITS)
    expect(shown.map(([name]) => name)).toEqual([
      'anthropic-ratelimit-tokens-reset',
      'x-ratelimit-remaining-tokens',
      'x-ratelimit-reset-tokens',
    ])
  })

  it('do not show them on other channels', async () => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [3] } })
    await rig.addChannel(5, { baseUrl: provider.url, models: [GPT] })
    provider.answers.set(answerOf(GPT), { headers: LIMITS, body: ANSWER })
    const { headers } = await call('chat', GPT)
    expect([...headers].filter(([name]) => name in LIMITS)).toEqual([])
  })

  it('have the id of the call, and the log has the provider’s', async () => {
    const headers = { 'x-request-id': 'req_of-the-provider' }
    provider.answers.set(answerOf(GPT), { headers, body: ANSWER })
    const { headers: shown, id } = await call('chat', GPT)
    expect([...shown].join()).not.toContain('of-the-provider')
    expect(shown.get('request-id')).toBeNull()
    const attempt = lines.find((line) => line.includes('an attempt ended'))
    expect(JSON.parse(attempt ?? '')).toMatchObject({
      call: id,
      providerRequestId: 'req_of-the-provider',
    })
  })
})
