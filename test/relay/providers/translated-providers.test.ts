import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, relayRig } from '../support/relay-rig.ts'
import { type Scripted, scriptedProvider } from '../support/scripted-provider.ts'
import {
  PROVIDER_SCRIPTS,
  type ProviderScript,
  TEXT,
  USAGE,
} from '../support/translated-provider-scripts.ts'

const provider = startedForEach(scriptedProvider)
let lines: string[] = []
const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
const rig = startedForEach(() => relayRig({}, {}, undefined, { log }))
let received: string[] = []

/** At ratio 1.25 and four times this price for the output. */
const CHARGE = 1.25 * (USAGE.input + 4 * USAGE.output)

beforeEach(async () => {
  lines = []
  received = []
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
})

async function addChannel(script: ProviderScript, below = ''): Promise<void> {
  const { type, key, other = '', model, others = {} } = script
  await rig.setOption('ModelRatio', { [model]: 1.25 })
  await rig.setOption('CompletionRatio', { [model]: 4 })
  for (const [path, answer] of Object.entries(others)) provider.answers.set(path, answer)
  const own = { type, other, baseUrl: `${provider.url}${below}`, models: [model] }
  await rig.append(CHANNELS_STREAM, {
    type: 'ChannelsCreated',
    v: 1,
    data: {
      terms: { ...PLAIN_CHANNEL_TERMS, ...own },
      channels: [{ channelId: 2, name: 'provider', keyRefs: [`key:${key}`] }],
      keyMode: '',
      isEnabled: true,
    },
  })
}

async function send(body: object, path = '/v1/chat/completions', key = KEY) {
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  received.push(text, JSON.stringify([...response.headers]))
  return { status: response.status, text, headers: response.headers }
}

/** Lets the provider stream these pieces as the answer to a stream. */
function setStream({ streamOf, streamPath, stream }: ProviderScript, pieces: readonly Buffer[]) {
  const isCut = pieces.length < (stream.pieces ?? []).length
  const { keepsOpen: _, ...closed } = stream
  const answer = { ...(isCut ? closed : stream), pieces }
  if (streamOf === undefined) return void provider.answers.set(streamPath, answer)
  const urls = { stream: `${provider.url}${streamOf}` }
  provider.answers.set(streamPath, { status: 201, body: { id: 'p1', status: 'starting', urls } })
  provider.answers.set(`GET ${streamOf}`, answer)
}

const QUESTION = [{ role: 'user', content: 'Hello' }]

const question = (model: string, fields = {}) => ({
  model,
  max_tokens: 50,
  temperature: 0.5,
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hello' },
  ],
  ...fields,
})

const sentBody = (path: string) =>
  JSON.parse(
    provider.requests.find((request) => `${request.method} ${request.path.split('?')[0]}` === path)
      ?.body ?? 'null',
  )

/** The deltas of a stream, and its last chunk with usage. */
function readStream(text: string) {
  const events = text.split('\n\n').filter((event) => event !== '')
  const chunks = events
    .filter((event) => event !== 'data: [DONE]')
    .map((event) => JSON.parse(event.replace(/^data: /, '')))
  const deltas = chunks.flatMap(({ choices }) => choices ?? [])
  return {
    content: deltas.map(({ delta }) => delta.content ?? '').join(''),
    reasons: deltas.flatMap(({ finish_reason: reason }) => reason ?? []),
    usage: chunks.findLast(({ usage }) => usage)?.usage,
    isDone: events.at(-1) === 'data: [DONE]',
    ids: new Set(chunks.map(({ id }) => id)),
  }
}

describe.each([...PROVIDER_SCRIPTS.values()])('a provider of type $type', (script) => {
  const { model, plainPath, streamPath } = script

  beforeEach(() => addChannel(script))
  afterEach(async () => {
    const everything = JSON.stringify([received, lines, await rig.callEvents()])
    const { host } = new URL(provider.url)
    for (const secret of [...script.secrets, host]) expect(everything).not.toContain(secret)
  })

  it('gets the request in its format, and its answer is billed to the unit', async () => {
    provider.answers.set(plainPath, script.plain)
    const before = await rig.balance()
    const { status, text } = await send(question(model))
    expect({ status, text }).toMatchObject({ status: 200 })
    expect(JSON.parse(text)).toMatchObject({
      object: 'chat.completion',
      model,
      choices: [{ message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' }],
      usage: { prompt_tokens: USAGE.input, completion_tokens: USAGE.output },
    })
    expect(sentBody(plainPath)).toEqual(script.request)
    const { data } = await onlyEnd(rig)
    const usage = { inputUncached: USAGE.input, output: USAGE.output }
    expect(data).toMatchObject({ charge: CHARGE, usage, usageSource: 'upstream', anomaly: null })
    expect(before - (await rig.balance())).toBe(BigInt(CHARGE))
  })

  it('streams, split at any byte, at the same price', async () => {
    const bytes = Buffer.concat(script.stream.pieces ?? [])
    const step = Math.ceil(bytes.length / 15)
    for (let at = 1; at < bytes.length; at += step) {
      const pieces = [bytes.subarray(0, at), bytes.subarray(at)]
      setStream(script, script.isWebsocket === true ? (script.stream.pieces ?? []) : pieces)
      const { status, text } = await send(
        question(model, { stream: true, stream_options: { include_usage: true } }),
      )
      expect({ status, text }).toMatchObject({ status: 200 })
      expect(readStream(text)).toMatchObject({
        content: TEXT,
        reasons: ['stop'],
        isDone: true,
        usage: { prompt_tokens: USAGE.input, completion_tokens: USAGE.output },
      })
      expect(readStream(text).ids.size).toBe(1)
    }
    expect(sentBody(streamPath)).toEqual(script.streamRequest)
    const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    expect(ends.length).toBeGreaterThan(5)
    for (const { data } of ends) expect(data).toMatchObject({ charge: CHARGE, end: 'done' })
  })

  it('shows no usage to a caller of a stream who did not ask for it', async () => {
    setStream(script, script.stream.pieces ?? [])
    const { text } = await send(question(model, { stream: true }))
    expect(readStream(text)).toMatchObject({ content: TEXT, isDone: true })
    expect(text).not.toContain('prompt_tokens')
  })

  it('answers callers of another format', async () => {
    provider.answers.set(plainPath, script.plain)
    const { messages: _, ...rest } = question(model)
    const messages = [{ role: 'user', content: 'Hello' }]
    const { status, text } = await send({ ...rest, system: 'Be brief.', messages }, '/v1/messages')
    expect({ status, text }).toMatchObject({ status: 200 })
    expect(JSON.parse(text)).toMatchObject({
      content: [{ type: 'text', text: TEXT }],
      usage: { input_tokens: USAGE.input, output_tokens: USAGE.output },
    })
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE })
  })

  it.each([false, true])('shows its error and charges nothing (stream: %s)', async (stream) => {
    const path = stream ? streamPath : plainPath
    provider.answers.set(path, script.error)
    const { status, text } = await send(question(model, { stream }))
    expect({ status, text }).toMatchObject({ status: script.errorStatus })
    expect(JSON.parse(text).error.message).toBe(script.errorText)
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  })

  it('hides an error of the site’s key', async () => {
    provider.answers.set(plainPath, script.keyError)
    const { text } = await send(question(model))
    expect(JSON.parse(text).error).toMatchObject({ code: 'upstream_account' })
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  })

  it('does not charge as whole what was cut', async () => {
    const { pieces = [] } = script.stream
    setStream(script, pieces.slice(0, -2))
    const failed = { body: { id: 'p1', status: 'aborted' } }
    if (script.streamOf !== undefined) provider.answers.set('GET /v1/predictions/p1', failed)
    await send(question(model, { stream: true }))
    const { type, data } = await onlyEnd(rig)
    expect(type === 'CallSettled' && data.end === 'done').toBe(false)
  })

  it('refuses several answers before anything is sent', async () => {
    const { status, text } = await send(question(model, { n: 2 }))
    expect({ status, param: JSON.parse(text).error.param }).toEqual({ status: 400, param: 'n' })
    expect(provider.requests).toEqual([])
  })
})

const scriptOf = (type: number): ProviderScript => {
  const script = PROVIDER_SCRIPTS.get(type)
  if (script === undefined) throw new Error('no script')
  return script
}
const TOOL = {
  type: 'function',
  function: { name: 'read', description: 'Reads.', parameters: { type: 'object' } },
}

/** Streams that consist of one error about the caller's prompt. */
const PROMPT_ERRORS: readonly (readonly [number, string])[] = [
  [15, 'data: {"error_code":336103,"error_msg":"Prompt at fault"}'],
  [16, 'event:error\ndata:{"code":1301,"msg":"Prompt at fault"}'],
  [37, 'data: {"event":"error","status":400,"code":"x","message":"Prompt at fault"}'],
  [49, 'event: error\ndata: {"code":4000,"msg":"Prompt at fault"}'],
]
it.each(
  PROMPT_ERRORS.flatMap(([type, event]) =>
    [false, true].map((stream) => [type, event, stream] as const),
  ),
)('a prompt at fault is a 400 in a stream of type %i (%s, stream: %s)', async (...row) => {
  const [type, event, stream] = row
  const script = scriptOf(type)
  await addChannel(script)
  await rig.setOption('RetryTimes', '2')
  const headers = { 'content-type': 'text/event-stream' }
  const answer = { headers, pieces: [Buffer.from(`${event}\n\n`)] }
  provider.answers.set(stream ? script.streamPath : script.plainPath, answer)
  for (let call = 0; call < 12; call++) {
    const { status, text } = await send(question(script.model, { stream }))
    expect([status, JSON.parse(text).error.message]).toEqual([400, 'Prompt at fault'])
  }
  const ends = (await rig.callEvents()).filter(({ type: name }) => name === 'CallReleased')
  expect(ends).toHaveLength(12)
  for (const { data } of ends) expect(data).toMatchObject({ attempts: [{ status: 400 }] })
  // Only later failures open the circuit.
  provider.answers.set(stream ? script.streamPath : script.plainPath, { status: 503 })
  for (let call = 0; call < 5; call++) await send(question(script.model, { stream }))
  const events = () => rig.core.store.readStream('channel-health-2')
  await expect.poll(async () => (await events()).length).toBe(1)
  expect((await events())[0]?.data).toMatchObject({ reason: 'status-503' })
})

describe('what a provider can’t do', () => {
  it.each([16, 37, 49])('tools are refused at type %i before anything is sent', async (type) => {
    const script = scriptOf(type)
    await addChannel(script)
    const { status, text } = await send(question(script.model, { tools: [TOOL] }))
    const { code, param } = JSON.parse(text).error
    expect({ status, code, param }).toEqual({
      status: 400,
      code: 'not_convertible',
      param: 'tools',
    })
    expect(provider.requests).toEqual([])
  })

  it('is named in a header if the question stays the same', async () => {
    const script = scriptOf(49)
    await addChannel(script)
    provider.answers.set(script.plainPath, script.plain)
    const { headers } = await send(question(script.model, { seed: 7, stop: ['END'] }))
    expect(headers.get('x-conversion-loss')?.split(/, ?/)).toEqual(
      expect.arrayContaining(['max_tokens', 'temperature', 'seed', 'stop']),
    )
  })

  it.each([
    [
      ...['/v1/messages', 'max_tokens, stop_sequences, top_k'],
      { max_tokens: 9, stop_sequences: ['END'], top_k: 3, messages: QUESTION },
    ],
    ['/v1/responses', 'max_output_tokens', { max_output_tokens: 9, input: QUESTION }],
    [
      '/v1beta/models/MODEL:generateContent',
      ['maxOutputTokens', 'responseMimeType', 'stopSequences', 'topK']
        .map((name) => `generationConfig.${name}`)
        .join(', '),
      {
        contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
        generationConfig: {
          ...{ maxOutputTokens: 9, topK: 3, stopSequences: ['END'] },
          responseMimeType: 'application/json',
        },
      },
    ],
  ] as [string, string, object][])(
    'has the name of the caller of %s',
    async (path, names, body) => {
      const script = scriptOf(49)
      await addChannel(script)
      provider.answers.set(script.plainPath, script.plain)
      const question = path.includes('MODEL') ? body : { model: script.model, ...body }
      const { headers } = await send(question, path.replace('MODEL', script.model))
      const losses = headers.get('x-conversion-loss')?.split(', ') ?? []
      expect(losses.toSorted().join(', ')).toBe(names)
    },
  )

  it('a caller can’t hold less by a limit that the provider does not take', async () => {
    const script = scriptOf(49)
    await addChannel(script)
    await rig.setOption('MaxOutputTokens', { [script.model]: 4_000 })
    provider.answers.set(script.plainPath, script.plain)
    await send(question(script.model, { max_tokens: 1 }))
    const [admitted] = await rig.callEvents()
    expect(
      Number(admitted?.type === 'CallAdmitted' ? admitted.data.hold : 0),
    ).toBeGreaterThanOrEqual(4_000 * 5)
  })

  it('an account that can’t pay for the longest answer is refused', async () => {
    const script = scriptOf(49)
    await addChannel(script)
    await rig.setOption('MaxOutputTokens', { [script.model]: 4_000 })
    const key = 'POORabcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH'
    await rig.addUser(8)
    await rig.addToken(4, 8, key)
    await rig.grant(8, 1_000n)
    const { status, text } = await send(question(script.model, { max_tokens: 1 }), undefined, key)
    expect({ status, text }).toMatchObject({ status: 402 })
    expect(provider.requests).toEqual([])
  })

  it('a report of no tokens does not make an answer free', async () => {
    const script = scriptOf(23)
    await addChannel(script)
    const { Response } = script.plain.body as { Response: object }
    const Usage = { PromptTokens: 0, CompletionTokens: -5 }
    provider.answers.set(script.plainPath, { body: { Response: { ...Response, Usage } } })
    await send(question(script.model))
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({ usageSource: 'estimated' })
    expect(Number('charge' in data ? data.charge : 0)).toBeGreaterThan(10)
  })
})

it('a call of a function by Spark comes back as a tool call, billed to the unit', async () => {
  const script = scriptOf(18)
  await addChannel(script)
  const function_call = { name: 'read', arguments: '{"path":"a.txt"}' }
  const message = {
    header: { code: 0, message: 'Success', sid: 'cht1', status: 2 },
    payload: {
      choices: { status: 2, seq: 0, text: [{ content: '', role: 'assistant', function_call }] },
      usage: { text: { question_tokens: 4, prompt_tokens: 20, completion_tokens: 9 } },
    },
  }
  provider.answers.set(script.plainPath, { pieces: [Buffer.from(JSON.stringify(message))] })
  const { status, text } = await send(question(script.model, { tools: [TOOL] }))
  expect(status, text).toBe(200)
  const [choice] = JSON.parse(text).choices
  expect(choice).toMatchObject({
    finish_reason: 'tool_calls',
    message: { tool_calls: [{ type: 'function', function: function_call }] },
  })
  expect(JSON.parse(provider.requests[0]?.body ?? '').payload.functions).toEqual({
    text: [{ name: 'read', description: 'Reads.', parameters: { type: 'object' } }],
  })
  expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE, usageSource: 'upstream' })
})

/** Puts the path of a proxy before a method and a path of a provider. */
const behindProxy = (path: string, proxy = '/proxy/v1/x') => path.replace(' ', ` ${proxy}`)

it.each([15, 56])('all requests to type %i are sent below the path of a proxy', async (type) => {
  const script = scriptOf(type)
  const others = Object.entries(script.others ?? {})
  const ofProxy = others.map(([path, answer]) => [behindProxy(path), answer] as const)
  await addChannel({ ...script, others: Object.fromEntries(ofProxy) }, '/proxy/v1/x')
  provider.answers.set(behindProxy(script.plainPath), script.plain)
  const { status, text } = await send(question(script.model))
  expect({ status, text }).toMatchObject({ status: 200 })
  expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE, end: 'done' })
  for (const { path } of provider.requests) expect(path).toMatch(/^\/proxy\/v1\/x\//)
})

/** The first line of an event with text. */
const OUTPUT = 'event:output'

describe('a prediction', () => {
  const script = scriptOf(56)
  const paths = () => provider.requests.map(({ method, path }) => `${method} ${path}`)
  const created = (stream: string) => ({
    status: 201,
    body: { id: 'p1', status: 'starting', urls: { stream } },
  })

  it('is cancelled when the caller leaves', async () => {
    await addChannel(script)
    provider.answers.set(script.streamPath, created(`${provider.url}/stream/p1`))
    const [first] = script.stream.pieces ?? []
    const pieces = first === undefined ? [] : [first]
    provider.answers.set('GET /stream/p1', { ...script.stream, pieces, keepsOpen: true })
    const leaving = new AbortController()
    const response = await fetch(`${rig.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(question(script.model, { stream: true })),
      signal: leaving.signal,
    })
    await response.body?.getReader().read()
    leaving.abort()
    await expect.poll(paths).toContain('POST /v1/predictions/p1/cancel')
  })

  const ended = script.others?.['GET /v1/predictions/p1'] ?? {}
  const running = { body: { id: 'p1', status: 'processing' } }
  const inTurn = (answers: readonly Scripted[]): Scripted => {
    const [answer = ended, ...others] = answers
    return others.length === 0 ? answer : { ...answer, next: inTurn(others) }
  }
  const times = (count: number, answer: Scripted) => Array.from({ length: count }, () => answer)

  it.each([true, false])('is answered although its polls fail (stream: %s)', async (stream) => {
    await addChannel(script)
    if (stream) setStream(script, script.stream.pieces ?? [])
    else provider.answers.set(script.plainPath, script.plain)
    const faults = [{ status: 502 }, { status: 429 }, { body: 'no JSON' }, { status: 500 }]
    provider.answers.set('GET /v1/predictions/p1', inTurn([...faults, ended]))
    const { status, text } = await send(question(script.model, { stream }))
    expect(status, text).toBe(200)
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE, end: 'done' })
  })

  it('is answered if its provider fails for three seconds after its stream', async () => {
    await addChannel(script)
    setStream(script, script.stream.pieces ?? [])
    provider.answers.set('GET /v1/predictions/p1', { status: 502 })
    const answered = send(question(script.model, { stream: true }))
    await expect.poll(paths).toContain('GET /v1/predictions/p1')
    setTimeout(() => provider.answers.set('GET /v1/predictions/p1', ended), 3_000)
    const { text } = await answered
    expect(readStream(text)).toMatchObject({ content: TEXT, reasons: ['stop'], isDone: true })
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE, end: 'done' })
  })

  it('is waited for after its stream, for longer than its counts usually take', async () => {
    await addChannel(script)
    setStream(script, script.stream.pieces ?? [])
    provider.answers.set('GET /v1/predictions/p1', inTurn([...times(12, running), ended]))
    const { text } = await send(question(script.model, { stream: true }))
    expect(readStream(text)).toMatchObject({ content: TEXT, reasons: ['stop'], isDone: true })
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE, end: 'done' })
  })

  it('is delivered as a whole although its stream is cut within an event', async () => {
    await addChannel(script)
    const bytes = Buffer.concat(script.stream.pieces ?? [])
    const second = bytes.indexOf(OUTPUT, 1)
    expect(second).toBeGreaterThan(0)
    for (const at of [second, second + 9, second + `${OUTPUT}\ndata: `.length + 2]) {
      setStream(script, [bytes.subarray(0, at)])
      const cut = { 'content-length': `${bytes.length}`, connection: 'close' }
      const headers = { ...script.stream.headers, ...cut }
      provider.answers.set('GET /stream/p1', { headers, pieces: [bytes.subarray(0, at)] })
      provider.answers.set('GET /v1/predictions/p1', inTurn([running, ended]))
      const { text } = await send(question(script.model, { stream: true }))
      expect(readStream(text)).toMatchObject({ content: TEXT, reasons: ['stop'], isDone: true })
    }
    const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    expect(ends).toHaveLength(3)
    for (const { data } of ends) expect(data).toMatchObject({ charge: CHARGE, end: 'done' })
  })

  it.each([
    ['and its output has another text', { isCut: true, reasons: [], isDone: false }],
    ['although its stream is whole', { isCut: false, reasons: ['stop'], isDone: true }],
  ])('ends without an error only after a whole stream (%s)', async (_, expected) => {
    const { isCut, ...read } = expected
    await addChannel(script)
    const bytes = Buffer.concat(script.stream.pieces ?? [])
    const end = isCut ? bytes.indexOf(OUTPUT, 1) : bytes.length
    expect(end).toBeGreaterThan(0)
    setStream(script, [bytes.subarray(0, end)])
    const metrics = { input_token_count: 20, output_token_count: 9 }
    const output = `  ${TEXT} with other spaces`
    const body = { id: 'p1', status: 'succeeded', output, metrics }
    provider.answers.set('GET /v1/predictions/p1', { body })
    const { text } = await send(question(script.model, { stream: true }))
    expect(readStream(text)).toMatchObject(read)
    expect(text.includes('error')).toBe(isCut)
    const usage = { inputUncached: 20, output: 9 }
    expect((await onlyEnd(rig)).data).toMatchObject({ usage, usageSource: 'upstream' })
  })

  it('is given up and cancelled after many failed polls', async () => {
    await addChannel(script)
    setStream(script, script.stream.pieces ?? [])
    provider.answers.set('GET /v1/predictions/p1', { status: 502 })
    await send(question(script.model, { stream: true }))
    await expect.poll(paths).toContain('POST /v1/predictions/p1/cancel')
  })

  it('is cancelled when the caller leaves before its id is known', async () => {
    await addChannel(script)
    const untilCreated = Promise.withResolvers<void>()
    const answer = created(`${provider.url}/stream/p1`)
    provider.answers.set(script.streamPath, { ...answer, until: untilCreated.promise })
    const leaving = new AbortController()
    const response = fetch(`${rig.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(question(script.model, { stream: true })),
      signal: leaving.signal,
    }).catch(() => null)
    await expect.poll(paths).toContain(script.streamPath)
    leaving.abort()
    await response
    await expect.poll(async () => (await rig.callEvents()).length).toBe(2)
    untilCreated.resolve()
    await expect.poll(paths).toContain('POST /v1/predictions/p1/cancel')
  })

  it('is not read at an address of somebody else, who would get the key', async () => {
    const stranger = await scriptedProvider()
    await addChannel(script)
    provider.answers.set(script.streamPath, created(`${stranger.url}/stream/p1`))
    const { text } = await send(question(script.model, { stream: true }))
    expect(readStream(text)).toMatchObject({ content: TEXT, isDone: true })
    expect(stranger.requests).toEqual([])
    await stranger.close()
  })
})
