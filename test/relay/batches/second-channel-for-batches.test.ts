import { once } from 'node:events'
import { createServer, ServerResponse } from 'node:http'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { batchStream } from '#domain/batches/events.ts'
import { type CircuitOpened, channelHealthStream } from '#domain/channel-health/events.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import type { BatchStore } from '#relay/batches/batch-store.ts'
import { whilePlanning } from '#relay/batches/plan-batch.ts'
import { Permits } from '#relay/tasks/limit-concurrent-work.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { serve } from '#test/support/start-http-server.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { batchesInMemory } from '../support/in-memory-batches.ts'
import { KEY, relayRig, USER } from '../support/relay-rig.ts'
import { type ScriptedProvider, scriptedProvider } from '../support/scripted-provider.ts'

const MODEL = 'lab-model'
const GRANTED = 1_000_000_000n
const [FIRST, SECOND] = [2, 3]
const first = startedForEach(scriptedProvider)
const second = startedForEach(scriptedProvider)
/** Receives each request, and then closes the connection without an answer. */
const cutting = startedForEach(() =>
  serve((request) => request.resume().on('end', () => request.socket.destroy())),
)
let batchStore: BatchStore
let laterMs = 0
const rig = startedForEach(() => {
  batchStore = batchesInMemory()
  const overrides = { batchPollEveryMs: 3_600_000, batchStore }
  return relayRig(overrides, {}, undefined, { now: () => Date.now() + laterMs })
})

type Api = {
  readonly type: number
  readonly path: string
  /** The path of the submission at a provider that has its own name for the model. */
  readonly pathAt: (sentModel: string) => string
  readonly body: object
  readonly described: (isEnded: boolean) => object
  readonly description: string
  readonly results: (sentModel: string) => void
}

const anthropic: Api = {
  type: 14,
  path: '/v1/messages/batches',
  pathAt: () => '/v1/messages/batches',
  body: {
    requests: [
      {
        custom_id: 'a',
        params: { model: MODEL, max_tokens: 64, messages: [{ role: 'user', content: 'Hi' }] },
      },
    ],
  },
  described: (isEnded) => ({
    ...{ id: 'msgbatch_1', processing_status: isEnded ? 'ended' : 'in_progress' },
  }),
  description: '/v1/messages/batches/msgbatch_1',
  results: (model) => {
    const usage = { input_tokens: 10, output_tokens: 5 }
    const message = { type: 'message', role: 'assistant', model, content: [], usage }
    const line = { custom_id: 'a', result: { type: 'succeeded', message } }
    const body = `${JSON.stringify(line)}\n`
    second.answers.set('GET /v1/messages/batches/msgbatch_1/results', { body })
  },
}

const gemini: Api = {
  type: 24,
  path: `/v1beta/models/${MODEL}:batchGenerateContent`,
  pathAt: (sentModel) => `/v1beta/models/${sentModel}:batchGenerateContent`,
  body: {
    batch: {
      display_name: 'x',
      input_config: {
        requests: {
          requests: [
            {
              request: {
                contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
                generationConfig: { maxOutputTokens: 64 },
              },
            },
          ],
        },
      },
    },
  },
  described: (isEnded) => ({
    name: 'batches/provider1',
    metadata: { state: isEnded ? 'BATCH_STATE_SUCCEEDED' : 'BATCH_STATE_RUNNING' },
  }),
  description: '/v1beta/batches/provider1',
  results: (model) => {
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5 }
    const candidates = [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }]
    const response = { candidates, usageMetadata, modelVersion: model }
    const inlinedResponses = { inlinedResponses: [{ response }] }
    const body = { ...gemini.described(true), response: { inlinedResponses } }
    second.answers.set('GET /v1beta/batches/provider1', { body })
  },
}

async function post(
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
  signal: AbortSignal | null = null,
) {
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer sk-${KEY}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(body),
    signal,
  })
  const text = await response.text()
  const { status, headers: sent } = response
  return { status, headers: sent, text, json: () => JSON.parse(text) }
}

const sentTo = ({ requests }: ScriptedProvider) =>
  requests.filter(({ method }) => method === 'POST').map(({ path }) => path)
const batchIn = (publicId: string): string => {
  const hex = publicId.split(/[_/]/).at(-1) ?? ''
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

beforeEach(async () => {
  laterMs = 0
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', { [MODEL]: 2 })
  await rig.setOption('CompletionRatio', { [MODEL]: 4 })
  await rig.setOption('RetryTimes', '1')
})

/** Adds two channels, of which the one at `baseUrl` is always tried first. */
async function addChannels(type: number, baseUrl: string): Promise<void> {
  const terms = { type, models: [MODEL] }
  const mapping = (sentModel: string) => JSON.stringify({ [MODEL]: sentModel })
  await rig.addChannel(FIRST, { ...terms, baseUrl, priority: 10, modelMapping: mapping('own-one') })
  await rig.addChannel(SECOND, { ...terms, baseUrl: second.url, modelMapping: mapping('own-two') })
}

/** Closes the connection of a caller. Returns when the gateway has noticed it. */
async function leave(caller: AbortController): Promise<void> {
  const emit = vi.spyOn(ServerResponse.prototype, 'emit')
  caller.abort()
  await expect.poll(() => emit.mock.calls.map(([event]) => event)).toContain('close')
  emit.mockRestore()
}

/**
 * Occupies the plans of the caller's batches until the returned function is called. `waiting` is
 * the number of further plans that wait.
 */
function occupyPlans(waiting = 0): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  const never = new AbortController().signal
  const caller = { user: { userId: USER } } as Planner
  for (let plan = 0; plan <= waiting; plan += 1) void whilePlanning(caller, never, () => promise)
  return resolve
}

type Planner = Parameters<typeof whilePlanning>[0]

/** Returns an address that refuses connections. */
async function deadAddress(): Promise<string> {
  const { url, close } = await serve(() => {})
  await close()
  return url
}

describe.each([
  ['Anthropic’s API', anthropic],
  ['Gemini’s API', gemini],
])('a batch in %s', (_name, api) => {
  beforeEach(() => {
    second.answers.set(`POST ${api.pathAt('own-two')}`, { body: api.described(false) })
  })

  const submit = (headers: Record<string, string> = {}) => post(api.path, api.body, headers)
  /** Submits the batch for a caller who leaves before the answer. */
  const submitFor = (caller: AbortController) =>
    post(api.path, api.body, {}, caller.signal).catch(() => null)
  const answerOfFirst = (status: number, more: object = {}) =>
    first.answers.set(`POST ${api.pathAt('own-one')}`, { status, body: {}, ...more })
  const eventsOf = (json: { readonly id?: string; readonly name?: string }) =>
    rig.eventsOf(batchStream(batchIn(json.id ?? json.name ?? '')))
  const held = async () => GRANTED - (await rig.balance())

  it('goes to the second channel if the first is unreachable, and is billed once', async () => {
    await addChannels(api.type, await deadAddress())
    const { status, text, json } = await submit()
    expect(status, text).toBe(200)
    const connect = { channelId: FIRST, status: null, error: 'connect' }
    expect(await eventsOf(json())).toMatchObject([
      { type: 'BatchSubmitted', data: { channelId: FIRST } },
      { type: 'BatchRouted', data: { channelId: SECOND, attempt: connect } },
      { type: 'BatchAccepted', data: { channelId: SECOND, keyRef: `ref-${SECOND}` } },
    ])
    expect((await rig.callEvents()).map(({ type }) => type)).toEqual(['CallAdmitted'])
    second.answers.set(`GET ${api.description}`, { body: api.described(true) })
    api.results('own-two')
    const id = json().id ?? json().name
    const path = api === anthropic ? `${api.path}/${id}` : `/v1beta/${id}`
    await fetch(`${rig.url}${path}`, { headers: { authorization: `Bearer sk-${KEY}` } })
    await expect.poll(async () => (await rig.callEvents()).length).toBe(2)
    // (10 + 5 · 4) · 2, at half price. The other channel's name for the model is no anomaly.
    const sentModel = { evidence: { model: 'own-two' } }
    expect((await rig.callEvents())[1]).toMatchObject({
      type: 'CallSettled',
      data: {
        ...{ channelId: SECOND, charge: 30, billedLines: 1, upstreamModel: 'own-two' },
        ...{ anomaly: null, attempts: [connect, { channelId: SECOND, status: 200, ...sentModel }] },
      },
    })
    expect(await held()).toBe(30n)
  })

  it.each([401, 402, 403, 404, 429, 503, 529])(
    'goes to the second channel if the first answers with %i',
    async (refusal) => {
      await addChannels(api.type, first.url)
      answerOfFirst(refusal)
      const { status, text, json } = await submit()
      expect(status, text).toBe(200)
      expect(sentTo(first)).toEqual([api.pathAt('own-one')])
      expect(sentTo(second)).toEqual([api.pathAt('own-two')])
      expect((await eventsOf(json())).map(({ type }) => type)).toContain('BatchRouted')
    },
  )

  it.each([400, 402])(
    'shows no words of providers about arrears with status %i',
    async (status) => {
      await addChannels(api.type, first.url)
      const body = { error: { code: 'insufficient_quota', message: 'the state of the account' } }
      first.answers.set(`POST ${api.pathAt('own-one')}`, { status, body })
      second.answers.set(`POST ${api.pathAt('own-two')}`, { status, body })
      const answer = await submit()
      expect([answer.status, sentTo(second).length]).toEqual([502, 1])
      expect(answer.text).not.toContain('the state of the account')
      expect(await held()).toBe(0n)
    },
  )

  it('is not sent again if the connection is lost after the request was sent', async () => {
    await addChannels(api.type, cutting.url)
    expect((await submit()).status).toBe(502)
    expect(sentTo(second)).toEqual([])
    expect(await held()).toBeGreaterThan(0n)
  })

  it.each([408, 500, 502, 504, 520, 524])(
    'is not sent again after %i, with which it may be accepted',
    async (status) => {
      await addChannels(api.type, first.url)
      answerOfFirst(status)
      expect((await submit()).status).toBe(status)
      expect(sentTo(second)).toEqual([])
      expect(await held()).toBeGreaterThan(0n)
    },
  )

  it('is not sent again if the first channel finds a fault in it', async () => {
    await addChannels(api.type, first.url)
    answerOfFirst(400)
    expect((await submit()).status).toBe(400)
    expect(sentTo(second)).toEqual([])
    expect(await held()).toBe(0n)
  })

  it('is tried at as many channels as `RetryTimes` allows', async () => {
    await addChannels(api.type, await deadAddress())
    await rig.setOption('RetryTimes', '0')
    expect((await submit()).status).toBe(502)
    expect(sentTo(second)).toEqual([])
  })

  it('is released, and its Idempotency-Key is free, if all channels refuse it', async () => {
    await addChannels(api.type, await deadAddress())
    second.answers.set(`POST ${api.pathAt('own-two')}`, { status: 429, body: {} })
    const keyed = () => submit({ 'idempotency-key': 'once' })
    expect((await keyed()).status).toBe(429)
    const [, end] = await rig.callEvents()
    expect(end).toMatchObject({
      type: 'CallReleased',
      data: { attempts: [{ channelId: FIRST }, { channelId: SECOND, status: 429 }] },
    })
    expect(await held()).toBe(0n)
    second.answers.set(`POST ${api.pathAt('own-two')}`, { body: api.described(false) })
    expect((await keyed()).status).toBe(200)
    expect((await keyed()).status).toBe(409)
    expect(sentTo(second)).toHaveLength(2)
  })

  it.each([302, 503, 521, 523, 525, 526, 529])(
    'is released at once, and not shown, if its last channel answers with %i',
    async (refusal) => {
      await addChannels(api.type, first.url)
      await rig.setOption('RetryTimes', '0')
      answerOfFirst(refusal)
      await submit({ 'idempotency-key': 'once' })
      expect(await held()).toBe(0n)
      expect(await batchStore.unsettled('', 1)).toEqual([])
      expect((await rig.callEvents()).at(-1)).toMatchObject({
        type: 'CallReleased',
        data: { attempts: [{ channelId: FIRST, status: refusal }] },
      })
      // The retry of a client is a new submission.
      first.answers.set(`POST ${api.pathAt('own-one')}`, { body: api.described(false) })
      expect((await submit({ 'idempotency-key': 'once' })).status).toBe(200)
    },
  )

  it('is released if a channel that is overloaded and all others refuse it', async () => {
    await addChannels(api.type, first.url)
    answerOfFirst(529)
    second.answers.set(`POST ${api.pathAt('own-two')}`, { status: 503, body: {} })
    expect((await submit()).status).toBe(503)
    expect(sentTo(second)).toHaveLength(1)
    expect(await held()).toBe(0n)
  })

  it('stays held until it is lost if the last channel may have accepted it', async () => {
    await addChannels(api.type, first.url)
    answerOfFirst(503)
    second.answers.set(`POST ${api.pathAt('own-two')}`, { status: 500, body: {} })
    expect((await submit()).status).toBe(500)
    expect(await held()).toBeGreaterThan(0n)
    const [stored] = await batchStore.unsettled('', 1)
    const id = stored?.batch.replaceAll('-', '') ?? ''
    const path = api === anthropic ? `${api.path}/msgbatch_${id}` : `/v1beta/batches/${id}`
    laterMs = 601_000
    await fetch(`${rig.url}${path}`, { headers: { authorization: `Bearer sk-${KEY}` } })
    await expect.poll(held).toBe(0n)
  })

  it('is not sent to the second channel if this can’t be recorded', async () => {
    await addChannels(api.type, await deadAddress())
    const { actors } = rig.core
    const { handle } = actors
    vi.spyOn(actors, 'handle').mockImplementation(async (decider, stream, command, context) => {
      if ((command as { type?: unknown }).type === 'RouteBatch') throw new StoreUnavailable('away')
      return handle(decider, stream, command, context)
    })
    expect((await submit()).status).toBe(502)
    expect(sentTo(second)).toEqual([])
    expect(await held()).toBe(0n)
  })

  it('names a failed attempt once if the next channel is recorded despite an error', async () => {
    await addChannels(api.type, await deadAddress())
    const { actors } = rig.core
    const handle = actors.handle.bind(actors)
    vi.spyOn(actors, 'handle').mockImplementation(async (decider, stream, command, context) => {
      const outcome = await handle(decider, stream, command, context)
      if ((command as { type?: unknown }).type === 'RouteBatch') throw new StoreUnavailable('away')
      return outcome
    })
    expect((await submit()).status).toBe(502)
    const end = (await rig.callEvents()).at(-1)
    expect(end).toMatchObject({ type: 'CallReleased', data: { attempts: [{ error: 'connect' }] } })
  })

  it('is not sent to a channel that is disabled while the first one answers', async () => {
    await addChannels(api.type, first.url)
    const answered = Promise.withResolvers<void>()
    answerOfFirst(503, { until: answered.promise })
    const submitting = submit()
    await expect.poll(() => sentTo(first)).toHaveLength(1)
    const data = { channelIds: [SECOND], tag: null }
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDisabled', v: 1, data })
    answered.resolve()
    expect((await submitting).status).toBe(503)
    expect(sentTo(second)).toEqual([])
  })

  it('is not sent to the second channel after its caller has left', async () => {
    await addChannels(api.type, first.url)
    const answered = Promise.withResolvers<void>()
    answerOfFirst(429, { until: answered.promise })
    const caller = new AbortController()
    const submitting = submitFor(caller)
    await expect.poll(() => sentTo(first)).toHaveLength(1)
    await leave(caller)
    answered.resolve()
    await submitting
    await expect
      .poll(async () => (await rig.callEvents()).map(({ type }) => type))
      .toEqual(['CallAdmitted', 'CallReleased'])
    expect(sentTo(second)).toEqual([])
    expect(await held()).toBe(0n)
  })

  it('is neither held nor sent if its caller leaves while it waits to be planned', async () => {
    await addChannels(api.type, first.url)
    answerOfFirst(200, { body: api.described(false) })
    const release = occupyPlans()
    const enter = vi.spyOn(Permits.prototype, 'enter')
    const caller = new AbortController()
    const submitting = submitFor(caller)
    await expect.poll(() => enter.mock.calls.length).toBeGreaterThan(0)
    await leave(caller)
    // This batch waits behind that of the caller who has left.
    const next = submit()
    await expect.poll(() => enter.mock.calls.length).toBeGreaterThan(1)
    release()
    expect((await next).status).toBe(200)
    await submitting
    expect(sentTo(first)).toHaveLength(1)
    expect(await rig.callEvents()).toHaveLength(1)
  })

  it('is not sent again at a price that the reserved quota does not cover', async () => {
    await addChannels(api.type, first.url)
    const answered = Promise.withResolvers<void>()
    answerOfFirst(429, { until: answered.promise })
    const submitting = submit()
    await expect.poll(() => sentTo(first)).toHaveLength(1)
    await rig.setOption('ModelRatio', { [MODEL]: 50 })
    answered.resolve()
    expect((await submitting).status).toBe(429)
    expect(sentTo(second)).toEqual([])
    expect(await held()).toBe(0n)
  })

  it('goes to the second channel although too many other batches wait to be planned', async () => {
    await addChannels(api.type, first.url)
    const answered = Promise.withResolvers<void>()
    answerOfFirst(429, { until: answered.promise })
    const submitting = submit()
    await expect.poll(() => sentTo(first)).toHaveLength(1)
    const release = occupyPlans(64)
    const enter = vi.spyOn(Permits.prototype, 'enter')
    answered.resolve()
    await expect.poll(() => enter.mock.calls.length).toBeGreaterThan(0)
    await expect(enter.mock.results[0]?.value).resolves.toBeNull()
    release()
    expect((await submitting).status).toBe(200)
    expect(sentTo(second)).toHaveLength(1)
  })

  it('is sent again although an option was set that changes no price', async () => {
    await addChannels(api.type, first.url)
    const answered = Promise.withResolvers<void>()
    answerOfFirst(429, { until: answered.promise })
    const submitting = submit()
    await expect.poll(() => sentTo(first)).toHaveLength(1)
    await rig.setOption('Notice', 'We upgrade the database tonight.')
    answered.resolve()
    expect((await submitting).status).toBe(200)
    expect(sentTo(second)).toHaveLength(1)
  })

  it('succeeds at the second channel, fifty at once, and each is held once', async () => {
    await addChannels(api.type, await deadAddress())
    const one = await submit()
    const hold = await held()
    const others = await Promise.all(Array.from({ length: 49 }, () => submit()))
    expect([one, ...others].map(({ status }) => status)).toEqual(Array(50).fill(200))
    expect(sentTo(second)).toHaveLength(50)
    expect(await held()).toBe(hold * 50n)
  })

  it('is not tried at a channel whose refused connections have opened its circuit', async () => {
    await addChannels(api.type, await deadAddress())
    for (let batch = 0; batch < 5; batch += 1) expect((await submit()).status).toBe(200)
    await expect
      .poll(() => rig.eventsOf(channelHealthStream(FIRST)))
      .toMatchObject([{ type: 'CircuitOpened', data: { reason: 'connect' } }])
    const { json } = await submit()
    expect(await eventsOf(json())).toMatchObject([
      { type: 'BatchSubmitted', data: { channelId: SECOND } },
      { type: 'BatchAccepted', data: { channelId: SECOND } },
    ])
  })

  it('closes the circuit of a channel that accepts it after the pause', async () => {
    await rig.setOption('channel_health.circuit_cooldown_seconds', '1')
    const address = await deadAddress()
    await addChannels(api.type, address)
    for (let batch = 0; batch < 5; batch += 1) expect((await submit()).status).toBe(200)
    const events = () => rig.eventsOf(channelHealthStream(FIRST))
    const types = async () => (await events()).map(({ type }) => type)
    await expect.poll(types).toEqual(['CircuitOpened'])
    const revived = createServer((request, response) => {
      const answer = JSON.stringify(api.described(false))
      request.resume().on('end', () => response.end(answer))
    })
    onTestFinished(() => void revived.close())
    // An outgoing connection may have got the port meanwhile.
    const listens = async () => {
      revived.listen(Number(new URL(address).port), '127.0.0.1')
      await once(revived, 'listening').catch(() => {})
      return revived.listening
    }
    await expect.poll(listens).toBe(true)
    const [opened] = (await events()) as Recorded<CircuitOpened>[]
    await expect.poll(() => Date.now() > (opened?.data.until ?? 0)).toBe(true)
    const { json } = await submit()
    expect((await eventsOf(json())).at(-1)).toMatchObject({ data: { channelId: FIRST } })
    await expect.poll(types).toEqual(['CircuitOpened', 'CircuitHalfOpened', 'CircuitClosed'])
  })

  it('opens no circuit of a channel that refuses batches, because it may serve calls', async () => {
    await addChannels(api.type, first.url)
    answerOfFirst(503)
    for (let batch = 0; batch < 6; batch += 1) expect((await submit()).status).toBe(200)
    expect(sentTo(first)).toHaveLength(6)
    expect(await rig.eventsOf(channelHealthStream(FIRST))).toEqual([])
  })

  it('is told that its channel is at its own limit, like a call', async () => {
    await rig.addChannel(FIRST, { type: api.type, models: [MODEL], baseUrl: first.url, maxRpm: 1 })
    first.answers.set(`POST ${api.path}`, { body: api.described(false) })
    expect((await submit()).status).toBe(200)
    const { status, headers, text } = await submit()
    expect([status, text]).toEqual([429, expect.stringContaining('at its limit')])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(10)
  })

  it('disables a channel whose key the provider rejects', async () => {
    await rig.setOption('AutomaticDisableChannelEnabled', 'true')
    await rig.setOption('channel_health.disable_failures', '3')
    await addChannels(api.type, first.url)
    answerOfFirst(401)
    for (let batch = 0; batch < 3; batch += 1) expect((await submit()).status).toBe(200)
    const disabled = async () =>
      (await rig.eventsOf(CHANNELS_STREAM)).filter(({ type }) => type === 'ChannelAutoDisabled')
    await expect.poll(disabled).toMatchObject([{ data: { channelId: FIRST } }])
  })

  it('goes to the same channel with its second key if the first key is rejected', async () => {
    await rig.append(CHANNELS_STREAM, {
      type: 'ChannelsCreated',
      v: 1,
      data: {
        terms: { ...PLAIN_CHANNEL_TERMS, type: api.type, models: [MODEL], baseUrl: first.url },
        channels: [{ channelId: FIRST, name: 'two keys', keyRefs: ['key:one', 'key:two'] }],
        keyMode: 'polling',
        isEnabled: true,
      },
    })
    const next = { body: api.described(false) }
    first.answers.set(`POST ${api.path}`, { status: 401, body: {}, next })
    const { status, text, json } = await submit()
    expect(status, text).toBe(200)
    expect(await eventsOf(json())).toMatchObject([
      { data: { channelId: FIRST } },
      { type: 'BatchRouted', data: { channelId: FIRST, attempt: { status: 401 } } },
      { type: 'BatchAccepted', data: { channelId: FIRST, keyRef: 'key:two' } },
    ])
  })
})
