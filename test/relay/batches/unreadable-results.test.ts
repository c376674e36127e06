import { hash } from 'node:crypto'
import { beforeEach, expect, it, vi } from 'vitest'
import { batchStream } from '#domain/batches/events.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import type { BatchStore } from '#relay/batches/batch-store.ts'
import { BatchSettler } from '#relay/batches/settle-batch.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { batchesInMemory } from '../support/in-memory-batches.ts'
import { KEY, relayRig, serveRelay } from '../support/relay-rig.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'

const MODEL = 'claude-sonnet-5-5'
const BATCHES = '/v1/messages/batches'
const GEMINI = '/v1beta/batches'
const UPSTREAM = 'msgbatch_provider1'
const RESULTS = `${BATCHES}/${UPSTREAM}/results`
const HOUR = 3_600_000
const MIB = 1024 * 1024
let laterMs = 0
let batchStore: BatchStore
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(() => {
  batchStore = batchesInMemory()
  const overrides = { batchPollEveryMs: 24 * HOUR, batchStore }
  return relayRig(overrides, {}, undefined, { now: () => Date.now() + laterMs })
})

beforeEach(async () => {
  laterMs = 0
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 14, baseUrl: provider.url, models: [MODEL] })
  await rig.addChannel(3, { type: 24, baseUrl: provider.url, models: [MODEL] })
  await rig.setOption('ModelRatio', { [MODEL]: 2 })
  await rig.setOption('CompletionRatio', { [MODEL]: 1 })
})

async function call(method: string, path: string, body?: unknown, url = rig.url) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  expect(response.status).toBe(200)
  return response.json()
}

async function submit(isEnded = true): Promise<string> {
  const description = {
    ...{ id: UPSTREAM, processing_status: isEnded ? 'ended' : 'in_progress' },
    request_counts: { processing: 0, succeeded: 3, errored: 0, canceled: 0, expired: 0 },
    ...{ created_at: '2026-11-28T00:00:00Z', ended_at: '2026-11-28T01:00:00Z' },
    results_url: 'https://provider.example/results',
  }
  provider.answers.set(`POST ${BATCHES}`, { body: description })
  provider.answers.set(`GET ${BATCHES}/${UPSTREAM}`, { body: description })
  const messages = [{ role: 'user', content: 'Hi' }]
  const requests = ['a', 'b', 'c'].map((custom_id) => ({
    ...{ custom_id, params: { model: MODEL, max_tokens: 64, messages } },
  }))
  return (await call('POST', BATCHES, { requests })).id
}

/** A result that costs 15: (10 + 5) · 2 / 2. */
const result = (custom_id: string, text = 'Hello.') => {
  const content = [{ type: 'text', text }]
  const usage = { input_tokens: 10, output_tokens: 5 }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: MODEL, content, usage }
  return JSON.stringify({ custom_id, result: { type: 'succeeded', message } })
}
const resultsAre = (...lines: string[]) =>
  provider.answers.set(`GET ${RESULTS}`, { body: lines.map((line) => `${line}\n`).join('') })
/** Headers of an answer whose connection is closed before all of its bytes were sent. */
const CUT = { 'content-length': '1000000', connection: 'close' }
const LONG = { 'content-length': '100000000' }
const ends = async () => (await rig.callEvents()).filter(({ type }) => type !== 'CallAdmitted')
const downloads = () => provider.requests.filter(({ path }) => path === RESULTS).length
const streamOf = (id: string) => {
  const hex = id.split('_').at(-1) ?? ''
  return batchStream(hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'))
}
const endOf = async (id: string) =>
  (await rig.eventsOf(streamOf(id))).find(({ type }) => type === 'BatchEnded')?.data

it('a result of another form costs nothing, and the others are billed', async () => {
  const id = await submit()
  resultsAre(result('a'), '{"weird":true}', 'no JSON', result('c'))
  expect(await call('GET', `${BATCHES}/${id}`)).toMatchObject({ processing_status: 'ended' })
  expect(await ends()).toMatchObject([{ type: 'CallSettled', data: { charge: 30 } }])
  expect(await endOf(id)).toMatchObject({ cause: 'done', billedLines: 2, unreadableLines: 2 })
})

const withoutAnswer = (custom_id: string, type: string) =>
  JSON.stringify({ custom_id, result: { type, error: { message: 'too long' } } })

it.each([
  ['a failed line', 'done', withoutAnswer('b', 'errored')],
  ['a canceled line', 'done', withoutAnswer('b', 'canceled')],
  ['a result that can’t be read', 'upstream-error', 'no JSON'],
])('without an answer, %s ends the call as %s', async (_name, reason, line) => {
  const id = await submit()
  resultsAre(withoutAnswer('a', 'errored'), line)
  await call('GET', `${BATCHES}/${id}`)
  const data = { reason, errorCode: 'batch_done', attempts: [{ channelId: 2, error: null }] }
  await expect.poll(ends).toMatchObject([{ type: 'CallReleased', data }])
})

it.each(['content', 'usage'])(
  'a result whose `%s` is nested too deeply is charged, and so are the others',
  async (name) => {
    const id = await submit()
    const nested = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`
    const deep = JSON.parse(result('b'))
    deep.result.message[name] = name === 'usage' ? '@' : [{ type: 'tool_use', input: '@' }]
    resultsAre(result('a'), JSON.stringify(deep).replace('"@"', nested), result('c'))
    await expect
      .poll(() => call('GET', `${BATCHES}/${id}`))
      .toMatchObject({ processing_status: 'ended' })
    const [end] = await ends()
    expect(end?.type).toBe('CallSettled')
    const charge = end?.type === 'CallSettled' ? end.data.charge : 0
    if (name === 'content') expect(charge).toBe(45)
    else expect(charge).toBeGreaterThan(30)
    expect(await endOf(id)).toMatchObject({ cause: 'done', billedLines: 3 })
    const headers = { authorization: `Bearer sk-${KEY}` }
    const shown = await (await fetch(`${rig.url}${BATCHES}/${id}/results`, { headers })).text()
    expect(shown.match(/(?<="custom_id":")[a-z]/g)).toEqual(['a', 'b', 'c'])
    expect(shown).toContain('"errored"')
  },
)

it('an answer that comes after the settlement is not billed, and shown as failed', async () => {
  const id = await submit()
  const failure = { type: 'errored', error: { error: { message: 'too long' } } }
  const failed = JSON.stringify({ custom_id: 'c', result: failure })
  resultsAre(result('a'), 'no JSON', failed)
  await call('GET', `${BATCHES}/${id}`)
  await expect.poll(ends).toMatchObject([{ type: 'CallSettled', data: { charge: 15 } }])
  resultsAre(result('a'), result('b', 'Unbilled.'), failed)
  const read = async () => {
    const headers = { authorization: `Bearer sk-${KEY}` }
    const text = await (await fetch(`${rig.url}${BATCHES}/${id}/results`, { headers })).text()
    expect(text).not.toContain('Unbilled')
    return text.match(/(?<="custom_id":")[a-z]/g)
  }
  await expect.poll(read).toEqual(['a', 'b', 'c'])
})

const read = async (path: string) => {
  const response = await fetch(`${rig.url}${path}`, {
    headers: { authorization: `Bearer sk-${KEY}` },
  })
  return response.text()
}
const piecesOf = (...texts: string[]) => texts.map((text) => Buffer.from(text))

it('a result that is too long for memory is billed by its usage, and passed on', async () => {
  const id = await submit()
  const sent = JSON.parse(result('b', 'x'.repeat(33 * MIB)))
  Object.assign(sent.result.message, { model: 'theirs' })
  const long = JSON.stringify({ ...sent, result: { ...sent.result, internal: 'planted' } })
  const digest = { bytes: long.length, sha256: hash('sha256', long, 'hex') }
  // The download is cut after the long result, which must not be billed again.
  const cut = piecesOf(result('a'), '\n', long, '\n')
  provider.answers.set(`GET ${RESULTS}`, { headers: { connection: 'close', ...LONG }, pieces: cut })
  await call('GET', `${BATCHES}/${id}`)
  const billed = async () =>
    (await rig.eventsOf(streamOf(id))).flatMap(({ type, data }) =>
      type === 'BatchLinesBilled' ? (data as { lines: { line: number }[] }).lines : [],
    )
  await expect.poll(async () => (await billed()).map(({ line }) => line)).toEqual([0, 1])
  expect((await billed())[1]).toMatchObject({ evidence: { received: digest } })
  const pieces = piecesOf(result('a'), '\n', long, '\n', result('c'), '\n')
  provider.answers.set(`GET ${RESULTS}`, { pieces })
  laterMs += HOUR
  await call('GET', `${BATCHES}/${id}`)
  await expect.poll(ends).toMatchObject([{ type: 'CallSettled', data: { charge: 45 } }])
  expect(await endOf(id)).toMatchObject({ billedLines: 3 })
  expect(await endOf(id)).not.toHaveProperty('unreadableLines')
  const shown = (await read(`${BATCHES}/${id}/results`)).split('\n')
  expect(shown).toHaveLength(4)
  expect(shown[1] === result('b', 'x'.repeat(33 * MIB))).toBe(true)
})

it.each([
  // The input is estimated as 23 tokens, and the longest answer has 64.
  ['without usage costs as the longest answer that was held', 'usage', 117],
  ['whose id is at its end is billed, and shown as an error', 'id', 45],
  ['that failed costs nothing', 'type', 30],
  ['that is cut costs nothing', 'end', 30],
])('a result that is too long and %s', async (_, fault, charge) => {
  const id = await submit()
  const whole = JSON.parse(result('b', 'x'.repeat(33 * MIB)))
  if (fault === 'usage') delete whole.result.message.usage
  if (fault === 'type') whole.result.type = 'errored'
  const isLate = fault === 'id'
  const text = JSON.stringify(isLate ? { result: whole.result, custom_id: 'b' } : whole)
  const long = fault === 'end' ? text.slice(0, -1) : text
  const pieces = piecesOf(result('a'), '\n', result('c'), '\n', long)
  provider.answers.set(`GET ${RESULTS}`, { pieces })
  await call('GET', `${BATCHES}/${id}`)
  await expect.poll(ends).toMatchObject([{ type: 'CallSettled', data: { charge } }])
  const lines = (await read(`${BATCHES}/${id}/results`)).trim().split('\n')
  expect(lines).toHaveLength(3)
  const shown = JSON.parse(lines[2] ?? '')
  expect(shown).toMatchObject({ custom_id: 'b' })
  const isShown = fault === 'usage'
  expect(shown.result.type).toBe(isShown ? 'succeeded' : 'errored')
  expect((lines[2]?.length ?? 0) > MIB).toBe(isShown)
})

it.each([
  // The longest answer has 64 tokens. An input that is not usable is estimated as 23 tokens.
  // Without a trusted report, cached tokens cost as much as others.
  ['without output', { input_tokens: 10 }, { charge: 74 }],
  ['with negative output', { input_tokens: 10, output_tokens: -5 }, { charge: 74 }],
  ['with output as a text', { input_tokens: 10, output_tokens: 'x' }, { charge: 74 }],
  [
    'with cached input and no output',
    { input_tokens: 1, cache_read_input_tokens: 40 },
    { charge: 105 },
  ],
  ['without input and output', { cache_read_input_tokens: 1 }, { charge: 87 }],
  ['with negative input', { input_tokens: -10, output_tokens: 'x' }, { charge: 87 }],
  ['without tokens of output', { input_tokens: 10, output_tokens: 0 }, { charge: 10 }],
])('a result that is too long and has a usage %s', async (_, usage, end) => {
  const id = await submit()
  const whole = JSON.parse(result('b', 'x'.repeat(33 * MIB)))
  Object.assign(whole.result.message, { usage })
  provider.answers.set(`GET ${RESULTS}`, { pieces: piecesOf(JSON.stringify(whole)) })
  await call('GET', `${BATCHES}/${id}`)
  await expect.poll(ends).toMatchObject([{ type: 'CallSettled', data: end }])
  const [billed] = (await rig.eventsOf(streamOf(id))).flatMap(({ type, data }) =>
    type === 'BatchLinesBilled' ? (data as { lines: object[] }).lines : [],
  )
  const isZero = end.charge === 10
  expect(billed).toMatchObject(isZero ? { anomaly: 'zero' } : { isEstimated: true })
})

it('a result without a count of its output is billed by its input and its own text', async () => {
  const id = await submit()
  const one = JSON.parse(result('b', 'Hello.'))
  Object.assign(one.result.message, { usage: { input_tokens: 10 } })
  provider.answers.set(`GET ${RESULTS}`, { pieces: piecesOf(JSON.stringify(one)) })
  await call('GET', `${BATCHES}/${id}`)
  await expect.poll(ends).toMatchObject([{ type: 'CallSettled', data: { charge: 12 } }])
})

it('a result of Gemini that is too long is billed, passed on, and keeps its place', async () => {
  const element = (text: string) => ({
    response: {
      candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5 },
    },
  })
  const [first, third] = [element('first'), element('third')]
  const long = { ...element('x'.repeat(65 * MIB)), metadata: { key: 'b' }, internal: 'planted' }
  Object.assign(long.response, { modelVersion: 'theirs' })
  const results = [first, long, third, element('surplus')]
  const output = { inlinedResponses: { inlinedResponses: results } }
  const metadata = { state: 'BATCH_STATE_SUCCEEDED', createTime: '2026-11-28T00:00:00Z', output }
  const body = { name: 'batches/provider1', metadata, done: true }
  const accepted = { ...body, metadata: { ...metadata, output: {} }, done: false }
  const submission = `/v1beta/models/${MODEL}:batchGenerateContent`
  provider.answers.set(`POST ${submission}`, { body: accepted })
  provider.answers.set(`GET ${GEMINI}/provider1`, { body })
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
  const request = { contents, generationConfig: { maxOutputTokens: 64 } }
  const requests = ['a', 'b', 'c'].map((key) => ({ request, metadata: { key } }))
  const batch = { display_name: 'x', input_config: { requests: { requests } } }
  const { name } = await call('POST', submission, { batch })
  await call('GET', `/v1beta/${name}`)
  await expect.poll(ends).toMatchObject([{ type: 'CallSettled', data: { charge: 45 } }])
  const { response } = await call('GET', `/v1beta/${name}`)
  const shown = response.inlinedResponses.inlinedResponses
  const { internal: _, ...passed } = long
  const expected = { ...passed, response: { ...passed.response, modelVersion: MODEL } }
  expect(shown).toHaveLength(3)
  expect(JSON.stringify(shown[1]) === JSON.stringify(expected)).toBe(true)
  expect(JSON.stringify(shown[2])).toContain('third')
})

it('what arrived before a failed download is billed, and each line once', async () => {
  const id = await submit()
  const cut = [Buffer.from(`${result('a')}\n${result('b')}\n`)]
  provider.answers.set(`GET ${RESULTS}`, { headers: CUT, pieces: cut })
  await call('GET', `${BATCHES}/${id}`)
  const billed = async () =>
    (await rig.eventsOf(streamOf(id))).flatMap(({ type, data }) =>
      type === 'BatchLinesBilled' ? (data as { lines: { line: number }[] }).lines : [],
    )
  await expect.poll(async () => (await billed()).map(({ line }) => line)).toEqual([0, 1])
  expect(await ends()).toEqual([])
  resultsAre(result('a'), result('b'), result('c'))
  laterMs += HOUR
  await call('GET', `${BATCHES}/${id}`)
  await expect.poll(ends).toMatchObject([{ type: 'CallSettled', data: { charge: 45 } }])
  expect((await billed()).map(({ line }) => line)).toEqual([0, 1, 2])
})

it('look-ups at two relays don’t download failing results before the pause is over', async () => {
  const { core } = rig
  let now = Date.now()
  const frozen = { ...core, now: () => now }
  const overrides = { batchPollEveryMs: 24 * HOUR, batchStore }
  const relays = [await serveRelay(frozen, overrides), await serveRelay(frozen, overrides)]
  try {
    const id = await submit()
    provider.answers.set(`GET ${RESULTS}`, { status: 500, body: {} })
    const lookUp = () =>
      Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          call('GET', `${BATCHES}/${id}`, undefined, relays[n % 2]?.url ?? ''),
        ),
      )
    await lookUp()
    await expect.poll(downloads).toBe(1)
    await lookUp()
    expect(downloads()).toBe(1)
    now += 2_000
    await lookUp()
    await expect.poll(downloads).toBe(2)
    now += 2_000
    await lookUp()
    expect(downloads()).toBe(2)
    now += 2_000
    await lookUp()
    await expect.poll(downloads).toBe(3)
    now += HOUR
    resultsAre(result('a'))
    await lookUp()
    await expect.poll(ends).toMatchObject([{ type: 'CallSettled', data: { charge: 15 } }])
  } finally {
    for (const relay of relays) await relay.close()
  }
})

it.each([403, 410, 404])(
  'results that are answered with %s end the batch after days',
  async (status) => {
    const id = await submit()
    const granted = 1_000_000_000n
    const cut = [Buffer.from(`${result('a')}\n`)]
    provider.answers.set(`GET ${RESULTS}`, { headers: CUT, pieces: cut })
    await call('GET', `${BATCHES}/${id}`)
    await expect
      .poll(async () => (await rig.eventsOf(streamOf(id))).map(({ type }) => type))
      .toContain('BatchLinesBilled')
    provider.answers.set(`GET ${RESULTS}`, { status, body: {} })
    laterMs += HOUR
    const shown = await call('GET', `${BATCHES}/${id}`)
    expect(shown).toMatchObject({ processing_status: 'in_progress' })
    expect(await ends()).toEqual([])
    laterMs += 73 * HOUR
    await call('GET', `${BATCHES}/${id}`)
    await expect.poll(ends).toMatchObject([{ type: 'CallSettled', data: { charge: 15 } }])
    expect(await rig.balance()).toBe(granted - 15n)
    expect(await endOf(id)).toMatchObject({ cause: 'results-denied', billedLines: 1 })
    const ended = await call('GET', `${BATCHES}/${id}`)
    expect(ended).toMatchObject({
      ...{ processing_status: 'ended', error: { code: 'results_denied' } },
      request_counts: { succeeded: 1, errored: 2 },
    })
    // Results that become readable later contain unbilled lines, which the caller does not get.
    resultsAre(result('a'), result('b'))
    const headers = { authorization: `Bearer sk-${KEY}` }
    const read = await fetch(`${rig.url}${BATCHES}/${id}/results`, { headers })
    const shownIds = (await read.text()).match(/(?<="custom_id":")[a-z]/g)
    expect(shownIds).toEqual(['a'])
  },
)

const DESCRIPTION = `GET ${BATCHES}/${UPSTREAM}`
const isDenied = async () => ((await batchStore.unsettled('', 1))[0]?.deniedAt ?? 0) > 0

/** Lets time pass, looks the batch up, and waits until the attempt to settle it is over. */
async function lookUpAfter(id: string, hours: number): Promise<void> {
  laterMs += hours * HOUR
  const advance = vi.spyOn(BatchSettler.prototype, 'advance')
  await call('GET', `${BATCHES}/${id}`)
  await Promise.allSettled(advance.mock.results.map(({ value }) => value))
}

/** Looks the batch up while the provider answers `request` with an error. */
async function attempt(id: string, hours: number, request: string, status: number) {
  const before = provider.answers.get(request) ?? {}
  const count = provider.requests.length
  provider.answers.set(request, { status, body: {} })
  await lookUpAfter(id, hours)
  const asked = provider.requests.slice(count).map(({ method, path }) => `${method} ${path}`)
  expect(asked).toContain(request)
  provider.answers.set(request, before)
}

async function expectEndWithout(id: string, cause: string): Promise<void> {
  expect(await ends()).toMatchObject([{ type: 'CallReleased' }])
  expect(await endOf(id)).toMatchObject({ cause, billedLines: 0 })
}

it.each([429, 500, 503])('single answers with %s do not extend a denial', async (status) => {
  const id = await submit()
  await attempt(id, 1, `GET ${RESULTS}`, 403)
  await attempt(id, 30, `GET ${RESULTS}`, status)
  await attempt(id, 1, DESCRIPTION, status)
  await attempt(id, 1, `GET ${RESULTS}`, 403)
  await attempt(id, 30, DESCRIPTION, status)
  await attempt(id, 1, `GET ${RESULTS}`, 403)
  expect(await isDenied()).toBe(true)
  expect(await ends()).toEqual([])
  await attempt(id, 10, `GET ${RESULTS}`, 403)
  await expectEndWithout(id, 'results-denied')
})

it('an outage of several hours is not a denial', async () => {
  const id = await submit()
  await attempt(id, 1, `GET ${RESULTS}`, 403)
  await attempt(id, 40, `GET ${RESULTS}`, 500)
  await attempt(id, 5, DESCRIPTION, 503)
  expect(await isDenied()).toBe(true)
  await attempt(id, 2, `GET ${RESULTS}`, 500)
  expect(await isDenied()).toBe(false)
  await attempt(id, 40, `GET ${RESULTS}`, 403)
  await attempt(id, 71, `GET ${RESULTS}`, 403)
  expect(await ends()).toEqual([])
  await attempt(id, 2, `GET ${RESULTS}`, 403)
  await expectEndWithout(id, 'results-denied')
})

it.each([401, 403])('a description that is answered with %s is a denial', async (status) => {
  const id = await submit(false)
  await attempt(id, 1, DESCRIPTION, status)
  await attempt(id, 71, DESCRIPTION, status)
  // The provider reports the batch as running, so the time starts again.
  await lookUpAfter(id, 1)
  expect(await isDenied()).toBe(false)
  await attempt(id, 1, DESCRIPTION, status)
  await attempt(id, 71, DESCRIPTION, status)
  expect(await ends()).toEqual([])
  await attempt(id, 2, DESCRIPTION, status)
  await expectEndWithout(id, 'results-denied')
})

it('a batch that the provider does not know ends after three days', async () => {
  const id = await submit(false)
  await attempt(id, 0, DESCRIPTION, 404)
  await attempt(id, 71, DESCRIPTION, 404)
  // The provider knows the batch again, so the time starts again.
  await lookUpAfter(id, 1)
  await attempt(id, 1, DESCRIPTION, 404)
  await attempt(id, 71, DESCRIPTION, 404)
  expect(await ends()).toEqual([])
  await attempt(id, 2, DESCRIPTION, 404)
  await expectEndWithout(id, 'lost')
})

it('a batch that the provider did not know for a time is billed after its end', async () => {
  const id = await submit()
  await attempt(id, 1, DESCRIPTION, 404)
  await attempt(id, 60, DESCRIPTION, 404)
  // The results are denied for the first time, so the time starts again.
  await attempt(id, 20, `GET ${RESULTS}`, 403)
  expect(await ends()).toEqual([])
  resultsAre(result('a'))
  await lookUpAfter(id, 1)
  expect(await ends()).toMatchObject([{ type: 'CallSettled', data: { charge: 15 } }])
})

it('results are answered with 503 by the gateway while its database is away', async () => {
  const id = await submit()
  resultsAre(result('a'))
  await lookUpAfter(id, 0)
  vi.spyOn(batchStore, 'linesOf').mockRejectedValueOnce(new Error('away'))
  const read = () =>
    fetch(`${rig.url}${BATCHES}/${id}/results`, { headers: { authorization: `Bearer sk-${KEY}` } })
  const refused = await read()
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toBe('5')
  expect(await refused.text()).not.toMatch(/provider|upstream/i)
  expect((await read()).status).toBe(200)
})

it('results that fail for 30 days after the end was seen end the batch', async () => {
  const id = await submit()
  await attempt(id, 10 * 24, `GET ${RESULTS}`, 500)
  await attempt(id, 29 * 24, `GET ${RESULTS}`, 500)
  expect(await ends()).toEqual([])
  await attempt(id, 25, `GET ${RESULTS}`, 500)
  await expectEndWithout(id, 'lost')
})

it('a database that is away while a batch is settled is no failure of the provider', async () => {
  const id = await submit()
  await attempt(id, 1, `GET ${RESULTS}`, 403)
  resultsAre(result('a'), result('b'), result('c'))
  const away = () => {
    vi.spyOn(batchStore, 'linesOf').mockRejectedValueOnce(new Error('away'))
  }
  away()
  await lookUpAfter(id, 1)
  const [stored] = await batchStore.unsettled('', 1)
  expect(stored).toMatchObject({ failingSince: 0 })
  expect(stored?.deniedAt).toBeGreaterThan(0)
  away()
  await lookUpAfter(id, 31 * 24)
  expect(await ends()).toEqual([])
  const isBilling = ({ type }: { readonly type: string }) => type === 'BillLines'
  const { actors } = rig.core
  const handle = actors.handle.bind(actors)
  vi.spyOn(actors, 'handle').mockImplementation(async (decider, stream, command, context) => {
    if (isBilling(command as never)) throw new StoreUnavailable('away')
    return handle(decider, stream, command, context)
  })
  await lookUpAfter(id, 1)
  expect(await ends()).toEqual([])
  vi.restoreAllMocks()
  await lookUpAfter(id, 1)
  expect(await ends()).toMatchObject([{ type: 'CallSettled', data: { charge: 45 } }])
  expect(await endOf(id)).toMatchObject({ cause: 'done', billedLines: 3 })
})

it('lines that can never be billed do not keep the batch open for ever', async () => {
  const id = await submit()
  resultsAre(result('a'))
  const { actors } = rig.core
  const handle = actors.handle.bind(actors)
  vi.spyOn(actors, 'handle').mockImplementation(async (decider, stream, command, context) => {
    if ((command as { readonly type: string }).type === 'BillLines') throw new Error('a bug')
    return handle(decider, stream, command, context)
  })
  await lookUpAfter(id, 1)
  expect(await ends()).toEqual([])
  await lookUpAfter(id, 31 * 24)
  await expectEndWithout(id, 'lost')
})
