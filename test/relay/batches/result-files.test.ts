import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, PROVIDER_KEY, relayRig, stopAnswersWith } from '../support/relay-rig.ts'
import { type Scripted, scriptedProvider } from '../support/scripted-provider.ts'

const MODEL = 'lab-model'
const MODERATION = 'omni-moderation-latest'
const GRANTED = 1_000_000_000n
const FILE = 'file-provider1'
const OUTPUT = 'file-output1'
const ERRORS = 'file-errors1'
const UPSTREAM = 'batch_provider1'
const CHAT = '/v1/chat/completions'
const DAY_S = 86_400
const provider = startedForEach(scriptedProvider)
let laterMs = 0
const rig = startedForEach(() =>
  relayRig({ batchPollEveryMs: 20 }, {}, undefined, { now: () => Date.now() + laterMs }),
)

beforeEach(async () => {
  laterMs = 0
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 1, baseUrl: provider.url, models: [MODEL, MODERATION] })
  await rig.setOption('ModelRatio', { [MODEL]: 1.5 })
  provider.answers.set('POST /v1/files', { body: { id: FILE, object: 'file' } })
  describeAs('in_progress')
})

function describeAs(status: string, more: object = {}): void {
  const body = { id: UPSTREAM, object: 'batch', status, input_file_id: FILE, ...more }
  provider.answers.set('POST /v1/batches', { body })
  provider.answers.set(`GET /v1/batches/${UPSTREAM}`, { body })
}

async function call(method: string, path: string, body?: object) {
  const isForm = body instanceof FormData
  const headers: Record<string, string> = { authorization: `Bearer sk-${KEY}` }
  if (!isForm) headers['content-type'] = 'application/json'
  const sent = isForm ? body : JSON.stringify(body)
  const response = await fetch(`${rig.url}${path}`, {
    ...{ method, headers },
    ...(sent === undefined ? {} : { body: sent }),
  })
  const text = await response.text()
  return { status: response.status, text, json: () => JSON.parse(text) }
}

const messages = [{ role: 'user', content: 'Hi' }]
const CHAT_BODY = { model: MODEL, max_completion_tokens: 64, messages }

/** Uploads a file with one line, and submits a batch of it. */
async function create(more: object = {}, url = CHAT, body: object = CHAT_BODY) {
  const text = `${JSON.stringify({ custom_id: 'a', method: 'POST', url, body })}\n`
  const form = new FormData()
  form.set('purpose', 'batch')
  form.set('file', new Blob([text]), 'lines.jsonl')
  const uploaded = await call('POST', '/v1/files', form)
  expect(uploaded.status, uploaded.text).toBe(200)
  provider.answers.set(`GET /v1/files/${FILE}/content`, { body: text })
  const input_file_id = uploaded.json().id
  const request = { input_file_id, endpoint: url, completion_window: '24h' }
  return call('POST', '/v1/batches', { ...request, ...more })
}

const ANSWER = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' } }],
  usage: { prompt_tokens: 10, completion_tokens: 5 },
}
const lineOf = (body: object, status_code = 200) =>
  `${JSON.stringify({ custom_id: 'a', response: { status_code, body } })}\n`

/** Ends the batch at the provider, and waits until it is settled. Returns its description. */
async function settledBatch(id: string, output: string, errors: string | null = null) {
  const files = { output_file_id: OUTPUT, error_file_id: errors === null ? null : ERRORS }
  provider.answers.set(`GET /v1/files/${OUTPUT}/content`, { body: output })
  provider.answers.set(`GET /v1/files/${ERRORS}/content`, { body: errors ?? '' })
  describeAs('completed', { ...files, request_counts: { total: 1, completed: 1, failed: 0 } })
  const shown = async () => (await call('GET', `/v1/batches/${id}`)).json()
  await expect.poll(async () => (await shown()).status).toBe('completed')
  return shown()
}

const fileOf = async (id: string) => (await call('GET', `/v1/files/${id}`)).json()
const deletionsOf = (file: string) =>
  provider.requests.filter(
    ({ method, path }) => method === 'DELETE' && path === `/v1/files/${file}`,
  ).length

describe('an answer with a screened word in a file with results', () => {
  const contentOf = async (id: string) => (await call('GET', `/v1/files/${id}/content`)).json()
  const badChoice = { message: { role: 'assistant', content: 'A b\u006fmb.' } }

  it('is replaced by the error of a call, and charged', async () => {
    const { id } = (await create()).json()
    const output = lineOf({ ...ANSWER, choices: [badChoice] })
    const { output_file_id } = await settledBatch(id, output)
    expect(await contentOf(output_file_id)).toMatchObject({ response: { status_code: 200 } })
    await stopAnswersWith(rig, 'BOMB')
    expect(await contentOf(output_file_id)).toEqual({
      ...{ id: expect.any(String), custom_id: 'a', error: null },
      response: {
        ...{ status_code: 400, request_id: expect.any(String) },
        body: { error: expect.objectContaining({ code: 'sensitive_answer' }) },
      },
    })
    expect(await rig.balance()).toBeLessThan(GRANTED)
  })

  it('is searched in the format of the line', async () => {
    await stopAnswersWith(rig, 'bomb')
    const body = { model: MODEL, input: 'Hi', max_output_tokens: 64 }
    const { id } = (await create({}, '/v1/responses', body)).json()
    const content = [{ type: 'output_text', text: 'A bomb.' }]
    const answer = { output: [{ type: 'message', role: 'assistant', content }] }
    const output = lineOf({ id: 'bomb', ...answer, usage: { input_tokens: 10, output_tokens: 5 } })
    const { output_file_id } = await settledBatch(id, output)
    expect(await contentOf(output_file_id)).toMatchObject({ response: { status_code: 400 } })
  })

  it.each<[string, object]>([
    ['an escaped text', { content: 'A b\u006fmb.' }],
    ['a name', { bomb: 1 }],
  ])('is withheld if it has too many values to be parsed: %s', async (_name, message) => {
    const logprobs = Array.from({ length: 200_000 }, (_value, at) => ({ bytes: [at] }))
    const filler = 'x'.repeat(1024 * 1024)
    const choices = [{ message: { ...message, filler }, logprobs }]
    const escaped = lineOf({ choices, usage: ANSWER.usage }).replace('bomb', 'b\\u006fmb')
    const { id } = (await create()).json()
    const { output_file_id } = await settledBatch(id, `${escaped}${lineOf(ANSWER)}`)
    const shown = async () =>
      (await call('GET', `/v1/files/${output_file_id}/content`)).text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).response.status_code)
    expect(await shown()).toEqual([200, 200])
    await stopAnswersWith(rig, 'bomb')
    expect(await shown()).toEqual([400, 200])
    await stopAnswersWith(rig, 'bombs')
    expect(await shown()).toEqual([200, 200])
  })

  it('is shown if only its ids contain the word', async () => {
    await stopAnswersWith(rig, 'bomb')
    const { id } = (await create()).json()
    const { output_file_id } = await settledBatch(id, lineOf({ id: 'chat-bomb', ...ANSWER }))
    expect(await contentOf(output_file_id)).toMatchObject({ response: { status_code: 200 } })
  })
})

describe('the length of a file with results', () => {
  const errors = lineOf({ error: { message: `bad key ${PROVIDER_KEY}` } }, 400)

  it.each<[string, Scripted]>([
    ['has no descriptions of files', { status: 404, body: {} }],
    ['describes files without a length', { body: { object: 'file', bytes: null } }],
    ['states a length of zero', { body: { object: 'file', bytes: 0 } }],
  ])('is counted if the provider %s', async (_name, description) => {
    for (const file of [OUTPUT, ERRORS]) provider.answers.set(`GET /v1/files/${file}`, description)
    const output = lineOf(ANSWER)
    const { id } = (await create()).json()
    const batch = await settledBatch(id, output, errors)
    expect((await fileOf(batch.output_file_id)).bytes).toBe(output.length)
    expect((await fileOf(batch.error_file_id)).bytes).toBe(errors.length)
    const { data } = (await call('GET', '/v1/files?purpose=batch_output')).json()
    expect(data.map(({ bytes }: { bytes: number }) => bytes)).not.toContain(0)
  })

  it('is that of the content, whatever length the provider states', async () => {
    provider.answers.set(`GET /v1/files/${OUTPUT}`, { body: { bytes: 1 } })
    const output = `${lineOf(ANSWER)}\n\n${lineOf(ANSWER).trim()}`
    const { id } = (await create()).json()
    const { output_file_id } = await settledBatch(id, output)
    expect((await fileOf(output_file_id)).bytes).toBe(output.length)
  })

  it('is no reason not to settle the batch, if it can’t be found out', async () => {
    const { id } = (await create()).json()
    provider.answers.set(`GET /v1/files/${ERRORS}`, { status: 500, body: {} })
    const output = lineOf(ANSWER)
    const settling = settledBatch(id, output, errors)
    provider.answers.set(`GET /v1/files/${ERRORS}/content`, { status: 500, body: {} })
    const batch = await settling
    expect((await fileOf(batch.output_file_id)).bytes).toBe(output.length)
    expect(await rig.balance()).toBeLessThan(GRANTED)
  })
})

describe('a result with status 200 that is not an answer', () => {
  const error = { message: `bad key ${PROVIDER_KEY}`, code: 'busy' }
  const choice = { index: 0, finish_reason: 'error', message: { role: 'assistant', content: '' } }

  it.each([
    ['an error', { error }, 'busy', 'bad key'],
    ['a choice with an error', { choices: [{ ...choice, error }] }, 'busy', 'bad key'],
    ['a list without choices', { choices: [] }, 'server_error', 'no usable result'],
  ])('costs nothing, and is shown as a failed line: %s', async (_, body, code, words) => {
    const { id } = (await create()).json()
    const { output_file_id } = await settledBatch(id, lineOf(body))
    expect(await rig.balance()).toBe(GRANTED)
    const { text } = await call('GET', `/v1/files/${output_file_id}/content`)
    const shown = { code, message: expect.stringContaining(words) }
    expect(JSON.parse(text)).toMatchObject({ custom_id: 'a', response: null, error: shown })
    expect(text).not.toContain(PROVIDER_KEY)
  })
})

describe('the lifetime of the files with results', () => {
  const lifetime = (seconds: unknown, anchor: unknown = 'created_at') => ({
    output_expires_after: { anchor, seconds },
  })

  it('is what the submission says, and the provider keeps them until they are billed', async () => {
    const created = await create(lifetime(3_600))
    expect(created.status, created.text).toBe(200)
    const submitted = provider.requests.find(({ path }) => path === '/v1/batches')
    expect(submitted?.body).not.toContain('expires')
    const { output_file_id } = await settledBatch(created.json().id, lineOf(ANSWER))
    const { created_at, expires_at } = await fileOf(output_file_id)
    expect(expires_at - created_at).toBe(3_600)
    expect(deletionsOf(OUTPUT)).toBe(0)
    laterMs = 3_601_000
    await expect.poll(() => deletionsOf(OUTPUT)).toBe(1)
    expect((await call('GET', `/v1/files/${output_file_id}/content`)).status).toBe(404)
  })

  it.each([{}, { output_expires_after: null }])('is 30 days without a wish: %j', async (more) => {
    const { output_file_id } = await settledBatch((await create(more)).json().id, lineOf(ANSWER))
    const { created_at, expires_at } = await fileOf(output_file_id)
    expect(expires_at - created_at).toBe(30 * DAY_S)
  })

  it.each<[object, string]>([
    [lifetime(3_599), 'output_expires_after.seconds'],
    [lifetime(30 * DAY_S + 1), 'output_expires_after.seconds'],
    [lifetime(4_000.5), 'output_expires_after.seconds'],
    [lifetime('4000'), 'output_expires_after.seconds'],
    [lifetime(undefined), 'output_expires_after.seconds'],
    [lifetime(4_000, 'now'), 'output_expires_after.anchor'],
    [{ output_expires_after: {} }, 'output_expires_after.anchor'],
    [{ output_expires_after: 4_000 }, 'output_expires_after'],
    [{ output_expires_after: [] }, 'output_expires_after'],
    [
      { output_expires_after: { anchor: 'created_at', seconds: 4_000, days: 1 } },
      'output_expires_after.days',
    ],
  ])('is refused if it is invalid: %j', async (more, param) => {
    const refused = await create(more)
    expect([refused.status, refused.json().error?.param]).toEqual([400, param])
    expect(await rig.balance()).toBe(GRANTED)
  })
})

describe('a batch of moderations', () => {
  const URL_PATH = '/v1/moderations'
  const results = [{ flagged: false, categories: {}, category_scores: {} }]
  const answer = { id: 'modr-1', model: MODERATION, results }

  it.each([{ input: 'Some text' }, { model: MODERATION, input: ['Some', 'texts'] }])(
    'is free as single moderations are, and its results are shown: %j',
    async (body) => {
      const created = await create({}, URL_PATH, body)
      expect(created.status, created.text).toBe(200)
      const sent = provider.requests.findLast(({ path }) => path === '/v1/files')?.body ?? ''
      expect(sent).toContain(`"model":"${MODERATION}"`)
      const batch = await settledBatch(created.json().id, lineOf(answer))
      expect(batch.endpoint).toBe(URL_PATH)
      const { text } = await call('GET', `/v1/files/${batch.output_file_id}/content`)
      expect(JSON.parse(text).response.body).toEqual(answer)
      expect(await rig.balance()).toBe(GRANTED)
    },
  )

  it('is charged if the model has a price', async () => {
    await rig.setOption('ModelRatio', { [MODERATION]: 2 })
    const created = await create({}, URL_PATH, { input: 'x'.repeat(400) })
    expect(await rig.balance()).toBeLessThan(GRANTED)
    await settledBatch(created.json().id, lineOf(answer))
    // 400 bytes and the other members count as at least 100 tokens: 100 · 2 / 2.
    expect(await rig.balance()).toBeLessThanOrEqual(GRANTED - 100n)
  })
})

describe('a batch of embeddings', () => {
  const URL_PATH = '/v1/embeddings'
  const input = Array.from({ length: 200 }, (_, at) => `Text ${at}`)

  it.each<[string, number, object | undefined]>([
    ['few numbers', 1, { prompt_tokens: 1_000, total_tokens: 1_000 }],
    ['so many numbers that it is not parsed', 1_600, { prompt_tokens: 1_000, total_tokens: 1_000 }],
    ['few numbers and no usage', 1, undefined],
    ['so many numbers that it is not parsed, and no usage', 1_600, undefined],
  ])('costs its input if its result has %s', async (_name, length, usage) => {
    await rig.setOption('ModelRatio', { [MODEL]: 2 })
    const created = await create({}, URL_PATH, { model: MODEL, input })
    const embedding = Array(length).fill(-0.5)
    const data = input.map((_text, index) => ({ object: 'embedding', index, embedding }))
    const answer = { object: 'list', data, model: MODEL, ...(usage && { usage }) }
    const { output_file_id } = await settledBatch(created.json().id, lineOf(answer))
    const { text } = await call('GET', `/v1/files/${output_file_id}/content`)
    expect(JSON.parse(text).response.body).toEqual(answer)
    // The input is estimated as a quarter of the bytes of the request, and all costs half.
    const estimated = Math.ceil(JSON.stringify({ model: MODEL, input }).length / 4)
    const cost = usage === undefined ? estimated : 1_000
    expect(await rig.balance()).toBe(GRANTED - BigInt(cost))
  })
})
