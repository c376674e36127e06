import { beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { tokensStream } from '#domain/tokens/events.ts'
import { IdleConversations } from '#relay/responses-socket/drop-idle-conversations.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, PROVIDER_KEY, relayRig, TOKEN, USER } from './support/relay-rig.ts'
import {
  BEGUN,
  CALL,
  CALL_STREAM,
  CHARGE,
  dataOf,
  MODEL,
  PATH,
  REASONING,
  REQUEST,
  responseOf,
  STREAM,
  textDelta,
} from './support/responses-provider.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const provider = startedForEach(scriptedProvider)
/** No answer of this file goes on after the caller has left. */
const rig = startedForEach(() => relayRig({ deadlines: { readOnStreamMs: 500 } }))

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 1, baseUrl: provider.url, models: [MODEL] })
  await rig.setOption('ModelRatio', { [MODEL]: 1.25 })
  await rig.setOption('CompletionRatio', { [MODEL]: 4 })
  await rig.setOption('CacheRatio', { [MODEL]: 0.5 })
})

const answerWith = (text: string) =>
  provider.answers.set(PATH, {
    headers: { 'content-type': 'text/event-stream' },
    pieces: [Buffer.from(text)],
  })

type Event = Record<string, unknown> & { readonly type: string }

/** A client of the socket, as Codex is one. */
class Client {
  readonly socket: WebSocket
  readonly events: Event[] = []
  closed: { readonly code: number } | null = null

  constructor(headers: Record<string, string> = {}, path = '/v1/responses') {
    this.socket = new WebSocket(`${rig.url.replace('http', 'ws')}${path}`, {
      headers: {
        authorization: `Bearer sk-${KEY}`,
        'openai-beta': 'responses_websockets=2026-02-06',
        ...headers,
      },
    })
    this.socket.on('error', () => {})
    this.socket.on('message', (data) => this.events.push(JSON.parse(String(data)) as Event))
    this.socket.on('close', (code) => {
      this.closed = { code }
    })
  }

  async open(): Promise<this> {
    await new Promise((opened) => this.socket.once('open', opened))
    return this
  }

  create(members: object = {}): void {
    this.socket.send(JSON.stringify({ type: 'response.create', ...REQUEST, ...members }))
  }

  /** Waits for the event after which a response is over, and returns all events since the last. */
  async response(): Promise<Event[]> {
    const isLast = ({ type }: Event) => /^(?:error|response\.(?:completed|failed))$/.test(type)
    await expect.poll(() => this.events.some(isLast)).toBe(true)
    return this.events.splice(0, this.events.findIndex(isLast) + 1)
  }
}

/** The complete response in the last of these events. */
const completed = (events: readonly Event[]) => {
  const last = events.at(-1) as unknown as { readonly response: { id: string; usage: object } }
  return last.response
}

/** The losses that the first of these events names. */
function lossesIn([created]: readonly Event[]): readonly string[] {
  const { response } = created as unknown as { readonly response: { metadata: object } }
  const losses = Object.entries(response.metadata).find(([name]) => name === 'x-conversion-loss')
  return String(losses?.[1] ?? '').split(', ')
}

const sentBodies = () =>
  provider.requests.map(({ body }) => JSON.parse(body) as Record<string, unknown>)
const settled = async () =>
  (await rig.callEvents()).flatMap((event) => (event.type === 'CallSettled' ? [event.data] : []))

describe('a call on the websocket of the Responses API', () => {
  it('is one POST to the provider, and each event is one message', async () => {
    answerWith(STREAM)
    const client = await new Client({ session_id: 's1', cookie: 'a=b' }).open()
    client.create()
    expect(await client.response()).toEqual(dataOf(STREAM))
    const [request] = provider.requests
    expect(JSON.parse(request?.body ?? '')).toEqual({ ...REQUEST, stream: true })
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${PROVIDER_KEY}`,
      session_id: 's1',
      'content-type': 'application/json',
    })
    for (const name of ['cookie', 'openai-beta', 'upgrade', 'sec-websocket-key']) {
      expect(request?.headers[name]).toBe(undefined)
    }
    expect(await settled()).toMatchObject([{ charge: CHARGE, end: 'done' }])
  })

  it('is billed before its last event is sent', async () => {
    answerWith(STREAM)
    const client = await new Client().open()
    let billsAtEnd = -1
    client.socket.on('message', (data) => {
      if (!String(data).includes('"type":"response.completed"')) return
      void settled().then(({ length }) => {
        billsAtEnd = length
      })
    })
    client.create()
    await client.response()
    await expect.poll(() => billsAtEnd).toBe(1)
  })

  it('continues the previous response with its complete input and output', async () => {
    answerWith(CALL_STREAM)
    const client = await new Client().open()
    client.create()
    await client.response()
    answerWith(STREAM)
    const result = { type: 'function_call_output', call_id: CALL.call_id, output: 'hello' }
    client.create({ previous_response_id: 'resp_1', input: [result] })
    await client.response()
    const { id: _id, ...call } = CALL
    const body = sentBodies()[1]
    expect(body?.input).toEqual([...REQUEST.input, REASONING, call, result])
    expect(body?.previous_response_id).toBe(undefined)
    expect(await settled()).toHaveLength(2)
    client.create({ previous_response_id: 'resp_1', input: 'And then?' })
    await client.response()
    const items = sentBodies()[2]?.input as object[]
    expect(items.at(-1)).toEqual({ type: 'message', role: 'user', content: 'And then?' })
    expect(items).toHaveLength(7)
  })

  it('begins with a warm-up, which costs nothing and reaches no provider', async () => {
    const client = await new Client().open()
    client.create({ generate: false })
    const events = await client.response()
    expect(events.map(({ type }) => type)).toEqual(['response.created', 'response.completed'])
    const { id, usage } = completed(events)
    expect(usage).toMatchObject({ input_tokens: 0, output_tokens: 0, total_tokens: 0 })
    expect(provider.requests).toEqual([])
    expect(await rig.callEvents()).toEqual([])
    answerWith(STREAM)
    client.create({ previous_response_id: id, input: [] })
    await client.response()
    expect(sentBodies()).toEqual([{ ...REQUEST, stream: true }])
  })

  it('a warm-up needs the rights of a call', async () => {
    const client = await new Client().open()
    client.create({ generate: false, model: 'unknown' })
    const unknown = { code: 'model_not_found', param: 'model' }
    expect(await client.response()).toMatchObject([{ status: 404, error: unknown }])
    const data = { userId: USER, tokenIds: [TOKEN] }
    await rig.append(tokensStream(USER), { type: 'TokensDeleted', v: 1, data })
    client.create({ generate: false })
    expect(await client.response()).toMatchObject([{ type: 'error', status: 401 }])
  })

  it('continues no conversation that was dropped for newer ones of its user', async () => {
    const input = 'x'.repeat(12 * 1024 * 1024)
    const clients: Client[] = []
    const ids: string[] = []
    for (let count = 0; count < 3; count += 1) {
      const client = await new Client().open()
      client.create({ generate: false, input })
      ids.push(completed(await client.response()).id)
      clients.push(client)
    }
    const code = 'previous_response_not_found'
    const [oldest, second] = clients
    oldest?.create({ generate: false, previous_response_id: ids[0], input: 'More' })
    expect(await oldest?.response()).toMatchObject([{ status: 400, error: { code } }])
    oldest?.create({ previous_response_id: ids[0], input: 'More' })
    expect(await oldest?.response()).toMatchObject([{ status: 400, error: { code } }])
    second?.create({ generate: false, previous_response_id: ids[1], input: 'More' })
    expect((await second?.response())?.at(-1)?.type).toBe('response.completed')
  })

  it('with an item that is nested too deeply ends, and is not continued', async () => {
    const depth = 20_000
    const nested = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
    const item = `{"type":"tool_search_call","id":"ts_1","arguments":${nested}}`
    const done = `data: {"type":"response.output_item.done","output_index":0,"item":${item}}\n\n`
    answerWith(BEGUN + done + STREAM.slice(BEGUN.length))
    const client = await new Client().open()
    // The nested values count as text.
    client.create({ max_output_tokens: 100_000 })
    const first = completed(await client.response())
    client.create({ previous_response_id: first.id })
    const [error] = await client.response()
    expect(error).toMatchObject({ error: { code: 'previous_response_not_found' } })
    expect(await settled()).toHaveLength(1)
  })

  it('waits for the call before it', async () => {
    answerWith(STREAM)
    const client = await new Client().open()
    client.create()
    client.create({ previous_response_id: 'resp_1', input: 'Again' })
    expect(await client.response()).toEqual(dataOf(STREAM))
    expect(await client.response()).toEqual(dataOf(STREAM))
    expect(sentBodies()[1]?.input).toHaveLength(4)
  })

  it('is converted for a provider of another format', async () => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    await rig.addChannel(3, { type: 8, baseUrl: provider.url, models: [MODEL] })
    const message = { role: 'assistant', content: 'Hello' }
    const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    provider.answers.set('POST /v1/chat/completions', {
      body: { id: 'c1', object: 'chat.completion', model: MODEL, choices, usage },
    })
    const client = await new Client().open()
    client.create()
    const events = await client.response()
    const { id } = completed(events)
    client.create({ previous_response_id: id, input: 'More', truncation: 'auto' })
    const [begin, ...others] = await client.response()
    expect(begin).toMatchObject({
      type: 'response.created',
      response: { metadata: { 'x-conversion-loss': expect.stringMatching(/\btruncation\b/) } },
    })
    expect(JSON.stringify(others)).not.toContain('x-conversion-loss')
    const messages = sentBodies()[1]?.messages as { role: string }[]
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
  })

  it('names losses and errors by the items of its own message', async () => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    await rig.addChannel(3, { type: 8, baseUrl: provider.url, models: [MODEL] })
    const message = { role: 'assistant', content: 'Hello' }
    const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    provider.answers.set('POST /v1/chat/completions', {
      body: { id: 'c1', object: 'chat.completion', model: MODEL, choices, usage },
    })
    const client = await new Client().open()
    client.create()
    const { id } = completed(await client.response())
    const textWith = (text: string) => ({ type: 'input_text', text, unknown: 1 })
    const messageOf = (text: string) => ({ role: 'user', content: [textWith(text)] })
    client.create({
      previous_response_id: id,
      input: [{ role: 'user', content: 'b' }, messageOf('c')],
    })
    const events = await client.response()
    expect(lossesIn(events)).toContain('input[1].content[0].unknown')
    const continued = { previous_response_id: completed(events).id }
    client.create({ ...continued, input: [messageOf('d'), { type: 'item_reference', id: 'x' }] })
    const refused = { code: 'stored_input', param: 'input[1]' }
    expect(await client.response()).toMatchObject([{ type: 'error', error: refused }])
    const image = { role: 'user', content: [{ type: 'input_image', detail: 5 }] }
    client.create({ ...continued, input: [messageOf('d'), image] })
    const unreadable = { code: 'invalid_parameter', param: expect.stringMatching(/^input\[1\]/) }
    expect(await client.response()).toMatchObject([{ type: 'error', error: unreadable }])
    client.create({ ...continued, input: [messageOf('d')] })
    const losses = lossesIn(await client.response())
    const ofItems = losses.filter((path) => path.startsWith('input['))
    expect(losses).toContain('previous_response_id')
    expect(ofItems).toEqual(['input[0].content[0].unknown'])
  })

  it('names dropped members in its first event, beside the caller’s metadata', async () => {
    const [begin = '', ...others] = STREAM.split('\n\n')
    const own = begin.replace('"response":{', '"response":{"metadata":{"a":"b"},')
    answerWith([own, ...others].join('\n\n'))
    const client = await new Client().open()
    client.create({ service_tier: 'priority', metadata: { a: 'b' } })
    const [created, ...rest] = await client.response()
    const metadata = { a: 'b', 'x-dropped-members': 'service_tier' }
    expect(created).toMatchObject({ type: 'response.created', response: { metadata } })
    expect(rest).toEqual(dataOf(STREAM).slice(1))
  })

  it('gets a plain answer as events', async () => {
    provider.answers.set(PATH, { body: responseOf() })
    const client = await new Client().open()
    client.create()
    const events = await client.response()
    expect(events[0]?.type).toBe('response.created')
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: responseOf() })
  })

  it('gets an error for a plain answer that is nested too deeply, and is charged', async () => {
    const nested = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`
    const text = JSON.stringify({ ...responseOf(), output: [{ type: 'function_call' }] })
    const pieces = [Buffer.from(text.replace('"function_call"', `"function_call","x":${nested}`))]
    provider.answers.set(PATH, { pieces })
    const client = await new Client().open()
    client.create()
    expect(await client.response()).toMatchObject([{ type: 'error', status: 502 }])
    const { type, data } = (await rig.callEvents()).at(-1) ?? {}
    expect([type, data]).toMatchObject(['CallSettled', { end: 'incomplete', charge: CHARGE }])
  })

  it('is retried on a second channel', async () => {
    await rig.setOption('RetryTimes', '1')
    const other = await scriptedProvider()
    other.answers.set(PATH, { status: 500, body: { error: { message: 'Broken' } } })
    answerWith(STREAM)
    try {
      const shared = { type: 1, baseUrl: other.url, models: [MODEL] }
      await rig.addChannel(3, { ...shared, priority: 9 })
      const client = await new Client().open()
      client.create()
      expect(await client.response()).toEqual(dataOf(STREAM))
      expect([other.requests.length, provider.requests.length]).toEqual([1, 1])
      expect(await settled()).toMatchObject([{ charge: CHARGE, end: 'done' }])
      provider.answers.set(PATH, { status: 500, body: { error: { message: 'Broken' } } })
      client.create()
      const error = { message: 'Broken' }
      expect(await client.response()).toMatchObject([{ type: 'error', status: 500, error }])
    } finally {
      await other.close()
    }
  })

  it('is billed if its channel shows the limits of the provider', async () => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    const setting = '{"rate_limit_headers":true}'
    await rig.addChannel(3, { type: 1, baseUrl: provider.url, models: [MODEL], setting })
    const limits = { 'x-ratelimit-remaining-requests': '9' }
    provider.answers.set(PATH, {
      headers: { 'content-type': 'text/event-stream', ...limits },
      pieces: [Buffer.from(STREAM)],
    })
    const client = await new Client().open()
    client.create()
    expect(await client.response()).toEqual(dataOf(STREAM))
    expect(await settled()).toMatchObject([{ charge: CHARGE, end: 'done' }])
    const error = { message: 'Slow down' }
    provider.answers.set(PATH, { status: 429, headers: limits, body: { error } })
    client.create()
    expect(await client.response()).toMatchObject([{ type: 'error', status: 429, headers: limits }])
  })

  it('ends when its socket closes, and is billed by what arrived', async () => {
    provider.answers.set(PATH, {
      headers: { 'content-type': 'text/event-stream' },
      pieces: [Buffer.from(BEGUN + textDelta('It says more and more.'))],
      keepsOpen: true,
    })
    const client = await new Client().open()
    client.create()
    await expect.poll(() => client.events.length).toBe(2)
    client.socket.terminate()
    await expect.poll(settled).toMatchObject([{ end: 'client-gone' }])
    expect(Number((await settled())[0]?.charge)).toBeGreaterThan(0)
    expect(rig.relay.inFlight()).toBe(0)
  })
})

describe('an error on the websocket', () => {
  const errorFor = async (members: object): Promise<Event> => {
    const client = await new Client().open()
    client.create(members)
    const [error] = await client.response()
    return error as Event
  }

  it.each([
    [{ type: 'response.cancel' }, 400, 'invalid_parameter', 'type'],
    [{ model: 7 }, 400, 'invalid_parameter', 'model'],
    [{ model: 'unknown' }, 404, 'model_not_found', 'model'],
    [{ input: 7 }, 400, 'invalid_parameter', 'input'],
    [{ generate: 'no' }, 400, 'invalid_parameter', 'generate'],
    [{ previous_response_id: 7 }, 400, 'invalid_parameter', 'previous_response_id'],
    [
      { previous_response_id: 'resp_of_another' },
      400,
      'previous_response_not_found',
      'previous_response_id',
    ],
  ])('%j is refused with %i %s', async (members, status, code, param) => {
    expect(await errorFor(members)).toMatchObject({ type: 'error', status, error: { code, param } })
    expect(provider.requests).toEqual([])
  })

  it('of a provider is masked, and the next call works', async () => {
    const message = `Slow down, ${PROVIDER_KEY}`
    provider.answers.set(PATH, {
      status: 429,
      headers: { 'retry-after': '7' },
      body: { error: { message, code: 'rate_limit_exceeded' } },
    })
    const client = await new Client().open()
    client.create()
    const [error] = await client.response()
    expect(error).toMatchObject({
      type: 'error',
      status: 429,
      error: { message: 'Slow down, ***' },
    })
    answerWith(STREAM)
    client.create()
    expect(await client.response()).toEqual(dataOf(STREAM))
  })

  it('for text that is no JSON leaves the socket open', async () => {
    const client = await new Client().open()
    client.socket.send('{')
    expect(await client.response()).toMatchObject([{ type: 'error', status: 400 }])
    answerWith(STREAM)
    client.create()
    expect(await client.response()).toEqual(dataOf(STREAM))
  })

  it('bytes in place of text close the socket', async () => {
    const client = await new Client().open()
    client.socket.send(Buffer.from('{}'))
    await expect.poll(() => client.closed).toEqual({ code: 1003 })
  })

  it('a flood of messages closes the socket, and only the first calls are made', async () => {
    provider.answers.set(PATH, { hangs: true })
    const client = await new Client().open()
    for (let count = 0; count < 30; count += 1) client.create()
    await expect.poll(() => client.closed).toEqual({ code: 1008 })
    expect(provider.requests.length).toBeLessThanOrEqual(1)
    await expect.poll(() => rig.relay.inFlight()).toBe(0)
  })

  it('a message above the maximum length closes the socket', async () => {
    const client = await new Client().open()
    client.create({ instructions: 'x'.repeat(33 * 1024 * 1024) })
    await expect.poll(() => client.closed?.code ?? null).toBe(1009)
  })
})

describe('the upgrade', () => {
  const statusOf = (headers: Record<string, string>, path?: string): Promise<number> =>
    new Promise((resolve) => {
      const { socket } = new Client(headers, path)
      socket.on('unexpected-response', (_request, response) => {
        resolve(response.statusCode ?? 0)
        response.resume()
      })
      socket.on('open', () => resolve(101))
    })

  it('needs a key, as a call does', async () => {
    expect(await statusOf({ authorization: 'Bearer sk-wrongwrongwrong' })).toBe(401)
    expect(await statusOf({ authorization: '' })).toBe(401)
    expect(await statusOf({})).toBe(101)
  })

  it('is offered at one path', async () => {
    expect(await statusOf({}, '/v1/chat/completions')).toBe(404)
    expect(await statusOf({}, '/v1/responses?x=1')).toBe(101)
  })

  it('a token that is deleted later makes no more calls', async () => {
    answerWith(STREAM)
    const client = await new Client().open()
    const data = { userId: USER, tokenIds: [TOKEN] }
    await rig.append(tokensStream(USER), { type: 'TokensDeleted', v: 1, data })
    client.create()
    expect(await client.response()).toMatchObject([{ type: 'error', status: 401 }])
    expect(provider.requests).toEqual([])
  })

  it('an exception while a message is handled closes only its socket', async () => {
    answerWith(STREAM)
    const [client, other] = [await new Client().open(), await new Client().open()]
    const remove = vi.spyOn(IdleConversations.prototype, 'remove')
    remove.mockImplementationOnce(() => {
      throw new Error('a bug')
    })
    client.create()
    await expect.poll(() => client.closed).toEqual({ code: 1011 })
    remove.mockRestore()
    other.create()
    expect(await other.response()).toEqual(dataOf(STREAM))
  })

  it('a stop closes idle sockets at once, and the others after their call', async () => {
    let finish = (): void => {}
    const until = new Promise<void>((resolve) => {
      finish = resolve
    })
    provider.answers.set(PATH, {
      headers: { 'content-type': 'text/event-stream' },
      pieces: [Buffer.from(STREAM)],
      until,
    })
    const [idle, busy] = [await new Client().open(), await new Client().open()]
    busy.create()
    await expect.poll(() => provider.requests.length).toBe(1)
    const drained = rig.relay.drain(5_000)
    await expect.poll(() => idle.closed).toEqual({ code: 1012 })
    expect(busy.closed).toBe(null)
    finish()
    expect(await busy.response()).toEqual(dataOf(STREAM))
    await expect.poll(() => busy.closed).toEqual({ code: 1012 })
    await drained
  })
})
