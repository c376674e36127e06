import Anthropic from '@anthropic-ai/sdk'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, PROVIDER_KEY, relayRig, stopAnswersWith, USER } from '../support/relay-rig.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'

const MODEL = 'claude-sonnet-5-5'
const SENT_MODEL = 'vendor-model'
const UPSTREAM = 'msgbatch_provider1'
const BATCHES = '/v1/messages/batches'
const OTHER_KEY = 'OTHERfghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKL'
const GRANTED = 1_000_000_000n
const provider = startedForEach(scriptedProvider)
let laterMs = 0
const rig = startedForEach(() =>
  relayRig({ batchPollEveryMs: 3_600_000 }, {}, undefined, { now: () => Date.now() + laterMs }),
)

beforeEach(async () => {
  laterMs = 0
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  const mapping = { [MODEL]: SENT_MODEL }
  const terms = { type: 14, baseUrl: provider.url, models: [MODEL] }
  await rig.addChannel(2, { ...terms, modelMapping: JSON.stringify(mapping) })
  await rig.setOption('ModelRatio', { [MODEL]: 1.5 })
  await rig.setOption('CompletionRatio', { [MODEL]: 5 })
  await rig.addUser(8)
  await rig.addToken(4, 8, OTHER_KEY)
  await rig.grant(8, 1_000n)
  describeAs('in_progress')
})

function describeAs(status: string, more: object = {}): void {
  const body = {
    ...{ id: UPSTREAM, type: 'message_batch', processing_status: status },
    request_counts: { processing: 0, succeeded: 2, errored: 1, canceled: 0, expired: 0 },
    ...{ created_at: '2026-11-28T00:00:00Z', expires_at: '2026-11-29T00:00:00Z' },
    ended_at: status === 'ended' ? '2026-11-28T01:00:00Z' : null,
    results_url: `${provider.url}/secret/results`,
    ...more,
  }
  provider.answers.set(`POST ${BATCHES}`, { body })
  provider.answers.set(`GET ${BATCHES}/${UPSTREAM}`, { body })
  provider.answers.set(`POST ${BATCHES}/${UPSTREAM}/cancel`, { body })
}

const params = (more: object = {}) => ({
  ...{ model: MODEL, max_tokens: 64, messages: [{ role: 'user' as const, content: 'Hi' }] },
  ...more,
})
const lines = (...ids: string[]) => ids.map((custom_id) => ({ custom_id, params: params() }))

const succeeded = (
  custom_id: string,
  input_tokens: number,
  output_tokens: number,
  text = 'Hello.',
) => ({
  custom_id,
  result: {
    type: 'succeeded',
    message: {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: SENT_MODEL },
      content: [{ type: 'text', text }],
      usage: { input_tokens, output_tokens },
    },
  },
})
const errored = (custom_id: string) => ({
  custom_id,
  result: {
    type: 'errored',
    error: { type: 'error', error: { type: 'api_error', message: `bad key ${PROVIDER_KEY}` } },
  },
})
const resultsAre = (results: readonly object[]) =>
  provider.answers.set(`GET ${BATCHES}/${UPSTREAM}/results`, {
    body: results.map((one) => `${JSON.stringify(one)}\n`).join(''),
  })

async function call(method: string, path: string, body?: unknown, key = KEY, more = {}) {
  const response = await fetch(`${rig.url}${path}`, {
    method,
    headers: { 'x-api-key': `sk-${key}`, 'content-type': 'application/json', ...more },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const { status, headers } = response
  return { status, headers, text, json: () => JSON.parse(text) }
}

const submit = async (requests: unknown = lines('a', 'b', 'c')) =>
  call('POST', BATCHES, { requests })

describe('limits of calls at message batches', () => {
  it('count each line as a call of its model, fifty batches at once', async () => {
    await rig.setOption('RateLimitsByModel', { [MODEL]: { calls: 10 } })
    const all = await Promise.all(Array.from({ length: 50 }, () => submit(lines('a', 'b', 'c'))))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(all.filter(({ status }) => status === 429)).toHaveLength(47)
    const accepted = provider.requests.filter(({ path }) => path === BATCHES)
    expect(accepted).toHaveLength(3)
    expect((await submit(lines('a'))).status).toBe(200)
    const refused = await submit(lines('a'))
    expect([refused.status, refused.json().error.type]).toEqual([429, 'rate_limit_error'])
  })

  it('refuse a batch with more lines than a period allows, and hold nothing', async () => {
    await rig.setOption('RateLimitsByModel', { [MODEL]: { calls: 2 } })
    const refused = await submit(lines('a', 'b', 'c'))
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('2 calls / 60 s')
    expect(refused.headers.get('retry-after')).toBe(null)
    expect(provider.requests).toHaveLength(0)
    expect(await rig.balance()).toBe(GRANTED)
  })

  it('refuse a batch whose lines together exceed the tokens of the site or the group', async () => {
    const many = lines('a', 'b', 'c', 'd', 'e', 'f')
    await rig.setOption('ModelRequestRateLimitEnabled', 'true')
    await rig.setOption('ModelRequestRateLimitTokensPerMinute', '400')
    expect((await submit(many)).status).toBe(400)
    await rig.setOption('RateLimitsByGroup', { default: { tokensPerMinute: 300 } })
    expect((await submit(many)).status).toBe(400)
    await rig.setOption('RateLimitsByGroup', { default: { tokensPerMinute: 100_000 } })
    expect((await submit(many)).status).toBe(200)
  })

  it('reserve the tokens of all lines, for the model and for the token', async () => {
    await rig.setOption('RateLimitsByModel', { [MODEL]: { tokensPerMinute: 400 } })
    expect((await submit(lines('a', 'b', 'c', 'd', 'e', 'f'))).status).toBe(400)
    expect((await submit(lines('a', 'b', 'c'))).status).toBe(200)
    expect((await submit(lines('a', 'b', 'c'))).status).toBe(429)
    await rig.setOption('RateLimitsByModel', {})
    await rig.setOption('ModelRequestRateLimitEnabled', 'true')
    await rig.setOption('ModelRequestRateLimitTokensPerMinute', '500')
    expect((await submit(lines('a', 'b', 'c'))).status).toBe(200)
    expect((await submit(lines('a', 'b', 'c'))).status).toBe(429)
  })
})

describe('a message batch', () => {
  it('is held for all lines, sent with the provider’s names, and shown with our id', async () => {
    const { status, text, json } = await submit()
    expect(status, text).toBe(200)
    expect(json()).toMatchObject({ type: 'message_batch', processing_status: 'in_progress' })
    expect(json().id).toMatch(/^msgbatch_[0-9a-f]{32}$/)
    expect(text).not.toMatch(/provider1|secret|127\.0\.0\.1/)
    const sent = JSON.parse(provider.requests[0]?.body ?? '')
    expect(sent.requests[1]).toEqual({ custom_id: 'b', params: params({ model: SENT_MODEL }) })
    expect(provider.requests[0]?.headers).toMatchObject({ 'x-api-key': PROVIDER_KEY })
    const [admitted] = await rig.callEvents()
    if (admitted?.type !== 'CallAdmitted') throw new Error('not admitted')
    expect(admitted.data).toMatchObject({ batch: { lines: 3 }, price: { batch: '0.5' } })
    // Each line has 64 output tokens: 64 · 5 · 1.5 / 2 = 240, and its input.
    expect(admitted.data.hold).toBeGreaterThan(3 * 240)
    expect(await rig.balance()).toBe(GRANTED - BigInt(admitted.data.hold))
  })

  it('is billed line by line at half price, without the lines that failed', async () => {
    const { id } = (await submit()).json()
    expect((await call('GET', `${BATCHES}/${id}/results`)).status).toBe(400)
    describeAs('ended')
    const done = [succeeded('a', 101, 10), errored('b'), succeeded('c', 7, 1)]
    resultsAre([...done, succeeded('a', 101, 10), succeeded('unknown', 9_999, 9_999)])
    const shown = await call('GET', `${BATCHES}/${id}`)
    expect(shown.json()).toMatchObject({
      processing_status: 'ended',
      results_url: `${BATCHES}/${id}/results`,
    })
    // a: (101 + 50) · 1.5 / 2 = 113.25 → 113; c: (7 + 5) · 1.5 / 2 = 9.
    const settled = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    expect(settled).toHaveLength(1)
    expect(settled[0]?.data).toMatchObject({ charge: 122, billedLines: 2, batch: { lines: 3 } })
    expect(settled[0]?.data).toMatchObject({ usage: { inputUncached: 108, output: 11 } })
    expect(await rig.balance()).toBe(GRANTED - 122n)
    await call('GET', `${BATCHES}/${id}`)
    expect(await rig.balance()).toBe(GRANTED - 122n)
    const results = await call('GET', `${BATCHES}/${id}/results`)
    const [first, second] = results.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(first).toMatchObject({ custom_id: 'a', result: { message: { model: MODEL } } })
    expect(second).toMatchObject({ custom_id: 'b', result: { type: 'errored' } })
    expect(results.text).not.toContain(PROVIDER_KEY)
    expect(results.text).not.toContain(SENT_MODEL)
  })

  it('can be read by Anthropic’s client', async () => {
    const client = new Anthropic({ apiKey: `sk-${KEY}`, baseURL: rig.url, maxRetries: 0 })
    const { id } = await client.messages.batches.create({ requests: lines('a', 'b') })
    describeAs('ended')
    resultsAre([succeeded('a', 10, 10), succeeded('b', 10, 10)])
    expect((await client.messages.batches.retrieve(id)).processing_status).toBe('ended')
    const ids: string[] = []
    for await (const { custom_id } of await client.messages.batches.results(id)) ids.push(custom_id)
    expect(ids).toEqual(['a', 'b'])
    const page = await client.messages.batches.list({ limit: 1 })
    expect(page.data.map((one) => one.id)).toEqual([id])
  })

  it('does not exist for another user', async () => {
    const { id } = (await submit()).json()
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/results'],
      ['POST', '/cancel'],
      ['DELETE', ''],
    ] as const) {
      const { status } = await call(method, `${BATCHES}/${id}${path}`, undefined, OTHER_KEY)
      expect(status, `${method} ${path}`).toBe(404)
    }
    const list = await call('GET', BATCHES, undefined, OTHER_KEY)
    expect(list.json()).toEqual({ data: [], has_more: false, first_id: null, last_id: null })
  })

  it('is charged for an answer with a screened word, which its caller does not get', async () => {
    const { id } = (await submit(lines('a', 'b'))).json()
    describeAs('ended')
    resultsAre([succeeded('a', 100, 10, 'A BOMB.'), succeeded('b', 100, 10)])
    await call('GET', `${BATCHES}/${id}`)
    const results = async () =>
      (await call('GET', `${BATCHES}/${id}/results`)).text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    expect((await results())[0].result.type).toBe('succeeded')
    await stopAnswersWith(rig, 'bomb')
    expect(await results()).toEqual([
      {
        custom_id: 'a',
        result: {
          type: 'errored',
          error: {
            type: 'error',
            error: { type: 'invalid_request_error', message: expect.stringContaining('blocks') },
            request_id: expect.any(String),
          },
        },
      },
      expect.objectContaining({ result: expect.objectContaining({ type: 'succeeded' }) }),
    ])
    const settled = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    expect(settled).toMatchObject([{ data: { billedLines: 2 } }])
    await rig.setOption('global.safe_check_exempt_group', 'default')
    await rig.setOption('global.safe_check_exempt_enabled', 'true')
    expect((await results())[0].result.type).toBe('succeeded')
  })

  it('can be cancelled, but deleted only when it is settled', async () => {
    const { id } = (await submit()).json()
    describeAs('canceling', { cancel_initiated_at: '2026-11-28T00:30:00Z' })
    const canceling = await call('POST', `${BATCHES}/${id}/cancel`)
    expect(canceling.json()).toMatchObject({ processing_status: 'canceling' })
    expect((await call('DELETE', `${BATCHES}/${id}`)).status).toBe(400)
    describeAs('ended', { cancel_initiated_at: '2026-11-28T00:30:00Z' })
    resultsAre([{ custom_id: 'a', result: { type: 'canceled' } }])
    await call('GET', `${BATCHES}/${id}`)
    expect(await rig.balance()).toBe(GRANTED)
    provider.answers.set(`DELETE ${BATCHES}/${UPSTREAM}`, { body: {} })
    expect((await call('DELETE', `${BATCHES}/${id}`)).json()).toEqual({
      id,
      type: 'message_batch_deleted',
    })
    expect((await call('GET', `${BATCHES}/${id}`)).status).toBe(404)
  })

  it('is released if the provider refuses it', async () => {
    provider.answers.set(`POST ${BATCHES}`, {
      status: 400,
      body: { type: 'error', error: { type: 'invalid_request_error', message: 'too odd' } },
    })
    const { status, text } = await submit()
    expect(status).toBe(400)
    expect(text).toContain('too odd')
    expect(await rig.balance()).toBe(GRANTED)
  })

  it('is released if only a message says that the provider refuses the account', async () => {
    const message = 'Your credit balance is too low to access the Anthropic API. Please go to Plans'
    const error = { type: 'invalid_request_error', message }
    provider.answers.set(`POST ${BATCHES}`, { status: 400, body: { type: 'error', error } })
    const { status, text } = await submit()
    expect(status, text).toBe(502)
    expect(text).not.toContain('credit')
    expect(await rig.balance()).toBe(GRANTED)
  })

  it('stays held if the provider’s answer is lost, and is released after ten minutes', async () => {
    provider.answers.set(`POST ${BATCHES}`, { status: 500, body: {} })
    expect((await submit()).status).toBeGreaterThanOrEqual(500)
    expect(await rig.balance()).toBeLessThan(GRANTED)
    const [{ id }] = (await call('GET', BATCHES)).json().data
    await call('GET', `${BATCHES}/${id}`)
    expect(await rig.balance()).toBeLessThan(GRANTED)
    laterMs = 601_000
    await call('GET', `${BATCHES}/${id}`)
    expect(await rig.balance()).toBe(GRANTED)
    const ends = (await rig.callEvents()).slice(1)
    expect(ends).toMatchObject([{ type: 'CallReleased', data: { errorCode: 'batch_lost' } }])
  })

  it('is submitted once for each Idempotency-Key', async () => {
    const keyed = (requests: object[]) =>
      call('POST', BATCHES, { requests }, KEY, { 'idempotency-key': 'once' })
    provider.answers.set(`POST ${BATCHES}`, { status: 429, body: {} })
    expect((await keyed(lines('a'))).status).toBe(429)
    describeAs('in_progress')
    expect((await keyed(lines('a'))).status).toBe(200)
    const balance = await rig.balance()
    expect((await keyed(lines('a'))).status).toBe(409)
    expect((await keyed(lines('b'))).status).toBe(422)
    expect(provider.requests).toHaveLength(2)
    expect(await rig.balance()).toBe(balance)
  })

  it('has one call for each of its models', async () => {
    const cheap = 'claude-haiku-5-5'
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    await rig.addChannel(3, { type: 14, baseUrl: provider.url, models: [MODEL, cheap] })
    await rig.setOption('ModelRatio', { [MODEL]: 1.5, [cheap]: 0.5 })
    const requests = [...lines('a'), { custom_id: 'b', params: params({ model: cheap }) }]
    const { id } = (await submit(requests)).json()
    describeAs('ended')
    resultsAre([succeeded('b', 100, 0), succeeded('a', 100, 0)])
    await call('GET', `${BATCHES}/${id}`)
    const settled = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    expect(settled.map(({ data }) => data)).toMatchObject([
      { model: MODEL, charge: 75, billedLines: 1 },
      { model: cheap, charge: 25, billedLines: 1 },
    ])
    // The projections count the attempts of a batch for the call that has the id of the batch.
    const calls = settled.flatMap(({ type, data }) => (type === 'CallSettled' ? data : []))
    expect(calls.map(({ call, batch }) => call === batch?.id)).toEqual([true, false])
    expect(await rig.balance()).toBe(GRANTED - 100n)
    const results = await call('GET', `${BATCHES}/${id}/results`)
    expect(
      results.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).result.message.model),
    ).toEqual([cheap, MODEL])
  })

  it('goes only to channels that offer batches and all models', async () => {
    await rig.addChannel(4, { type: 1, baseUrl: provider.url, models: ['gpt-5'] })
    await rig.setOption('ModelRatio', { [MODEL]: 1.5, 'gpt-5': 1 })
    for (const requests of [
      [{ custom_id: 'a', params: params({ model: 'gpt-5' }) }],
      [...lines('a'), { custom_id: 'b', params: params({ model: 'gpt-5' }) }],
    ]) {
      const { status, text } = await submit(requests)
      expect(status).toBe(400)
      expect(text).toContain('gpt-5')
    }
    expect(await rig.balance()).toBe(GRANTED)
  })

  it('is refused if the account can’t pay for all lines together', async () => {
    const many = lines(...Array.from({ length: 50 }, (_, index) => `line-${index}`))
    const { status } = await call('POST', BATCHES, { requests: many }, OTHER_KEY)
    expect(status).toBe(402)
    expect(provider.requests).toEqual([])
    expect(await rig.balance(8)).toBe(1_000n)
  })

  it('charges at most what the hold and the account cover', async () => {
    const one = await call('POST', BATCHES, { requests: lines('a') }, OTHER_KEY)
    expect(one.status).toBe(200)
    describeAs('ended')
    resultsAre([succeeded('a', 5_000, 64)])
    await call('GET', `${BATCHES}/${one.json().id}`, undefined, OTHER_KEY)
    const settled = (await rig.callEvents(8)).find(({ type }) => type === 'CallSettled')
    expect(settled?.data).toMatchObject({ charge: 1_000 })
    expect(await rig.balance(8)).toBe(0n)
  })
})

describe('the lines of a batch', () => {
  it.each([
    ['no requests', { requests: [] }, 'requests'],
    ['another member', { requests: lines('a'), more: 1 }, 'requests'],
    ['the same id twice', { requests: lines('a', 'a') }, 'requests[1].custom_id'],
    ['an invalid id', { requests: lines('a b') }, 'requests[0].custom_id'],
    ['no id', { requests: [{ params: params() }] }, 'requests[0].custom_id'],
    ['no parameters', { requests: [{ custom_id: 'a' }] }, 'requests[0].params'],
    [
      'a stream',
      { requests: [...lines('a'), { custom_id: 'b', params: params({ stream: true }) }] },
      'requests[1].params.stream',
    ],
    [
      'an unknown model',
      { requests: [{ custom_id: 'a', params: params({ model: 'other' }) }] },
      'other',
    ],
    [
      'a fault in a request',
      { requests: [{ custom_id: 'a', params: params({ max_tokens: -1 }) }] },
      'requests[0].params.max_tokens',
    ],
    ['a fault in the JSON', '{"requests":[{"custom_id":"a","params":{]}', 'not valid JSON'],
    ['an end that is too early', '{"requests":[{"custom_id":"a"', 'ends before'],
  ])('are refused with %s', async (_name, body, told) => {
    const { status, text } = await call('POST', BATCHES, body)
    expect(status, text).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
    expect(text).toContain(told)
    expect(provider.requests).toEqual([])
    expect(await rig.balance(USER)).toBe(GRANTED)
  })

  it('get the output limit that is held, because nobody could stop them', async () => {
    const { max_tokens: _, ...open } = params()
    expect((await submit([{ custom_id: 'a', params: open }])).status).toBe(200)
    const sent = JSON.parse(provider.requests[0]?.body ?? '')
    expect(sent.requests[0].params.max_tokens).toBeGreaterThan(0)
  })
})
