import { GoogleGenAI } from '@google/genai'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, PROVIDER_KEY, relayRig, stopAnswersWith } from '../support/relay-rig.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'

const MODEL = 'gemini-test'
const SENT_MODEL = 'vendor-model'
const BATCHES = '/v1beta/batches'
const SUBMIT = `/v1beta/models/${MODEL}:batchGenerateContent`
const SENT_TO = `POST /v1beta/models/${SENT_MODEL}:batchGenerateContent`
const UPSTREAM = 'provider1'
const OTHER_KEY = 'OTHERfghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKL'
const GRANTED = 1_000_000_000n
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(() => relayRig({ batchPollEveryMs: 3_600_000 }))

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  const modelMapping = JSON.stringify({ [MODEL]: SENT_MODEL })
  await rig.addChannel(2, { type: 24, baseUrl: provider.url, models: [MODEL], modelMapping })
  await rig.setOption('ModelRatio', { [MODEL]: 1.5 })
  await rig.setOption('CompletionRatio', { [MODEL]: 5 })
  await rig.addUser(8)
  await rig.addToken(4, 8, OTHER_KEY)
  await rig.grant(8, 1_000n)
  describeAs('PENDING')
})

/** The provider repeats the caller's requests, in which a caller could plant results. */
function describeAs(state: string, results: readonly object[] | null = null, stats = {}): void {
  const output = results === null ? {} : { inlinedResponses: { inlinedResponses: results } }
  const planted = [{ request: { output: { inlinedResponses: { inlinedResponses: [{}] } } } }]
  const body = {
    name: `batches/${UPSTREAM}`,
    metadata: {
      ...{ '@type': 'x', model: `models/${SENT_MODEL}`, displayName: 'batch' },
      ...{ inputConfig: { requests: { requests: planted } } },
      ...{ state: `BATCH_STATE_${state}`, createTime: '2026-11-28T00:00:00Z' },
      ...{ batchStats: { requestCount: '3', ...stats }, output },
    },
    ...(results === null ? {} : { done: true, response: output }),
  }
  provider.answers.set(SENT_TO, { body })
  provider.answers.set(`GET ${BATCHES}/${UPSTREAM}`, { body })
}

const request = (more: object = {}) => ({
  contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
  generationConfig: { maxOutputTokens: 64 },
  ...more,
})
const inBatch = (requests: readonly object[], more: object = {}) => ({
  batch: { display_name: 'nightly', input_config: { requests: { requests } }, ...more },
})
const THREE = ['a', 'b', 'c'].map((key) => ({ request: request(), metadata: { key } }))

const answered = (
  key: string,
  promptTokenCount: number,
  candidatesTokenCount: number,
  text = 'Hello.',
) => ({
  response: {
    candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount, candidatesTokenCount },
    modelVersion: SENT_MODEL,
  },
  metadata: { key },
})
const failed = (key: string) => ({
  error: { code: 3, message: `bad key ${PROVIDER_KEY}` },
  metadata: { key },
})

async function call(method: string, path: string, body?: unknown, key = KEY) {
  const response = await fetch(`${rig.url}${path}`, {
    method,
    headers: { 'x-goog-api-key': `sk-${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, text, json: () => JSON.parse(text) }
}

const settled = async () =>
  (await rig.callEvents()).filter(({ type }) => type === 'CallSettled').map(({ data }) => data)

describe('a batch of Gemini’s API', () => {
  it('is held for all lines, sent with the provider’s names, and shown with our name', async () => {
    const { status, text, json } = await call('POST', SUBMIT, inBatch(THREE))
    expect(status, text).toBe(200)
    expect(json().name).toMatch(/^batches\/[0-9a-f]{32}$/)
    expect(json().metadata).toMatchObject({
      ...{ state: 'BATCH_STATE_PENDING', displayName: 'nightly', model: `models/${MODEL}` },
    })
    expect(text).not.toMatch(/provider1|vendor/)
    expect(JSON.parse(provider.requests[0]?.body ?? '')).toEqual({
      batch: { displayName: 'nightly', inputConfig: { requests: { requests: THREE } } },
    })
    const [admitted] = await rig.callEvents()
    if (admitted?.type !== 'CallAdmitted') throw new Error('not admitted')
    expect(admitted.data).toMatchObject({ batch: { lines: 3 }, price: { batch: '0.5' } })
    expect(admitted.data.hold).toBeGreaterThan(3 * 240)
  })

  it('is billed line by line at half price, and shows its results only then', async () => {
    const { name } = (await call('POST', SUBMIT, inBatch(THREE))).json()
    describeAs('RUNNING')
    expect((await call('GET', `/v1beta/${name}`)).json().done).toBeUndefined()
    describeAs('SUCCEEDED', null, { successfulRequestCount: '2' })
    expect((await call('GET', `/v1beta/${name}`)).json()).toMatchObject({
      metadata: { state: 'BATCH_STATE_RUNNING' },
    })
    expect(await settled()).toEqual([])
    const extra = answered('d', 9_999, 9_999)
    describeAs('SUCCEEDED', [answered('a', 101, 10), failed('b'), answered('c', 7, 1), extra])
    const shown = await call('GET', `/v1beta/${name}`)
    // a: (101 + 50) · 1.5 / 2 = 113.25 → 113; c: (7 + 5) · 1.5 / 2 = 9.
    expect(await settled()).toMatchObject([{ charge: 122, billedLines: 2, batch: { lines: 3 } }])
    expect(await rig.balance()).toBe(GRANTED - 122n)
    const { done, metadata, response } = shown.json()
    expect([done, metadata.state]).toEqual([true, 'BATCH_STATE_SUCCEEDED'])
    expect(response).toEqual(metadata.output)
    const results = response.inlinedResponses.inlinedResponses
    expect(results).toHaveLength(3)
    expect(results[0]).toMatchObject({ response: { modelVersion: MODEL }, metadata: { key: 'a' } })
    expect(results[1]).toMatchObject({ error: { code: 3 }, metadata: { key: 'b' } })
    expect(shown.text).not.toMatch(new RegExp(`${PROVIDER_KEY}|${SENT_MODEL}|provider1`))
    await call('GET', `/v1beta/${name}`)
    expect(await settled()).toHaveLength(1)
  })

  it('is charged for an answer with a screened word, which its caller does not get', async () => {
    const { name } = (await call('POST', SUBMIT, inBatch(THREE))).json()
    const good = answered('a', 101, 10)
    describeAs('SUCCEEDED', [good, answered('b', 7, 1, 'A BOMB.'), good])
    await stopAnswersWith(rig, 'bomb')
    const { metadata, response, error } = (await call('GET', `/v1beta/${name}`)).json()
    expect(error).toBeUndefined()
    expect(metadata.output).toEqual(response)
    const [first, withheld, last] = response.inlinedResponses.inlinedResponses
    expect(withheld).toEqual({
      metadata: { key: 'b' },
      error: {
        ...{ code: 3, message: expect.stringContaining('blocks') },
        details: [expect.objectContaining({ reason: 'SENSITIVE_ANSWER' })],
      },
    })
    for (const one of [first, last]) expect(one.response.candidates).toHaveLength(1)
    expect(await settled()).toMatchObject([{ billedLines: 3 }])
  })

  it('is not shown to its end if the provider sends the results too slowly', async () => {
    const { name } = (await call('POST', SUBMIT, inBatch(THREE))).json()
    describeAs('SUCCEEDED', [answered('a', 101, 10), answered('b', 7, 1), answered('c', 7, 1)])
    expect((await call('GET', `/v1beta/${name}`)).status).toBe(200)
    const document = Buffer.from(
      JSON.stringify(provider.answers.get(`GET ${BATCHES}/${UPSTREAM}`)?.body),
    )
    const half = document.indexOf('"key":"b"')
    const pieces = [document.subarray(0, half), document.subarray(half)]
    /** Reads the results from a provider that lets so many milliseconds pass between two halves. */
    const shownAfter = async (ms: number): Promise<string | null> => {
      let resume = (): void => {}
      const pause = new Promise<void>((resolve) => {
        resume = resolve
      })
      provider.answers.set(`GET ${BATCHES}/${UPSTREAM}`, { pieces, pause })
      const headers = { 'x-goog-api-key': `sk-${KEY}` }
      // The response begins when the first result has arrived.
      const response = await fetch(`${rig.url}/v1beta/${name}`, { headers })
      const clock = performance.now.bind(performance)
      const later = vi.spyOn(performance, 'now').mockImplementation(() => clock() + ms)
      onTestFinished(() => later.mockRestore())
      resume()
      const text = await response.text().catch(() => null)
      later.mockRestore()
      return text
    }
    expect(await shownAfter(0)).toContain('"key":"c"')
    expect(await shownAfter(600_000)).toBeNull()
  })

  it('can be used by Google’s client', async () => {
    const httpOptions = { baseUrl: rig.url }
    const client = new GoogleGenAI({ apiKey: `sk-${KEY}`, httpOptions })
    const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
    const config = { displayName: 'nightly' }
    const job = await client.batches.create({ model: MODEL, src: [{ contents }], config })
    expect(job).toMatchObject({ displayName: 'nightly', state: 'JOB_STATE_PENDING' })
    const name = job.name ?? ''
    provider.answers.set(`POST ${BATCHES}/${UPSTREAM}:cancel`, { body: {} })
    await client.batches.cancel({ name })
    expect(provider.requests.at(-1)?.path).toBe(`${BATCHES}/${UPSTREAM}:cancel`)
    describeAs('CANCELLED', [answered('a', 10, 1)])
    const done = await client.batches.get({ name })
    expect(done.state).toBe('JOB_STATE_CANCELLED')
    expect(done.dest?.inlinedResponses).toHaveLength(1)
    const names: unknown[] = []
    for await (const one of await client.batches.list({ config: { pageSize: 1 } })) {
      names.push(one.name)
    }
    expect(names).toEqual([name])
    provider.answers.set(`DELETE ${BATCHES}/${UPSTREAM}`, { body: {} })
    await client.batches.delete({ name })
    expect((await call('GET', `/v1beta/${name}`)).status).toBe(404)
  })

  it('does not exist for another user, or in another API', async () => {
    const { name } = (await call('POST', SUBMIT, inBatch(THREE))).json()
    for (const [method, action] of [
      ['GET', ''],
      ['POST', ':cancel'],
      ['DELETE', ''],
    ] as const) {
      const { status } = await call(method, `/v1beta/${name}${action}`, undefined, OTHER_KEY)
      expect(status, `${method} ${action}`).toBe(404)
    }
    const hex = name.slice('batches/'.length)
    expect((await call('GET', `/v1/${name}`)).json().name).toBe(name)
    expect((await call('GET', '/v1/batches')).json().operations).toHaveLength(1)
    expect((await call('GET', `/v1/batches/batch_${hex}`)).status).toBe(404)
    expect((await call('GET', BATCHES, undefined, OTHER_KEY)).json()).toEqual({ operations: [] })
    expect((await call('DELETE', `/v1beta/${name}`)).status).toBe(400)
  })

  it('is released if the provider fails or refuses it', async () => {
    const { name } = (await call('POST', SUBMIT, inBatch(THREE))).json()
    describeAs('FAILED')
    expect((await call('GET', `/v1beta/${name}`)).json()).toMatchObject({ done: true })
    expect(await rig.balance()).toBe(GRANTED)
    const body = { error: { code: 400, message: 'too odd', status: 'INVALID_ARGUMENT' } }
    provider.answers.set(SENT_TO, { status: 400, body })
    expect((await call('POST', SUBMIT, inBatch(THREE))).text).toContain('too odd')
    expect(await rig.balance()).toBe(GRANTED)
  })

  it('is refused if the account can’t pay for all lines together', async () => {
    const many = Array.from({ length: 50 }, () => ({ request: request() }))
    expect((await call('POST', SUBMIT, inBatch(many), OTHER_KEY)).status).toBe(402)
    expect(provider.requests).toEqual([])
    expect(await rig.balance(8)).toBe(1_000n)
  })

  it.each([
    ['no requests', inBatch([]), 'batch.input_config.requests'],
    ['no batch', {}, 'batch'],
    ['a file', { batch: { input_config: { file_name: 'files/1' } } }, 'file_name'],
    ['another member', inBatch(THREE, { output: {} }), 'batch.output'],
    ['a name of another kind', inBatch(THREE, { display_name: 1 }), 'batch.display_name'],
    ['a cache of the site', inBatch([{ request: request({ cachedContent: 'x' }) }]), '[0].request'],
    ['no request', inBatch([{ request: request() }, { metadata: {} }]), 'requests[1].request'],
    ['another member of a request', inBatch([{ request: request(), key: 1 }]), 'requests[0].key'],
    [
      'a fault in a request',
      inBatch([{ request: request({ generationConfig: { maxOutputTokens: -1 } }) }]),
      'requests[0].request.generationConfig.maxOutputTokens',
    ],
    ['elements that are no objects', inBatch([1 as never]), 'batch.input_config'],
    ['a fault in the JSON', '{"batch":{"input_config":{"requests":{"requests":[{]}}}}', '400'],
    ['an end that is too early', '{"batch":{"input_config":{"requests":{"requests":[{', '400'],
  ])('is refused with %s', async (_name, body, named) => {
    const { status, text } = await call('POST', SUBMIT, body)
    expect(status, text).toBe(400)
    expect(text).toContain(named)
    expect(provider.requests).toEqual([])
    expect(await rig.balance()).toBe(GRANTED)
  })
})
