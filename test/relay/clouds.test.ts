import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM, type ChannelTerms } from '#domain/channels/events.ts'
import type { ProviderMessage } from '#infra/provider-messages/store-provider-error-messages.ts'
import { awsSigner } from '#relay/providers/clouds/sign-aws-request.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { serve } from '#test/support/start-http-server.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { awsChunk, awsException } from './support/aws-event-stream.ts'
import { KEY, NO_PROVIDER_MESSAGES, onlyEnd, relayRig } from './support/relay-rig.ts'
import { type Scripted, scriptedProvider } from './support/scripted-provider.ts'
import { serviceAccountFile } from './support/service-account.ts'

const MODEL = 'claude-haiku-4-5'
const REQUEST = {
  model: MODEL,
  max_tokens: 64,
  messages: [{ role: 'user', content: 'Read a.txt' }],
  tools: [{ name: 'read', input_schema: { type: 'object' } }],
}
const { model: _, ...REST } = REQUEST
const USAGE = {
  input_tokens: 100,
  cache_read_input_tokens: 2000,
  cache_creation_input_tokens: 500,
  cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 100 },
  output_tokens: 50,
}
/** The worked case of `billing.md` for this usage. */
const CHARGE = 1875
const ANSWER = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-haiku-4-5-20251001',
  content: [
    { type: 'text', text: 'I read it.' },
    { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'a.txt' } },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: USAGE,
}
const BEGUN = { ...ANSWER, content: [], stop_reason: null, usage: { ...USAGE, output_tokens: 1 } }
const TEXT = { type: 'text_delta', text: 'I read it, and it says hello to everybody.' }
const EVENTS = [
  { type: 'message_start', message: BEGUN },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: TEXT },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'content_block_start',
    index: 1,
    content_block: { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} },
  },
  {
    type: 'content_block_delta',
    index: 1,
    delta: { type: 'input_json_delta', partial_json: '{"path":"a.txt"}' },
  },
  { type: 'content_block_stop', index: 1 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 50 } },
  { type: 'message_stop' },
]
const sseOf = (events: readonly { readonly type: string }[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
const STREAM = sseOf(EVENTS)

const AWS_ID = 'AKIAPLANTED7ACCESSKEY'
const AWS_SECRET = 'planted/secret+access/key/0123456789'
const AWS_SESSION = 'planted-session-token-0123456789=='
const AWS_KEY = `${AWS_ID}|${AWS_SECRET}|eu-west-1|${AWS_SESSION}`
const ACCESS_TOKEN = 'planted-access-token-0123456789'

const provider = startedForEach(scriptedProvider)
let lines: string[] = []
let messages: ProviderMessage[] = []
const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
const providerMessages = {
  ...NO_PROVIDER_MESSAGES,
  add: (message: ProviderMessage) => void messages.push(message),
}
const rig = startedForEach(() => relayRig({ providerMessages }, {}, undefined, { log }))
/** Everything that callers received. */
let received: string[] = []

beforeEach(async () => {
  lines = []
  messages = []
  received = []
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', { [MODEL]: 1.5, 'sim-small': 1.25 })
  await rig.setOption('CompletionRatio', { [MODEL]: 5 })
  await rig.setOption('CacheRatio', { [MODEL]: 0.1 })
  await rig.setOption('CreateCacheRatio', { [MODEL]: 1.25 })
})

/** No planted secret may show anywhere, whatever a test lets the provider say. */
afterEach(async () => {
  const everything = JSON.stringify([received, lines, messages, await rig.callEvents()])
  const { private_key, client_email, project_id, private_key_id, client_id } = JSON.parse(
    serviceAccountFile(),
  )
  const secrets = [
    ...[AWS_ID, AWS_SECRET, AWS_SESSION, ACCESS_TOKEN, '123456789012'],
    ...[client_email, project_id, private_key_id, client_id],
    ...String(private_key).split('\n').slice(1, -2),
    ...[new URL(provider.url).host, '.amazonaws.com', 'aiplatform.googleapis.com'],
  ]
  for (const secret of secrets) expect(everything).not.toContain(secret)
})

async function addChannel(
  type: number,
  keys: readonly string[],
  terms: Partial<ChannelTerms> = {},
): Promise<void> {
  const own = { type, baseUrl: provider.url, models: [MODEL] }
  await rig.append(CHANNELS_STREAM, {
    type: 'ChannelsCreated',
    v: 1,
    data: {
      terms: { ...PLAIN_CHANNEL_TERMS, ...own, ...terms },
      channels: [{ channelId: 2, name: 'cloud', keyRefs: keys.map((key) => `key:${key}`) }],
      keyMode: 'polling',
      isEnabled: true,
    },
  })
}

async function send(
  body: object = REQUEST,
  headers: Readonly<Record<string, string>> = {},
  path = '/v1/messages',
) {
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  received.push(text, JSON.stringify([...response.headers]))
  return { status: response.status, text, headers: response.headers }
}

/** What every provider of Anthropic's models must do alike. */
type Cloud = {
  readonly plainPath: string
  readonly streamPath: string
  readonly streamed: (events: readonly { readonly type: string }[]) => Scripted
  /** A part of the key that an error could repeat. */
  readonly secret: string
}

const BEDROCK: Cloud = {
  plainPath: 'POST /model/eu.anthropic.claude-haiku-4-5-20251001-v1%3A0/invoke',
  streamPath:
    'POST /model/eu.anthropic.claude-haiku-4-5-20251001-v1%3A0/invoke-with-response-stream',
  streamed: (events) => ({
    headers: { 'content-type': 'application/vnd.amazon.eventstream' },
    pieces: events.map(awsChunk),
  }),
  secret: AWS_SECRET,
}
const VERTEX_MODEL =
  'POST /v1/projects/planted-project-4711/locations/us-east5/publishers/anthropic/models'
const VERTEX: Cloud = {
  plainPath: `${VERTEX_MODEL}/${MODEL}:rawPredict`,
  streamPath: `${VERTEX_MODEL}/${MODEL}:streamRawPredict`,
  streamed: (events) => ({
    headers: { 'content-type': 'text/event-stream' },
    pieces: [Buffer.from(sseOf(events))],
  }),
  secret: JSON.parse(serviceAccountFile()).private_key.split('\n')[3],
}
const TOKEN_PATH = 'POST /token'
const vertexKey = (fields = {}): string =>
  serviceAccountFile({ token_uri: `${provider.url}/token`, ...fields })
const giveToken = (token = ACCESS_TOKEN): void => {
  provider.answers.set(TOKEN_PATH, { body: { access_token: token, expires_in: 3600 } })
}
const addBedrock = (terms: Partial<ChannelTerms> = {}) => addChannel(33, [AWS_KEY], terms)
const addVertex = (terms: Partial<ChannelTerms> = {}) => {
  giveToken()
  return addChannel(41, [vertexKey()], { other: '{"default":"us-east5"}', ...terms })
}
const modelRequests = () => provider.requests.filter(({ path }) => path !== '/token')

describe.each([
  ['Bedrock', BEDROCK, addBedrock],
  ['Vertex AI', VERTEX, addVertex],
] as const)('a call of the Messages API on %s', (_name, cloud, add) => {
  beforeEach(() => add())

  it('gets the provider’s bytes and is billed to the unit', async () => {
    provider.answers.set(cloud.plainPath, { body: ANSWER })
    const before = await rig.balance()
    const { status, text } = await send()
    expect({ status, text }).toEqual({ status: 200, text: JSON.stringify(ANSWER) })
    expect((await onlyEnd(rig)).data).toMatchObject({
      charge: CHARGE,
      formats: ['messages'],
      usageSource: 'upstream',
      anomaly: null,
      end: 'done',
    })
    expect(before - (await rig.balance())).toBe(BigInt(CHARGE))
  })

  it('as a stream, split at any byte, gets Anthropic’s events at the same price', async () => {
    const bytes = Buffer.concat(cloud.streamed(EVENTS).pieces ?? [])
    const { headers = {} } = cloud.streamed(EVENTS)
    for (let at = 1; at < bytes.length; at += 61) {
      const pieces = [bytes.subarray(0, at), bytes.subarray(at)]
      provider.answers.set(cloud.streamPath, { headers, pieces })
      expect((await send({ ...REQUEST, stream: true })).text).toBe(STREAM)
    }
    const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    expect(ends.length).toBeGreaterThan(20)
    for (const { data } of ends) expect(data).toMatchObject({ charge: CHARGE, end: 'done' })
  })

  it('as a chat with tools, is converted in both directions', async () => {
    provider.answers.set(cloud.plainPath, { body: ANSWER })
    const tools = [{ type: 'function', function: { name: 'read', parameters: {} } }]
    const chat = { model: MODEL, messages: REQUEST.messages, tools }
    const plain = JSON.parse((await send(chat, {}, '/v1/chat/completions')).text)
    expect(plain.choices[0].message.tool_calls[0]).toMatchObject({
      id: 'toolu_1',
      function: { name: 'read', arguments: '{"path":"a.txt"}' },
    })
    expect(JSON.parse(modelRequests()[0]?.body ?? '')).not.toHaveProperty('model')
    provider.answers.set(cloud.streamPath, cloud.streamed(EVENTS))
    const { text } = await send({ ...chat, stream: true }, {}, '/v1/chat/completions')
    expect(text).toContain('"tool_calls":[{"index":0,"id":"toolu_1"')
    expect(text).toMatch(/data: \[DONE\]\n\n$/)
    const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    expect(ends).toHaveLength(2)
    for (const { data } of ends) expect(data).toMatchObject({ charge: CHARGE })
  })

  it('that is cut is billed for its input and for the text that was delivered', async () => {
    provider.answers.set(cloud.streamPath, cloud.streamed(EVENTS.slice(0, 4)))
    const { text } = await send({ ...REQUEST, stream: true })
    expect(text).toContain('event: error\ndata: {"type":"error"')
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({ end: 'incomplete', usage: { cacheRead: 2000 } })
    expect((data as { usage: { output: number } }).usage.output).toBeGreaterThan(5)
  })

  it('that is cut before its first event is not charged', async () => {
    provider.answers.set(cloud.streamPath, cloud.streamed([]))
    const { status } = await send({ ...REQUEST, stream: true })
    expect(status).toBe(502)
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  })

  it('that the provider refuses gets its words without accounts', async () => {
    const arn = 'arn:aws:bedrock:eu-west-1:123456789012:inference-profile/x'
    const name = 'projects/planted-project-4711/locations/us-east5'
    const message = `max_tokens: too large for ${arn} or ${name} of ${cloud.secret} ${provider.url}`
    provider.answers.set(cloud.plainPath, { status: 400, body: { message } })
    const { status, text } = await send()
    expect(status).toBe(400)
    expect(JSON.parse(text)).toMatchObject({ type: 'error' })
    expect(text).toContain('max_tokens: too large for *** or ')
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  })

  it('can’t change the version, and gets no member that the provider lacks', async () => {
    provider.answers.set(cloud.plainPath, { body: ANSWER })
    const own = { anthropic_version: 'x', Model: MODEL, stream: false }
    const { status } = await send({ ...REQUEST, ...own })
    expect(status).toBe(400)
    const { Model: _dropped, ...allowed } = own
    await send({ ...REQUEST, ...allowed, anthropic_beta: ['context-1m-2025-08-07'], speed: 'fast' })
    const body = JSON.parse(modelRequests()[0]?.body ?? '')
    expect(body.anthropic_version).toMatch(/^(?:bedrock-2023-05-31|vertex-2023-10-16)$/)
    for (const member of ['model', 'anthropic_beta', 'speed']) {
      expect(body).not.toHaveProperty(member)
    }
  })
})

describe('a call on Bedrock', () => {
  it('is signed as it is sent, with its betas in the body', async () => {
    await addBedrock()
    provider.answers.set(BEDROCK.plainPath, { body: ANSWER })
    const answer = await send(REQUEST, {
      'anthropic-version': '2023-06-01',
      'anthropic-beta':
        'claude-code-20250219, interleaved-thinking-2025-05-14,context-1m-2025-08-07',
    })
    expect(answer.headers.get('x-dropped-members')).toBe(
      'anthropic-beta: claude-code-20250219, anthropic-beta: context-1m-2025-08-07',
    )
    const [request] = provider.requests
    const members = '"anthropic_beta":["interleaved-thinking-2025-05-14"],'
    const version = '"anthropic_version":"bedrock-2023-05-31",'
    const rest = JSON.stringify(REST).slice(1)
    expect(request?.body).toBe(`{${members}${version}${rest}`)
    const { headers = {}, path = '', body = '' } = request ?? {}
    const names = Object.keys(headers)
    expect(names.filter((name) => name.startsWith('anthropic-'))).toEqual([])
    expect(names).not.toContain('x-api-key')
    const date = String(headers['x-amz-date'])
    const at = new Date(date.replace(/^(....)(..)(..T..)(..)/, '$1-$2-$3:$4:'))
    const credentials = { accessKeyId: AWS_ID, secretAccessKey: AWS_SECRET }
    const sign = awsSigner({ ...credentials, sessionToken: AWS_SESSION }, 'eu-west-1', 'bedrock')
    const expected = await sign(
      {
        method: 'POST',
        origin: provider.url,
        path,
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(body),
      },
      at,
    )
    expect(headers.authorization).toBe(expected.authorization)
    expect(headers['x-amz-security-token']).toBe(AWS_SESSION)
  })

  it('with an API key sends the key as it is', async () => {
    await addChannel(33, ['planted-bedrock-api-key|eu-west-1'])
    provider.answers.set(BEDROCK.plainPath, { body: ANSWER })
    expect((await send()).status).toBe(200)
    expect(provider.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer planted-bedrock-api-key',
    })
    expect(JSON.stringify([received, lines])).not.toContain('planted-bedrock-api-key')
  })

  it('uses the operator’s mapping and overrides', async () => {
    const profile = 'arn:aws:bedrock:eu-west-1:999988887777:application-inference-profile/abc'
    await addBedrock({
      modelMapping: JSON.stringify({ [MODEL]: profile }),
      paramOverride: JSON.stringify({ anthropic_beta: ['effort-2025-11-24'], max_tokens: 32 }),
    })
    const path = `POST /model/${encodeURIComponent(profile)}/invoke`
    provider.answers.set(path, { body: { ...ANSWER, model: profile } })
    const { text } = await send(REQUEST, { 'anthropic-beta': 'interleaved-thinking-2025-05-14' })
    expect(JSON.parse(text)).toMatchObject({ model: MODEL })
    expect(JSON.parse(provider.requests[0]?.body ?? '')).toEqual({
      ...REST,
      anthropic_version: 'bedrock-2023-05-31',
      anthropic_beta: ['effort-2025-11-24'],
      max_tokens: 32,
    })
    expect(provider.requests[0]?.body.match(/anthropic_beta/g)).toHaveLength(1)
  })

  const exception = (name: string, ...before: readonly Buffer[]): Scripted => ({
    headers: { 'content-type': 'application/vnd.amazon.eventstream' },
    pieces: [...before, awsException(name, `Slow down, ${AWS_ID} of arn:aws:iam::123456789012:x`)],
  })

  it('that ends with an exception before its first event is not charged', async () => {
    await addBedrock()
    provider.answers.set(BEDROCK.streamPath, exception('throttlingException'))
    const { status, text } = await send({ ...REQUEST, stream: true })
    expect(status).toBe(429)
    expect(JSON.parse(text).error).toMatchObject({ type: 'rate_limit_error' })
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  })

  it('that ends with an exception in its stream is billed for what was delivered', async () => {
    await addBedrock()
    const before = EVENTS.slice(0, 3).map(awsChunk)
    provider.answers.set(BEDROCK.streamPath, exception('modelStreamErrorException', ...before))
    const { text } = await send({ ...REQUEST, stream: true })
    expect(text.startsWith(sseOf(EVENTS.slice(0, 3)))).toBe(true)
    expect(text).toContain('event: error\n')
    expect((await onlyEnd(rig)).data).toMatchObject({ usage: { cacheRead: 2000 } })
  })

  it('is cut at a damaged frame, and nothing after it is delivered', async () => {
    await addBedrock()
    const damaged = awsChunk(EVENTS[3] ?? {})
    damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1
    provider.answers.set(BEDROCK.streamPath, {
      headers: { 'content-type': 'application/vnd.amazon.eventstream' },
      pieces: [...EVENTS.slice(0, 3).map(awsChunk), damaged, ...EVENTS.slice(4).map(awsChunk)],
    })
    const { text } = await send({ ...REQUEST, stream: true })
    expect(text).toContain('event: error\n')
    expect(text).not.toContain('message_stop')
    expect((await onlyEnd(rig)).data).toMatchObject({ end: 'incomplete' })
  })

  it('whose caller leaves is ended at once and billed for what was delivered', async () => {
    let isClosed = false
    const endless = await serve((_request, response) => {
      response.on('close', () => {
        isClosed = true
      })
      response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
      response.write(Buffer.concat(EVENTS.slice(0, 3).map(awsChunk)))
    })
    try {
      await addBedrock({ baseUrl: endless.url })
      const controller = new AbortController()
      const response = await fetch(`${rig.url}/v1/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...REQUEST, stream: true }),
        signal: controller.signal,
      })
      await response.body?.getReader().read()
      controller.abort()
      await expect.poll(() => isClosed).toBe(true)
      await expect.poll(async () => (await rig.callEvents()).at(-1)?.type).toBe('CallSettled')
      const { data } = await onlyEnd(rig)
      expect(data).toMatchObject({ end: 'client-gone', usage: { cacheRead: 2000 } })
      expect((data as { usage: { output: number } }).usage.output).toBeGreaterThan(5)
    } finally {
      await endless.close()
    }
  })

  it('with refused credentials is tried with the channel’s other key', async () => {
    await addChannel(33, ['AKIAPLANTED7ACCESSKEY|wrong|eu-west-1', AWS_KEY])
    await rig.setOption('RetryTimes', '3')
    const body = { message: `The security token of ${AWS_ID} is invalid.` }
    const headers = { 'x-amzn-errortype': 'UnrecognizedClientException' }
    provider.answers.set(BEDROCK.plainPath, { status: 403, headers, body })
    const { status, text } = await send()
    expect(provider.requests).toHaveLength(2)
    expect(status).toBe(502)
    expect(text).not.toContain('security token')
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  })
})

describe('a call on Vertex AI', () => {
  it('has a token of the service account, and the version in its body', async () => {
    await addVertex()
    provider.answers.set(VERTEX.plainPath, { body: ANSWER })
    const headers = {
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'oauth-2025-04-20,interleaved-thinking-2025-05-14',
    }
    const answer = await send(REQUEST, headers)
    await send(REQUEST, headers)
    const dropped = answer.headers.get('x-dropped-members')
    expect(dropped).toBe('anthropic-beta: oauth-2025-04-20')
    expect(provider.requests.map(({ path }) => path)).toEqual([
      '/token',
      VERTEX.plainPath.slice('POST '.length),
      VERTEX.plainPath.slice('POST '.length),
    ])
    const [request] = modelRequests()
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${ACCESS_TOKEN}`,
      'anthropic-beta': 'interleaved-thinking-2025-05-14',
    })
    expect(request?.headers).not.toHaveProperty('anthropic-version')
    const version = '"anthropic_version":"vertex-2023-10-16",'
    expect(request?.body).toBe(`{${version}${JSON.stringify(REST).slice(1)}`)
  })

  it('keeps `stream` in the body of a stream', async () => {
    await addVertex()
    provider.answers.set(VERTEX.streamPath, VERTEX.streamed(EVENTS))
    await send({ ...REQUEST, stream: true })
    expect(JSON.parse(modelRequests()[0]?.body ?? '')).toMatchObject({ stream: true })
  })

  it('with a refused key is tried with the other key, and is free if that fails too', async () => {
    await addChannel(41, [vertexKey(), vertexKey({ private_key_id: 'other' })], {
      other: 'us-east5',
    })
    await rig.setOption('RetryTimes', '3')
    provider.answers.set(TOKEN_PATH, {
      status: 400,
      body: { error: 'invalid_grant', error_description: 'Invalid grant: planted-project-4711' },
    })
    const { status, text } = await send()
    expect(status).toBe(502)
    expect(JSON.parse(text)).toMatchObject({ type: 'error' })
    expect(provider.requests.map(({ path }) => path)).toEqual(['/token', '/token'])
    const end = await onlyEnd(rig)
    expect(end.type).toBe('CallReleased')
    expect(end.data.attempts).toMatchObject([{ status: 401 }, { status: 401 }])
    expect(messages).toMatchObject([{ message: 'Invalid grant: ***' }])
  })

  it('without a reachable token endpoint is not charged', async () => {
    await addVertex()
    provider.answers.set(TOKEN_PATH, { status: 503, body: {} })
    const { status } = await send()
    expect(status).toBe(502)
    expect(modelRequests()).toEqual([])
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  })

  it('whose caller leaves while the token is requested is never sent, and is free', async () => {
    await addVertex()
    let resume = () => {}
    const until = new Promise<void>((resolve) => {
      resume = resolve
    })
    const body = { access_token: ACCESS_TOKEN, expires_in: 3600 }
    provider.answers.set(TOKEN_PATH, { until, body })
    const controller = new AbortController()
    const gone = fetch(`${rig.url}/v1/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(REQUEST),
      signal: controller.signal,
    }).catch(() => {})
    await expect.poll(() => provider.requests.length).toBe(1)
    controller.abort()
    await gone
    await expect.poll(async () => (await rig.callEvents()).at(-1)?.type).toBe('CallReleased')
    resume()
    provider.answers.set(VERTEX.plainPath, { body: ANSWER })
    expect((await send()).status).toBe(200)
    expect(modelRequests()).toHaveLength(1)
  })
})
