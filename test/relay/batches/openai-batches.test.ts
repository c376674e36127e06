import OpenAI, { toFile } from 'openai'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM, type ChannelTerms } from '#domain/channels/events.ts'
import { SpoolFolder } from '#relay/uploads/spool-folder.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, PROVIDER_KEY, relayRig } from '../support/relay-rig.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'

const MODEL = 'lab-model'
const SENT_MODEL = 'vendor-model'
const EMBEDDING = 'text-embedding-3-small'
const CHAT = '/v1/chat/completions'
const OTHER_KEY = 'OTHERfghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKL'
const GRANTED = 1_000_000_000n
const FILE = 'file-provider1'
const OUTPUT = 'file-output1'
const ERRORS = 'file-errors1'
const UPSTREAM = 'batch_provider1'
const provider = startedForEach(scriptedProvider)
let laterMs = 0
const rig = startedForEach(() =>
  relayRig({ batchPollEveryMs: 3_600_000 }, {}, undefined, { now: () => Date.now() + laterMs }),
)

beforeEach(async () => {
  laterMs = 0
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  const modelMapping = JSON.stringify({ [MODEL]: SENT_MODEL })
  const terms = { type: 1, baseUrl: provider.url, models: [MODEL, EMBEDDING], modelMapping }
  await rig.addChannel(2, terms)
  await rig.setOption('ModelRatio', { [MODEL]: 1.5, [EMBEDDING]: 0.5 })
  await rig.setOption('CompletionRatio', { [MODEL]: 5 })
  await rig.addUser(8)
  await rig.addToken(4, 8, OTHER_KEY)
  await rig.grant(8, 1_000n)
  provider.answers.set('POST /v1/files', { body: { id: FILE, object: 'file' } })
  provider.answers.set(`DELETE /v1/files/${FILE}`, { body: { deleted: true } })
  describeAs('in_progress')
})

function describeAs(status: string, more: object = {}): void {
  const body = {
    ...{ id: UPSTREAM, object: 'batch', status, input_file_id: FILE, created_at: 1_795_000_000 },
    request_counts: { total: 3, completed: 0, failed: 0 },
    ...more,
  }
  provider.answers.set('POST /v1/batches', { body })
  provider.answers.set(`GET /v1/batches/${UPSTREAM}`, { body })
  provider.answers.set(`POST /v1/batches/${UPSTREAM}/cancel`, { body })
}

const completed = (more: object = {}) =>
  describeAs('completed', {
    ...{ output_file_id: OUTPUT, completed_at: 1_795_000_100 },
    request_counts: { total: 3, completed: 2, failed: 1 },
    ...more,
  })

const chat = (custom_id: string, body: object = {}) => ({
  ...{ custom_id, method: 'POST', url: CHAT },
  body: {
    ...{ model: MODEL, max_completion_tokens: 64, messages: [{ role: 'user', content: 'Hi' }] },
    ...body,
  },
})
const linesOf = (lines: readonly unknown[]) =>
  lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')

const answered = (custom_id: string, prompt_tokens: number, completion_tokens: number) => ({
  ...{ id: 'batch_req_provider', custom_id, error: null },
  response: {
    status_code: 200,
    request_id: 'req-provider',
    body: {
      ...{ id: 'chatcmpl-1', object: 'chat.completion', model: SENT_MODEL },
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' } }],
      usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
    },
  },
})
const failed = (custom_id: string) => ({
  ...{ id: 'batch_req_provider', custom_id, error: null },
  response: {
    status_code: 400,
    body: { error: { message: `bad key ${PROVIDER_KEY}`, type: 'invalid_request_error' } },
  },
})
const resultsAre = (file: string, results: readonly object[]) =>
  provider.answers.set(`GET /v1/files/${file}/content`, { body: linesOf(results) })

async function call(method: string, path: string, body?: unknown, key = KEY, more = {}) {
  const isForm = body instanceof FormData
  const response = await fetch(`${rig.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer sk-${key}`,
      ...(isForm ? {} : { 'content-type': 'application/json' }),
      ...more,
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, text, json: () => JSON.parse(text) }
}

function formOf(text: string, fields: object = { purpose: 'batch' }): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, String(value))
  form.set('file', new Blob([text]), 'my-lines.jsonl')
  return form
}

/** Uploads a file, which the provider then has as it was sent. */
async function upload(lines: readonly unknown[], key = KEY) {
  const text = linesOf(lines)
  const answer = await call('POST', '/v1/files', formOf(text), key)
  provider.answers.set(`GET /v1/files/${FILE}/content`, { body: text })
  return answer
}

const create = (input_file_id: string, more: object = {}, key = KEY, headers = {}) => {
  const body = { input_file_id, endpoint: CHAT, completion_window: '24h', ...more }
  return call('POST', '/v1/batches', body, key, headers)
}

async function submit(lines: readonly unknown[] = ['a', 'b', 'c'].map((id) => chat(id))) {
  const uploaded = await upload(lines)
  expect(uploaded.status, uploaded.text).toBe(200)
  const created = await create(uploaded.json().id)
  expect(created.status, created.text).toBe(200)
  return created.json()
}

async function changeChannel(change: Partial<ChannelTerms>) {
  const { channels } = await rig.core.actors.stateOf(channelsDecider, CHANNELS_STREAM)
  const { channelId, terms, keyRefs, keyMode } = channels.get(2) ?? {}
  await rig.append(CHANNELS_STREAM, {
    ...{ type: 'ChannelTermsChanged', v: 1 },
    data: { channelId, terms: { ...terms, ...change }, keyRefs, keyMode, droppedKeyRefs: [] },
  })
}

const sentLines = (index: number): readonly Record<string, unknown>[] =>
  (provider.requests[index]?.body ?? '')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
const settled = async (user?: number) =>
  (await rig.callEvents(user)).filter(({ type }) => type === 'CallSettled')

describe('a limit of a model', () => {
  it('counts the lines of a file as calls, fifty batches at once', async () => {
    await rig.setOption('RateLimitsByModel', { [MODEL]: { calls: 4 } })
    const { id } = (await upload(['a', 'b', 'c'].map((line) => chat(line)))).json()
    const all = await Promise.all(Array.from({ length: 50 }, () => create(id)))
    expect(all.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
    await expect.poll(async () => (await create(id)).status).toBe(429)
    expect((await rig.callEvents()).filter(({ type }) => type === 'CallAdmitted')).toHaveLength(1)
    const free = await rig.balance()
    expect((await create(id)).status).toBe(429)
    expect(await rig.balance()).toBe(free)
  })
})

describe('a batch of a file', () => {
  it('is held for all lines, sent with the provider’s names, and shown with our ids', async () => {
    const batch = await submit()
    expect(batch).toMatchObject({ object: 'batch', status: 'in_progress', endpoint: CHAT })
    expect(batch.id).toMatch(/^batch_[0-9a-f]{32}$/)
    expect(batch.input_file_id).toMatch(/^file-[0-9a-f]{32}$/)
    expect(JSON.stringify(batch)).not.toMatch(/provider1|127\.0\.0\.1/)
    const paths = provider.requests.map(({ method, path }) => `${method} ${path}`)
    expect(paths).toEqual([
      'POST /v1/files',
      `GET /v1/files/${FILE}/content`,
      'POST /v1/files',
      'POST /v1/batches',
    ])
    expect(provider.requests[0]?.body).not.toContain('my-lines')
    expect(sentLines(0)[1]).toEqual(chat('b'))
    expect(sentLines(2)[1]).toEqual(chat('b', { model: SENT_MODEL }))
    expect(JSON.parse(provider.requests[3]?.body ?? '')).toEqual({
      ...{ input_file_id: FILE, endpoint: CHAT, completion_window: '24h' },
    })
    const [admitted] = await rig.callEvents()
    if (admitted?.type !== 'CallAdmitted') throw new Error('not admitted')
    expect(admitted.data).toMatchObject({ batch: { lines: 3 }, price: { batch: '0.5' } })
    expect(admitted.data.hold).toBeGreaterThan(3 * 240)
    expect(await rig.balance()).toBe(GRANTED - BigInt(admitted.data.hold))
  })

  it.each([
    undefined,
    {},
    { total_tokens: 70 },
    { prompt_tokens: null, completion_tokens: null },
    { prompt_tokens: -100, completion_tokens: -5 },
    { prompt_tokens: 'many', completion_tokens: 'few' },
  ])('bills a line by its length if its usage is unusable: %j', async (usage) => {
    const content = 'x'.repeat(800)
    const { id } = await submit([chat('a', { messages: [{ role: 'user', content }] })])
    completed({})
    const result = answered('a', 0, 0)
    const body = { ...result.response.body, usage }
    resultsAre(OUTPUT, [{ ...result, response: { ...result.response, body } }])
    await call('GET', `/v1/batches/${id}`)
    await expect.poll(() => settled()).toHaveLength(1)
    const [end] = await settled()
    const { inputUncached, output } = JSON.parse(JSON.stringify(end?.data)).usage
    // A token is estimated as four bytes.
    expect(inputUncached).toBeGreaterThanOrEqual(200)
    expect(output).toBeGreaterThan(0)
  })

  it('is billed line by line at half price, and its results are shown only then', async () => {
    const { id } = await submit()
    expect((await call('GET', `/v1/files/file-${id.slice(6)}-output/content`)).status).toBe(404)
    completed({ error_file_id: ERRORS })
    resultsAre(OUTPUT, [
      ...[answered('a', 101, 10), answered('c', 7, 1), answered('a', 101, 10)],
      ...[answered('unknown', 9_999, 9_999), failed('b')],
    ])
    resultsAre(ERRORS, [failed('b'), answered('b', 5, 5)])
    const shown = (await call('GET', `/v1/batches/${id}`)).json()
    expect(shown).toMatchObject({ status: 'completed', completed_at: 1_795_000_100 })
    // a: (101 + 50) · 1.5 / 2 = 113.25 → 113; c: (7 + 5) · 1.5 / 2 = 9.
    expect((await settled()).map(({ data }) => data)).toMatchObject([
      { charge: 122, billedLines: 2, batch: { lines: 3 }, usage: { inputUncached: 108 } },
    ])
    expect(await rig.balance()).toBe(GRANTED - 122n)
    const output = await call('GET', `/v1/files/${shown.output_file_id}/content`)
    const lines = output.text.trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).custom_id)).toEqual(['a', 'c', 'a', 'b'])
    expect(JSON.parse(lines[0] ?? '').response.body.model).toBe(MODEL)
    const errors = await call('GET', `/v1/files/${shown.error_file_id}/content`)
    expect(JSON.parse(errors.text)).toMatchObject({
      custom_id: 'b',
      response: { status_code: 400 },
    })
    for (const text of [output.text, errors.text, JSON.stringify(shown)]) {
      expect(text).not.toMatch(new RegExp(`${PROVIDER_KEY}|${SENT_MODEL}|provider|unknown`))
    }
    expect(provider.requests.some(({ method }) => method === 'DELETE')).toBe(true)
    provider.answers.set(`DELETE /v1/files/${OUTPUT}`, { status: 500, body: {} })
    expect((await call('DELETE', `/v1/files/${shown.output_file_id}`)).status).toBe(502)
    provider.answers.set(`DELETE /v1/files/${OUTPUT}`, { body: {} })
    expect((await call('DELETE', `/v1/files/${shown.output_file_id}`)).json().deleted).toBe(true)
    expect((await call('GET', `/v1/files/${shown.output_file_id}`)).status).toBe(404)
  })

  it('is not ended before the provider has the file of completed lines', async () => {
    const { id } = await submit()
    completed({ output_file_id: null })
    const shown = (await call('GET', `/v1/batches/${id}`)).json()
    expect(shown).toMatchObject({ status: 'finalizing', output_file_id: null, completed_at: null })
    expect(await settled()).toEqual([])
    completed()
    resultsAre(OUTPUT, [answered('a', 2, 0)])
    expect((await call('GET', `/v1/batches/${id}`)).json().status).toBe('completed')
    expect((await settled()).map(({ data }) => data)).toMatchObject([{ charge: 2 }])
  })

  it('is released if the provider finds it invalid, with redacted errors', async () => {
    const { id } = await submit()
    const data = [{ code: 'invalid_model', line: 2, message: `key ${PROVIDER_KEY}` }]
    describeAs('failed', { errors: { object: 'list', data } })
    const shown = await call('GET', `/v1/batches/${id}`)
    expect(shown.json()).toMatchObject({
      status: 'failed',
      errors: { data: [{ code: 'invalid_model', line: 2 }] },
    })
    expect(shown.text).not.toContain(PROVIDER_KEY)
    expect(await rig.balance()).toBe(GRANTED)
  })

  it('is billed for what was done before it was cancelled', async () => {
    const { id } = await submit()
    describeAs('cancelling', { cancelling_at: 1_795_000_050 })
    const cancelling = (await call('POST', `/v1/batches/${id}/cancel`)).json()
    expect(cancelling).toMatchObject({ status: 'cancelling', cancelling_at: 1_795_000_050 })
    const request_counts = { total: 3, completed: 1, failed: 0 }
    describeAs('cancelled', { output_file_id: OUTPUT, request_counts })
    resultsAre(OUTPUT, [answered('b', 100, 0)])
    expect((await call('GET', `/v1/batches/${id}`)).json().status).toBe('cancelled')
    expect((await settled()).map(({ data }) => data)).toMatchObject([{ charge: 75 }])
  })

  it('is released if the provider refuses its file or the batch', async () => {
    const { id } = (await upload([chat('a')])).json()
    const refusal = { status: 400, body: { error: { message: 'too odd' } } }
    provider.answers.set('POST /v1/batches', refusal)
    expect(await create(id)).toMatchObject({ status: 400 })
    expect(provider.requests.at(-1)?.method).toBe('DELETE')
    expect(await rig.balance()).toBe(GRANTED)
    provider.answers.set('POST /v1/files', refusal)
    expect((await create(id)).text).toContain('too odd')
    expect(await rig.balance()).toBe(GRANTED)
    expect((await call('GET', '/v1/batches')).json().data).toEqual([])
  })

  it('is submitted once for each Idempotency-Key', async () => {
    const { id } = (await upload([chat('a')])).json()
    const key = { 'idempotency-key': 'once' }
    expect((await create(id, {}, KEY, key)).status).toBe(200)
    const balance = await rig.balance()
    expect((await create(id, {}, KEY, key)).status).toBe(409)
    expect((await create(id, { metadata: { a: 'b' } }, KEY, key)).status).toBe(422)
    expect(await rig.balance()).toBe(balance)
  })

  it('is answered with 503, and not downloaded, while the disk takes no files', async () => {
    const { id } = (await upload([chat('a')])).json()
    vi.spyOn(SpoolFolder.prototype, 'create').mockRejectedValueOnce(new Error('read-only'))
    const refused = await create(id)
    expect([refused.status, refused.text]).toEqual([503, expect.stringContaining('at its limit')])
    expect(provider.requests.filter(({ path }) => path.endsWith('/content'))).toEqual([])
    vi.spyOn(SpoolFolder.prototype, 'hasRoomFor').mockRejectedValueOnce(new Error('unmounted'))
    expect((await create(id)).status).toBe(503)
    expect((await create(id)).status).toBe(200)
  })

  it('is charged for the choices that the channel’s override sends for each line', async () => {
    await rig.setOption('ModelPrice', { [MODEL]: 0.01 })
    await changeChannel({ paramOverride: JSON.stringify({ n: 3 }) })
    const { id } = await submit([chat('a'), chat('b', { n: 4 })])
    expect(sentLines(2).map(({ body }) => body)).toMatchObject([{ n: 3 }, { n: 3 }])
    completed({ request_counts: { total: 2, completed: 2, failed: 0 } })
    resultsAre(OUTPUT, [answered('a', 5, 5), answered('b', 5, 5)])
    await call('GET', `/v1/batches/${id}`)
    // Six choices at half of $0.01.
    expect((await settled()).map(({ data }) => data)).toMatchObject([{ charge: 15_000 }])
  })

  it('may have embeddings', async () => {
    const url = '/v1/embeddings'
    const body = { model: EMBEDDING, input: 'Some text' }
    const lines = ['e', 'f'].map((custom_id) => ({ custom_id, method: 'POST', url, body }))
    const { id } = (await upload(lines)).json()
    expect((await create(id)).text).toContain('line 1: url')
    const batch = (await create(id, { endpoint: url })).json()
    completed({ request_counts: { total: 2, completed: 2, failed: 0 } })
    const answer = { object: 'list', model: EMBEDDING, data: [], usage: { prompt_tokens: 40 } }
    const response = { status_code: 200, body: answer }
    // An answer without a vector costs nothing unless the provider reports its usage.
    const free = { status_code: 200, body: { ...answer, usage: null } }
    resultsAre(OUTPUT, [
      { custom_id: 'e', response },
      { custom_id: 'f', response: free },
    ])
    await call('GET', `/v1/batches/${batch.id}`)
    expect((await settled()).map(({ data }) => data)).toMatchObject([{ charge: 10 }])
  })

  it('can’t be submitted with a file that is refused, unknown or of another user', async () => {
    const { id } = (await upload([chat('a')])).json()
    expect((await create(id, {}, OTHER_KEY)).status).toBe(404)
    expect((await create('file-provider1')).status).toBe(404)
    expect((await create(id, { endpoint: '/v1/images/variations' })).text).toContain('endpoint')
    expect((await create(id, { completion_window: '1h' })).text).toContain('completion_window')
    expect((await create(id, { metadata: { a: 1 } })).text).toContain('metadata')
    const many = await upload(
      Array.from({ length: 50 }, (_, index) => chat(`line-${index}`)),
      OTHER_KEY,
    )
    expect((await create(many.json().id, {}, OTHER_KEY)).status).toBe(402)
    expect(await rig.balance(8)).toBe(1_000n)
    expect(provider.requests.some(({ path }) => path === '/v1/batches')).toBe(false)
  })

  it('is checked again when it is submitted, because terms may have changed', async () => {
    const { id } = (await upload([chat('a')])).json()
    await rig.setOption('ModelRatio', { [EMBEDDING]: 0.5 })
    const { status, text } = await create(id)
    expect(status).toBe(400)
    expect(JSON.parse(text).error.param).toBe('line 1: body.model')
  })

  it('is not sent to a channel that has expired, and a batch there is billed', async () => {
    const [before, later] = [await submit(), (await upload([chat('a')])).json().id]
    await changeChannel({ expiredTime: 1 })
    const sent = provider.requests.length
    const refused = await create(later)
    expect([refused.status, refused.json().error.code]).toEqual([503, 'no_channel'])
    expect(provider.requests).toHaveLength(sent)
    resultsAre(OUTPUT, [answered('a', 10, 5)])
    completed()
    await call('GET', `/v1/batches/${before.id}`)
    await expect.poll(() => settled()).toHaveLength(1)
  })

  it('is sent as its channel is when the lines are planned', async () => {
    const { id } = (await upload([chat('a')])).json()
    const gate = Promise.withResolvers<void>()
    const content = provider.answers.get(`GET /v1/files/${FILE}/content`)
    provider.answers.set(`GET /v1/files/${FILE}/content`, { ...content, until: gate.promise })
    const created = create(id)
    await expect.poll(() => provider.requests.some(({ path }) => /content$/.test(path))).toBe(true)
    await changeChannel({ modelMapping: JSON.stringify({ [MODEL]: 'vendor-model-2' }) })
    gate.resolve()
    expect((await created).status).toBe(200)
    const uploaded = provider.requests.findLastIndex(({ path }) => path === '/v1/files')
    expect(sentLines(uploaded)).toMatchObject([{ body: { model: 'vendor-model-2' } }])
  })
})

describe('the file of a batch', () => {
  it('belongs to the user of its token', async () => {
    const { id } = (await upload([chat('a')])).json()
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/content'],
      ['DELETE', ''],
    ] as const) {
      const { status } = await call(method, `/v1/files/${id}${path}`, undefined, OTHER_KEY)
      expect(status, `${method} ${path}`).toBe(404)
    }
    expect((await call('GET', '/v1/files', undefined, OTHER_KEY)).json().data).toEqual([])
    const own = (await call('GET', '/v1/files')).json()
    expect(own.data).toMatchObject([{ id, filename: 'my-lines.jsonl', purpose: 'batch' }])
    expect((await call('GET', `/v1/files/${id}/content`)).text).toBe(linesOf([chat('a')]))
  })

  it.each([
    [404, 404, 'file_not_found'],
    [500, 502, 'upstream_error'],
  ])('is answered with what its provider says: %i', async (status, shown, code) => {
    const { id } = (await upload([chat('a')])).json()
    provider.answers.set(`GET /v1/files/${FILE}/content`, { status, body: { error: {} } })
    const answer = await call('GET', `/v1/files/${id}/content`)
    expect(answer.status, answer.text).toBe(shown)
    expect(answer.json()).toMatchObject({ error: { code } })
  })

  it('is none of Anthropic’s files, whose path is the same', async () => {
    const more = { 'anthropic-version': '2023-06-01' }
    expect((await call('GET', '/v1/files', undefined, KEY, more)).status).toBe(404)
  })

  it('is deleted at the provider once it has expired', async () => {
    const polled = await relayRig({ batchPollEveryMs: 20 }, {}, undefined, {
      now: () => Date.now() + laterMs,
    })
    try {
      await polled.addChannel(2, { type: 1, baseUrl: provider.url, models: [MODEL] })
      await polled.setOption('ModelRatio', { [MODEL]: 1.5 })
      const headers = { authorization: `Bearer sk-${KEY}` }
      const body = formOf(linesOf([chat('a')]))
      const stored = await fetch(`${polled.url}/v1/files`, { method: 'POST', headers, body })
      expect(stored.status).toBe(200)
      const deletions = () => provider.requests.filter(({ method }) => method === 'DELETE').length
      expect(deletions()).toBe(0)
      laterMs = 31 * 86_400_000
      await expect.poll(deletions).toBe(1)
    } finally {
      await polled.close()
    }
  })

  it('does not exist once it has expired', async () => {
    const text = linesOf([chat('a')])
    const lifetime = { 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': 3_600 }
    const form = formOf(text, { purpose: 'batch', ...lifetime })
    const { id, created_at, expires_at } = (await call('POST', '/v1/files', form)).json()
    expect(expires_at - created_at).toBe(3_600)
    laterMs = 3_601_000
    expect((await call('GET', `/v1/files/${id}`)).status).toBe(404)
    expect((await create(id)).status).toBe(404)
  })

  it.each([
    ['no purpose', formOf(linesOf([chat('a')]), {}), 'purpose'],
    ['another field', formOf('x', { purpose: 'batch', more: 1 }), 'more'],
    ['no lines', formOf('\n\n'), 'file'],
    ['no JSON', formOf(`${linesOf([chat('a')])}{"custom_id":`), 'line 2'],
    ['another member', formOf(linesOf([{ ...chat('a'), more: 1 }])), 'line 1: more'],
    ['the same id twice', formOf(linesOf([chat('a'), chat('a')])), 'line 2: custom_id'],
    ['another method', formOf(linesOf([{ ...chat('a'), method: 'GET' }])), 'line 1: method'],
    [
      'an endpoint without a price',
      formOf(linesOf([{ ...chat('a'), url: '/v1/x' }])),
      'line 1: url',
    ],
    ['a stream', formOf(linesOf([chat('a', { stream: true })])), 'line 1: body.stream'],
    ['an unknown model', formOf(linesOf([chat('a', { model: 'other' })])), 'line 1: body.model'],
    [
      'a file of the site',
      formOf(
        linesOf([
          chat('a', {
            messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }],
          }),
        ]),
      ),
      'line 1: body.messages',
    ],
  ])('is refused with %s', async (_name, form, named) => {
    const { status, text } = await call('POST', '/v1/files', form)
    expect([400, 404], text).toContain(status)
    expect(JSON.stringify(JSON.parse(text).error)).toContain(named)
    expect(provider.requests).toEqual([])
  })

  it.each(['assistants', 'vision', 'user_data', 'fine-tune', 'evals', 'unknown'])(
    'is refused with the purpose %s, because calls can’t refer to files',
    async (purpose) => {
      const { status, json } = await call('POST', '/v1/files', formOf('{}', { purpose }))
      expect(status).toBe(400)
      const error = { param: 'purpose', code: 'file_purpose_not_supported' }
      expect(json().error).toMatchObject(error)
      expect(provider.requests).toEqual([])
    },
  )

  it('can’t hide a second line behind a line break of another kind', async () => {
    const hidden = JSON.stringify(chat('hidden'))
    const line = JSON.stringify(chat('a', { metadata: 'X' })).replace('"X"', `\r${hidden}\r`)
    const uploaded = await upload([line])
    expect(uploaded.status, uploaded.text).toBe(200)
    expect((await create(uploaded.json().id)).status).toBe(200)
    expect(provider.requests[2]?.body.split(/\r\n/).some((part) => part.includes('\r'))).toBe(false)
  })
})

it('OpenAI’s client uploads files and runs batches unchanged', async () => {
  const client = new OpenAI({ apiKey: `sk-${KEY}`, baseURL: `${rig.url}/v1`, maxRetries: 0 })
  const text = linesOf([chat('a'), chat('b')])
  const file = await client.files.create({
    file: await toFile(Buffer.from(text), 'lines.jsonl'),
    purpose: 'batch',
  })
  expect(file).toMatchObject({ bytes: text.length, filename: 'lines.jsonl', status: 'processed' })
  provider.answers.set(`GET /v1/files/${FILE}/content`, { body: text })
  expect(await (await client.files.content(file.id)).text()).toBe(text)
  const batch = await client.batches.create({
    ...{ input_file_id: file.id, endpoint: CHAT, completion_window: '24h' },
    metadata: { job: 'nightly' },
  })
  expect(batch).toMatchObject({ status: 'in_progress', metadata: { job: 'nightly' } })
  completed()
  resultsAre(OUTPUT, [answered('a', 10, 10), answered('b', 10, 10)])
  const done = await client.batches.retrieve(batch.id)
  expect(done).toMatchObject({ status: 'completed', input_file_id: file.id })
  const output = await client.files.content(done.output_file_id ?? '')
  expect((await output.text()).trim().split('\n')).toHaveLength(2)
  const ids: string[] = []
  for await (const one of client.batches.list({ limit: 1 })) ids.push(one.id)
  expect(ids).toEqual([batch.id])
  const files: string[] = []
  for await (const one of client.files.list({ limit: 1 })) files.push(one.id)
  expect(files.toSorted()).toEqual([file.id, done.output_file_id].toSorted())
  expect(await client.files.delete(file.id)).toMatchObject({ id: file.id, deleted: true })
  expect(await client.batches.cancel(batch.id)).toMatchObject({ status: 'completed' })
})

describe('a batch of a token of the group auto', () => {
  const AUTO_KEY = 'AUTOfghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLM'
  const GROUPS = ['one', 'two', 'three', 'four']
  const reads = () =>
    provider.requests.filter(({ path }) => path === `/v1/files/${FILE}/content`).length

  beforeEach(async () => {
    const ofAll = (value: unknown) => Object.fromEntries(GROUPS.map((name) => [name, value]))
    await rig.setOption('GroupRatio', { default: 1, ...ofAll(1) })
    await rig.setOption('UserUsableGroups', { default: '', auto: '', ...ofAll('') })
    await rig.setOption('AutoGroups', GROUPS)
    await rig.addToken(9, 7, AUTO_KEY, { group: 'auto' })
    const terms = { type: 1, baseUrl: provider.url, models: [MODEL], groups: GROUPS, priority: 9 }
    await rig.addChannel(3, terms)
  })

  const few = { tokensPerMinute: 10 }
  const submitTwoLines = async () => {
    const uploaded = await upload([chat('a'), chat('b')], AUTO_KEY)
    expect(uploaded.status, uploaded.text).toBe(200)
    return create(uploaded.json().id, {}, AUTO_KEY)
  }
  const submitLimited = async (limits: Record<string, object>) => {
    await rig.setOption('RateLimitsByGroup', limits)
    return submitTwoLines()
  }

  it('can be submitted later if one of the groups can serve it later', async () => {
    const limits = { one: few, two: { calls: 1 }, three: few, four: few }
    expect((await submitLimited(limits)).status).toBe(200)
    const refused = await submitTwoLines()
    expect([refused.status, refused.text]).toEqual([429, expect.stringContaining('1 calls')])
  })

  it('is planned once for all limited groups, and once where there is room', async () => {
    const refused = await submitLimited({ one: few, two: few, three: few, four: few })
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('10 tokens')])
    expect(reads()).toBe(1)
    const created = await submitLimited({ one: few, two: few, three: few })
    expect(created.status, created.text).toBe(200)
    expect(reads()).toBe(3)
    const admitted = (await rig.callEvents()).filter(({ type }) => type === 'CallAdmitted')
    expect(admitted).toMatchObject([{ data: { group: 'four' } }])
  })
})
