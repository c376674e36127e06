import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, PROVIDER_KEY, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MODEL = 'gemini-3.8-flash'
const PATH = `/v1beta/models/${MODEL}:generateContent`
const STREAM_PATH = `/v1beta/models/${MODEL}:streamGenerateContent`
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 24, baseUrl: provider.url, models: [MODEL] })
  await rig.setOption('ModelRatio', { [MODEL]: 1 })
  await rig.setOption('CompletionRatio', { [MODEL]: 4 })
  await rig.setOption('CacheRatio', { [MODEL]: 0.25 })
  await rig.setOption('AudioRatio', { [MODEL]: 3 })
  await rig.setOption('AudioCompletionRatio', { [MODEL]: 2 })
  await rig.setOption('ImageRatio', { [MODEL]: 2 })
})

/** As Gemini CLI sends it: a system instruction, a call with a signature, its result, tools. */
const REQUEST = {
  contents: [
    { role: 'user', parts: [{ text: 'Read a.txt' }] },
    {
      role: 'model',
      parts: [
        {
          functionCall: { name: 'read', args: { path: 'a.txt', model: 'x', usageMetadata: {} } },
          thoughtSignature: 'c2ln',
        },
      ],
    },
    {
      role: 'user',
      parts: [{ functionResponse: { name: 'read', response: { output: 'hello' } } }],
    },
  ],
  systemInstruction: { role: 'user', parts: [{ text: 'Be brief.' }] },
  tools: [
    { functionDeclarations: [{ name: 'read', description: 'Reads a file', parameters: {} }] },
  ],
  toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
  safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
  generationConfig: { temperature: 0, maxOutputTokens: 64, thinkingConfig: { thinkingBudget: 32 } },
}

const USAGE = {
  promptTokenCount: 1000,
  cachedContentTokenCount: 400,
  candidatesTokenCount: 30,
  thoughtsTokenCount: 20,
  totalTokenCount: 1050,
  promptTokensDetails: [
    { modality: 'TEXT', tokenCount: 700 },
    { modality: 'AUDIO', tokenCount: 100 },
    { modality: 'IMAGE', tokenCount: 200 },
  ],
  cacheTokensDetails: [
    { modality: 'TEXT', tokenCount: 360 },
    { modality: 'AUDIO', tokenCount: 40 },
  ],
}
/**
 * Of 1000 tokens, 400 are cached, 60 are sound and 200 are pictures beside the cache; the answer
 * has 30 tokens and 20 of thoughts: 340 + 400·0.25 + 60·3 + 200·2 + 50·4.
 */
const CHARGE = 340 + 100 + 180 + 400 + 200

const candidate = (text: string, finishReason?: string, index = 0) => ({
  content: { role: 'model', parts: [{ text }] },
  ...(finishReason === undefined ? {} : { finishReason }),
  index,
})
const ANSWER = {
  candidates: [candidate('It says hello.', 'STOP')],
  usageMetadata: USAGE,
  modelVersion: MODEL,
  responseId: 'r1',
}

const event = (data: object): string => `data: ${JSON.stringify(data)}\r\n\r\n`
const early = { promptTokenCount: 1000, cachedContentTokenCount: 400, totalTokenCount: 1000 }
const CHUNKS = [
  { candidates: [candidate('It says ')], usageMetadata: early, modelVersion: MODEL },
  { candidates: [candidate('"finishReason":"STOP"')], usageMetadata: early, modelVersion: MODEL },
  { candidates: [candidate(' hello.', 'STOP')], usageMetadata: USAGE, modelVersion: MODEL },
]
const STREAM = CHUNKS.map(event).join('')

const answerWith = (pieces: readonly Buffer[], path = STREAM_PATH) =>
  provider.answers.set(`POST ${path}`, {
    headers: { 'content-type': 'text/event-stream' },
    pieces,
  })

type Sent = {
  readonly body?: object
  readonly headers?: Record<string, string>
  readonly path?: string
}

async function send({ body = REQUEST, headers = {}, path = PATH }: Sent = {}) {
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { 'x-goog-api-key': `sk-${KEY}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, text, headers: response.headers }
}
const stream = (sent: Sent = {}) => send({ path: `${STREAM_PATH}?alt=sse`, ...sent })

describe('a call of generateContent', () => {
  it('the provider gets the bytes and the client header of the caller', async () => {
    provider.answers.set(`POST ${PATH}`, { body: ANSWER })
    const { status, text } = await send({
      headers: { 'x-goog-api-client': 'google-genai-sdk/1.0', cookie: 'a=b', 'x-goog-user': 'me' },
    })
    expect(status).toBe(200)
    expect(text).toBe(JSON.stringify(ANSWER))
    const [request] = provider.requests
    expect(request?.body).toBe(JSON.stringify(REQUEST))
    expect(request?.path).toBe(PATH)
    expect(request?.headers).toMatchObject({
      'x-goog-api-key': PROVIDER_KEY,
      'x-goog-api-client': 'google-genai-sdk/1.0',
    })
    for (const name of ['authorization', 'cookie', 'x-goog-user']) {
      expect(request?.headers).not.toHaveProperty(name)
    }
  })

  it('is billed by its usage, with thoughts, cache, sound and pictures', async () => {
    provider.answers.set(`POST ${PATH}`, { body: ANSWER })
    const before = await rig.balance()
    await send()
    expect((await onlyEnd(rig)).data).toMatchObject({
      charge: CHARGE,
      formats: ['gemini'],
      usageSource: 'upstream',
      anomaly: null,
      end: 'done',
      usage: {
        inputUncached: 340,
        cacheRead: 400,
        inputAudio: 60,
        inputImage: 200,
        output: 50,
        reasoning: 20,
      },
    })
    expect(before - (await rig.balance())).toBe(BigInt(CHARGE))
  })

  it.each([
    ['/v1/models', {}],
    ['/v1beta/models', { 'x-goog-api-key': '', authorization: `Bearer sk-${KEY}` }],
  ])('is served under %s with %j', async (base, headers) => {
    provider.answers.set(`POST ${PATH}`, { body: ANSWER })
    const sent = await send({ path: `${base}/${MODEL}:generateContent`, headers })
    expect(sent.status).toBe(200)
  })

  it('the key in the query does not reach the provider', async () => {
    provider.answers.set(`POST ${PATH}`, { body: ANSWER })
    const response = await fetch(`${rig.url}${PATH}?key=sk-${KEY}`, {
      method: 'POST',
      body: JSON.stringify(REQUEST),
      headers: { 'content-type': 'application/json' },
    })
    expect(response.status).toBe(200)
    expect(JSON.stringify(provider.requests)).not.toContain(KEY)
  })
})

describe('a call of streamGenerateContent', () => {
  it('is forwarded byte for byte and billed the same, split at any byte', async () => {
    const bytes = Buffer.from(STREAM)
    for (let at = 1; at < bytes.length; at += 7) {
      answerWith([bytes.subarray(0, at), bytes.subarray(at)])
      expect((await stream()).text).toBe(STREAM)
    }
    expect(provider.requests[0]?.path).toBe(`${STREAM_PATH}?alt=sse`)
    const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    expect(ends.length).toBeGreaterThan(50)
    for (const { data } of ends) expect(data).toMatchObject({ charge: CHARGE, end: 'done' })
  })

  it('a plain answer to a request for an array is one element', async () => {
    provider.answers.set(`POST ${STREAM_PATH}`, { body: JSON.stringify(ANSWER, null, 2) })
    expect(JSON.parse((await send({ path: STREAM_PATH })).text)).toEqual([ANSWER])
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE, end: 'done' })
  })

  it('an error for a request for an array is one element', async () => {
    provider.answers.set(`POST ${STREAM_PATH}`, {
      ...{
        status: 400,
        body: { error: { code: 400, message: 'No.', status: 'INVALID_ARGUMENT' } },
      },
    })
    const { status, text } = await send({ path: STREAM_PATH })
    expect(status).toBe(400)
    expect(JSON.parse(text)).toMatchObject([{ error: { status: 'INVALID_ARGUMENT' } }])
    const sse = await send({ path: `${STREAM_PATH}?alt=sse` })
    expect(JSON.parse(sse.text)).toMatchObject({ error: { status: 'INVALID_ARGUMENT' } })
  })

  it('is a JSON array without alt=sse', async () => {
    answerWith([Buffer.from(STREAM)])
    const { text, headers } = await send({ path: STREAM_PATH })
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect(JSON.parse(text)).toEqual(CHUNKS)
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE, end: 'done' })
  })
})

/** Sends a stream whose first event arrives before the caller is let go. */
async function openStream(body: object, path = `${STREAM_PATH}?alt=sse`) {
  const abort = new AbortController()
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { 'x-goog-api-key': `sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: abort.signal,
  })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const { value } = await reader.read()
  return { first: Buffer.from(value ?? []).toString(), abort: () => abort.abort() }
}

const [FIRST = {}, SECOND = {}, LAST = {}] = CHUNKS

describe('the end of a stream', () => {
  it('the last chunk is not sent before the bill is durable', async () => {
    answerWith([Buffer.from(STREAM)])
    const seen: string[] = []
    const append = rig.core.store.append.bind(rig.core.store)
    rig.core.store.append = async (writes) => {
      const settles = JSON.stringify(writes, (_, value) =>
        typeof value === 'bigint' ? `${value}` : value,
      ).includes('CallSettled')
      if (settles) {
        await new Promise((resume) => setTimeout(resume, 50))
        seen.push('settled')
      }
      return append(writes)
    }
    const response = await fetch(`${rig.url}${STREAM_PATH}?alt=sse`, {
      method: 'POST',
      headers: { 'x-goog-api-key': `sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(REQUEST),
    })
    for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
      seen.push(Buffer.from(bytes).toString().includes(' hello.') ? 'last' : 'text')
    }
    expect(seen.indexOf('last')).toBeGreaterThan(seen.indexOf('settled'))
    expect(seen).toContain('settled')
  })

  it.each([
    ['a chunk with usage alone', [...CHUNKS, { usageMetadata: USAGE, modelVersion: MODEL }]],
    ['a finish reason in each chunk', CHUNKS.map((chunk) => ({ ...LAST, ...chunk }))],
    ['a refused prompt', [{ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: early }]],
    [
      'two candidates',
      [
        { candidates: [candidate('a', 'STOP', 0), candidate('b', undefined, 1)] },
        { candidates: [candidate('c', 'STOP', 1)], usageMetadata: USAGE },
      ],
    ],
  ])('a stream with %s arrives whole', async (_name, chunks) => {
    const text = chunks.map(event).join('')
    answerWith([Buffer.from(text)])
    expect((await stream()).text).toBe(text)
    expect((await onlyEnd(rig)).data).toMatchObject({ end: 'done', anomaly: null })
  })

  it('a last event without its blank line counts if its data is complete', async () => {
    answerWith([Buffer.from(STREAM.trimEnd())])
    const { text } = await stream()
    expect(text.trimEnd()).toBe(STREAM.trimEnd())
    expect((await onlyEnd(rig)).data).toMatchObject({ end: 'done', charge: CHARGE })
  })

  it.each([
    ['after an event', event(FIRST) + event(SECOND)],
    ['within the last event', STREAM.slice(0, -40)],
  ])('a stream that is cut %s is billed for what was delivered', async (_name, text) => {
    answerWith([Buffer.from(text)])
    const sent = await stream()
    expect(sent.text).toContain('"status":"UNAVAILABLE"')
    expect(sent.text).not.toContain(' hello.')
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({ end: 'incomplete', usage: { cacheRead: 400 } })
    expect((data as { usage: { output: number } }).usage.output).toBeGreaterThan(3)
  })

  it('a JSON array of a stream that is cut stays valid and ends with the error', async () => {
    answerWith([Buffer.from(event(FIRST))])
    const { text } = await send({ path: STREAM_PATH })
    const elements = JSON.parse(text) as { error?: { code: number } }[]
    expect(elements).toHaveLength(2)
    expect(elements[1]?.error?.code).toBe(502)
  })

  it('a caller who leaves after the finish reason pays by the usage of the provider', async () => {
    let end = () => {}
    const until = new Promise<void>((resume) => {
      end = resume
    })
    const done = { candidates: [candidate('done', 'STOP')], usageMetadata: early }
    provider.answers.set(`POST ${STREAM_PATH}`, {
      headers: { 'content-type': 'text/event-stream' },
      pieces: [
        Buffer.from(event(FIRST) + event(done)),
        Buffer.from(event({ usageMetadata: USAGE })),
      ],
      pause: until,
    })
    const open = await openStream(REQUEST)
    expect(open.first).toContain('It says')
    open.abort()
    await new Promise((resume) => setTimeout(resume, 50))
    end()
    await expect.poll(async () => (await rig.callEvents()).length).toBeGreaterThan(1)
    expect((await onlyEnd(rig)).data).toMatchObject({ end: 'client-gone', charge: CHARGE })
  })
})

describe('errors of generateContent', () => {
  const quota = {
    error: {
      code: 429,
      message: `Quota of project 12345678 (key ${PROVIDER_KEY}) is used up at https://a.example/b`,
      status: 'RESOURCE_EXHAUSTED',
      details: [
        { '@type': 'type.googleapis.com/google.rpc.Help', links: [{ url: 'https://a.example' }] },
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '36s' },
      ],
    },
  }

  it('the provider’s status, words and delay reach the caller without its account', async () => {
    provider.answers.set(`POST ${PATH}`, { status: 429, body: quota })
    const { status, text } = await send()
    expect(status).toBe(429)
    expect(JSON.parse(text)).toEqual({
      error: {
        code: 429,
        message: 'Quota of *** (key ***) is used up at ***',
        status: 'RESOURCE_EXHAUSTED',
        details: [
          { '@type': 'type.googleapis.com/google.rpc.Help', links: [{ url: '***' }] },
          { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '36s' },
        ],
      },
    })
    expect(await onlyEnd(rig)).toMatchObject({ type: 'CallReleased' })
  })

  it.each([
    ['in an event', event(quota)],
    ['outside of an event', JSON.stringify(quota, null, 2)],
  ])('an error %s of a stream ends the call once, without the key', async (_name, error) => {
    answerWith([Buffer.from(event(FIRST) + error)])
    const { text } = await stream()
    expect(text).toContain('"status":"RESOURCE_EXHAUSTED"')
    expect(text).not.toContain(PROVIDER_KEY)
    expect(text).not.toContain('12345678')
    expect(await onlyEnd(rig)).toMatchObject({ data: { end: 'upstream-error' } })
  })

  it('an invalid key of the site is not reported as a bad request of the caller', async () => {
    const details = [{ '@type': 'ErrorInfo', reason: 'API_KEY_INVALID', domain: 'googleapis.com' }]
    const error = { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT', details }
    provider.answers.set(`POST ${PATH}`, { status: 400, body: { error } })
    const { status, text } = await send()
    expect(status).toBeGreaterThanOrEqual(500)
    expect(text).not.toContain('not valid')
  })

  const parts = [{ text: 'x' }]
  const contents = [{ role: 'user', parts }]
  it.each([
    [{ headers: { 'x-goog-api-key': 'sk-wrong' } }, 401, 'UNAUTHENTICATED', ''],
    [{ path: '/v1beta/models/unknown:generateContent' }, 404, 'NOT_FOUND', 'unknown'],
    [{ path: '/v1beta/models/unknown:embedText' }, 404, 'NOT_FOUND', ''],
    [{ body: {} }, 400, 'INVALID_ARGUMENT', 'contents'],
    [{ body: { contents: [] } }, 400, 'INVALID_ARGUMENT', 'contents'],
    [{ body: { contents: ['x'] } }, 400, 'INVALID_ARGUMENT', 'contents'],
    [{ body: { contents: [{ parts: 'x' }] } }, 400, 'INVALID_ARGUMENT', 'contents[0].parts'],
    [{ body: { contents, tools: 'x' } }, 400, 'INVALID_ARGUMENT', 'tools'],
    [{ body: { contents, tools: [[]] } }, 400, 'INVALID_ARGUMENT', 'tools'],
    [
      { body: { contents, generationConfig: {}, generation_config: {} } },
      ...([400, 'INVALID_ARGUMENT', 'generation_config'] as const),
    ],
    [
      { body: { contents, generationConfig: { maxOutputTokens: 0 } } },
      ...([400, 'INVALID_ARGUMENT', 'generationConfig.maxOutputTokens'] as const),
    ],
    [
      { body: { contents, generation_config: { candidate_count: 1e9 } } },
      ...([400, 'INVALID_ARGUMENT', 'generation_config.candidate_count'] as const),
    ],
    [
      { body: { contents, cachedContent: 'cachedContents/a' } },
      ...([400, 'INVALID_ARGUMENT', 'cachedContent'] as const),
    ],
  ])('%j gets status %i and the status %s', async (sent, status, name, word) => {
    const answer = await send(sent as Sent)
    expect(answer.status).toBe(status)
    const { error } = JSON.parse(answer.text) as { error: { message: string } }
    expect(error).toMatchObject({ code: status, status: name })
    expect(error.message).toContain(word)
    expect(provider.requests).toEqual([])
  })
})

describe('what is not billed', () => {
  it('is removed, and the caller is told', async () => {
    provider.answers.set(`POST ${PATH}`, { body: ANSWER })
    const { functionDeclarations } = REQUEST.tools[0] ?? {}
    const tools = [
      { googleSearch: {} },
      { functionDeclarations, codeExecution: {}, url_context: {} },
      { functionDeclarations },
    ]
    const { headers } = await send({
      body: { ...REQUEST, tools, serviceTier: 'priority', labels: { a: 'b' }, model: 'other' },
    })
    expect(headers.get('x-dropped-members')).toBe('serviceTier, labels, model, tools')
    expect(JSON.parse(provider.requests[0]?.body ?? '')).toEqual({
      ...REQUEST,
      tools: [{ functionDeclarations }, { functionDeclarations }],
    })
  })

  it('tools are sent if the channel allows them', async () => {
    provider.answers.set(`POST ${PATH}`, { body: ANSWER })
    const setting = JSON.stringify({ allowed_members: ['tools'] })
    await rig.addChannel(5, { type: 24, baseUrl: provider.url, models: ['gemini-x'], setting })
    await rig.setOption('ModelRatio', { [MODEL]: 1, 'gemini-x': 1 })
    const path = '/v1beta/models/gemini-x:generateContent'
    provider.answers.set(`POST ${path}`, { body: { ...ANSWER, modelVersion: 'gemini-x' } })
    const body = { ...REQUEST, tools: [{ googleSearch: {} }] }
    await send({ path, body })
    expect(JSON.parse(provider.requests[0]?.body ?? '')).toEqual(body)
  })

  it('counting tokens is free of charge, without a request to the provider', async () => {
    const before = await rig.balance()
    const count = async (body: object) =>
      JSON.parse((await send({ path: `/v1beta/models/${MODEL}:countTokens`, body })).text) as {
        totalTokens: number
      }
    const { contents, systemInstruction } = REQUEST
    const { totalTokens } = await count({ contents })
    expect(totalTokens).toBeGreaterThan(5)
    const generateContentRequest = { model: `models/${MODEL}`, contents, systemInstruction }
    expect((await count({ generateContentRequest })).totalTokens).toBeGreaterThan(totalTokens)
    expect(provider.requests).toEqual([])
    expect(await rig.callEvents()).toEqual([])
    expect(await rig.balance()).toBe(before)
  })
})

describe('an account that can pay little', () => {
  it('gets the output limit that it can pay, and is never charged more', async () => {
    await rig.addUser(8)
    await rig.addToken(9, 8, 'poor_key_0123456789')
    await rig.grant(8, 12_000n)
    provider.answers.set(`POST ${PATH}`, { body: ANSWER })
    const { generationConfig: _, ...body } = REQUEST
    const headers = { 'x-goog-api-key': 'sk-poor_key_0123456789' }
    expect((await send({ body, headers })).status).toBe(200)
    const sent = JSON.parse(provider.requests[0]?.body ?? '') as typeof REQUEST
    expect(sent.contents).toEqual(REQUEST.contents)
    const { maxOutputTokens } = sent.generationConfig
    expect(maxOutputTokens).toBeGreaterThan(255)
    expect(maxOutputTokens).toBeLessThan(3_000)
    const [admitted, end] = await rig.callEvents(8)
    expect(admitted?.data).toMatchObject({ outputLimit: maxOutputTokens })
    expect(end?.data).toMatchObject({ charge: CHARGE })
  })
})

describe('a channel with another name for the model', () => {
  it('the provider gets its own name, and the caller sees the name that was called', async () => {
    const own = 'gemini-inner'
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    await rig.addChannel(3, {
      type: 24,
      baseUrl: provider.url,
      models: [MODEL],
      modelMapping: JSON.stringify({ [MODEL]: own }),
    })
    const args = { modelVersion: own }
    const content = { role: 'model', parts: [{ functionCall: { name: 'f', args } }] }
    const answer = { ...ANSWER, candidates: [{ content, finishReason: 'STOP' }], modelVersion: own }
    provider.answers.set(`POST /v1beta/models/${own}:generateContent`, { body: answer })
    expect(JSON.parse((await send()).text)).toEqual({ ...answer, modelVersion: MODEL })
    answerWith([Buffer.from(event(answer))], `/v1beta/models/${own}:streamGenerateContent`)
    expect((await stream()).text).toBe(event({ ...answer, modelVersion: MODEL }))
    for (const { data } of (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')) {
      expect(data).toMatchObject({ upstreamModel: own, anomaly: null })
    }
  })
})

describe('lists of models', () => {
  const list = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${rig.url}${path}`, {
      headers: { 'x-goog-api-key': `sk-${KEY}`, ...headers },
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  it('have Gemini’s shape and pages, and name one model', async () => {
    await rig.addChannel(3, { models: ['sim-small', 'vendor/model:free'] })
    await rig.setOption('ModelRatio', { [MODEL]: 1, 'sim-small': 1, 'vendor/model:free': 1 })
    const names: unknown[] = []
    let token = ''
    do {
      const { body } = await list(`/v1beta/models?pageSize=1&pageToken=${token}`)
      names.push(...(body.models as { name: string }[]).map(({ name }) => name))
      token = encodeURIComponent((body.nextPageToken as string | undefined) ?? '')
    } while (token !== '')
    expect(names).toEqual([`models/${MODEL}`, 'models/sim-small', 'models/vendor/model:free'])
    const one = await list('/v1beta/models/vendor/model:free')
    expect(one.body).toMatchObject({ name: 'models/vendor/model:free' })
    expect((await list('/v1/models')).body).toHaveProperty('models')
    const unknown = await list('/v1beta/models/unknown')
    expect(unknown).toMatchObject({ status: 404, body: { error: { status: 'NOT_FOUND' } } })
  })

  it('HEAD / is answered, because some clients test the address with it', async () => {
    const { status } = await fetch(`${rig.url}/`, { method: 'HEAD' })
    expect(status).toBe(200)
    expect(rig.relay.matches('/', 'HEAD')).toBe(true)
    for (const url of ['/', '/v1betaX', '/api/models']) {
      expect(rig.relay.matches(url, 'GET')).toBe(false)
    }
  })

  it('keep the shape of other callers', async () => {
    const headers = { 'x-goog-api-key': '', authorization: `Bearer sk-${KEY}` }
    const response = await fetch(`${rig.url}/v1/models?key=x`, {
      headers: { authorization: headers.authorization },
    })
    expect(await response.json()).toMatchObject({ object: 'list' })
  })
})
