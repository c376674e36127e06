import { beforeEach, describe, expect, it } from 'vitest'
import type { FileStore } from '#relay/batches/file-record-store.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { filesInMemory } from '../support/in-memory-stores.ts'
import { KEY, relayRig, USER } from '../support/relay-rig.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'

const MODEL = 'lab-model'
const CHAT = '/v1/chat/completions'
const GRANTED = 1_000_000_000n
const FILE = 'file-provider1'
const BODY = { model: MODEL, max_tokens: 8, messages: [{ role: 'user', content: 'Hi' }] }
const LINE = `${JSON.stringify({ custom_id: 'a', method: 'POST', url: CHAT, body: BODY })}\n`
const ONE_FILE = { files: 1, bytes: null }

const provider = startedForEach(scriptedProvider)
let laterMs = 0
const now = () => Date.now() + laterMs
let fileStore: FileStore
/** True while the gateway's database stores no records of files. */
let isStoreUnavailable = false
const rig = startedForEach(() => {
  laterMs = 0
  isStoreUnavailable = false
  const files = filesInMemory()
  const add: FileStore['add'] = async (...added) => {
    if (isStoreUnavailable) throw new Error('the database is away')
    return files.add(...added)
  }
  fileStore = { ...files, add }
  return relayRig({ batchPollEveryMs: 20, fileStore }, {}, undefined, { now })
})

beforeEach(async () => {
  await rig.addChannel(2, { type: 1, baseUrl: provider.url, models: [MODEL] })
  await rig.setOption('ModelRatio', { [MODEL]: 1.5 })
  provider.answers.set('POST /v1/files', { body: { id: FILE, object: 'file' } })
  provider.answers.set(`GET /v1/files/${FILE}/content`, { body: LINE })
  provider.answers.set('DELETE /v1/files/file-kept', { body: { deleted: true } })
})

async function post(path: string, body: FormData | object) {
  const isForm = body instanceof FormData
  const type = isForm ? {} : { 'content-type': 'application/json' }
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, ...type },
    body: isForm ? body : JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

function upload() {
  const form = new FormData()
  form.set('purpose', 'batch')
  form.set('file', new Blob([LINE]), 'lines.jsonl')
  return post('/v1/files', form)
}

const create = (input_file_id: string) =>
  post('/v1/batches', { input_file_id, endpoint: CHAT, completion_window: '24h' })

async function list() {
  const headers = { authorization: `Bearer sk-${KEY}` }
  return (await fetch(`${rig.url}/v1/batches`, { headers })).json()
}

/** Lets the provider list the file that it was sent last, among others. */
function listKept(): void {
  const isUpload = ({ method, path }: { method: string; path: string }) =>
    method === 'POST' && path === '/v1/files'
  const form = provider.requests.findLast(isUpload)?.body ?? ''
  const kept = { id: 'file-kept', filename: /filename="([^"]*)"/.exec(form)?.[1] }
  const data = [{ id: 'file-other', filename: 'batch.jsonl' }, kept]
  provider.answers.set('GET /v1/files', { body: { data } })
}

const deleted = () =>
  provider.requests.filter(({ method }) => method === 'DELETE').map(({ path }) => path)
const lists = () => provider.requests.filter(({ path }) => path.startsWith('/v1/files?')).length

it('a refused file or batch has the status that the mapping of the channel requires', async () => {
  await rig.append('channels', { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
  const statusCodeMapping = '{"400":"422","401":"503"}'
  const terms = { type: 1, baseUrl: provider.url, models: [MODEL], statusCodeMapping }
  await rig.addChannel(3, terms)
  const refusal = (status: number) => ({ status, body: { error: { message: 'too odd' } } })
  provider.answers.set('POST /v1/files', refusal(400))
  expect(await upload()).toMatchObject({ status: 422, text: expect.stringContaining('too odd') })
  provider.answers.set('POST /v1/files', refusal(401))
  const { status, text } = await upload()
  expect([status, JSON.parse(text).error.code]).toEqual([503, 'upstream_account'])
  expect(text).not.toContain('too odd')
  provider.answers.set('POST /v1/files', { body: { id: FILE, object: 'file' } })
  const { id } = JSON.parse((await upload()).text)
  provider.answers.set('POST /v1/batches', refusal(400))
  expect((await create(id)).status).toBe(422)
  expect(await rig.balance()).toBe(GRANTED)
})

it.each([503, 521, 529])(
  'a batch that its provider refuses with %i is released at once, and its file is deleted',
  async (status) => {
    const { id } = JSON.parse((await upload()).text)
    provider.answers.set('POST /v1/batches', { status, body: {} })
    expect((await create(id)).status).toBe(status)
    expect(await rig.balance()).toBe(GRANTED)
    expect(deleted()).toEqual([`/v1/files/${FILE}`])
    const { data } = await list()
    expect(data).toEqual([])
    provider.answers.set('POST /v1/batches', { body: { id: 'batch_1', status: 'in_progress' } })
    expect((await create(id)).status).toBe(200)
  },
)

it.each([500, 502, 504])(
  'a batch that its provider may have created despite the status %i stays held',
  async (status) => {
    const { id } = JSON.parse((await upload()).text)
    provider.answers.set('POST /v1/batches', { status, body: {} })
    expect((await create(id)).status).toBe(status)
    expect(await rig.balance()).toBeLessThan(GRANTED)
    laterMs = 601_000
    await expect.poll(() => rig.balance()).toBe(GRANTED)
  },
)

describe('a file that the provider keeps although its upload fails', () => {
  it('is looked for until it is deleted if it has the requests of a batch', async () => {
    const { id } = JSON.parse((await upload()).text)
    provider.answers.set('POST /v1/files', { status: 500, body: {} })
    provider.answers.set('GET /v1/files', { status: 502 })
    expect((await create(id)).status).toBe(500)
    // The quota is released at once, and the file does not count towards the user's limits.
    expect(await rig.balance()).toBe(GRANTED)
    expect(await fileStore.exceeded(USER, 0, now(), { files: 2, bytes: null })).toBeNull()
    laterMs = 61_000
    await expect.poll(lists).toBe(1)
    // The next search is planned only after the answer.
    await expect.poll(() => fileStore.expired(now(), 9)).toEqual([])
    listKept()
    expect(deleted()).toEqual([])
    laterMs += 3_601_000
    await expect.poll(deleted).toEqual(['/v1/files/file-kept'])
    await expect.poll(() => fileStore.expired(now() + 86_400_000 * 8, 9)).toEqual([])
  })

  it('is deleted with its batch if the database can’t record the failure', async () => {
    const { id } = JSON.parse((await upload()).text)
    provider.answers.set('POST /v1/files', { status: 500, body: {} })
    isStoreUnavailable = true
    expect((await create(id)).status).toBe(500)
    listKept()
    expect(deleted()).toEqual([])
    laterMs = 601_000
    await expect.poll(deleted).toEqual(['/v1/files/file-kept'])
    await expect.poll(() => rig.balance()).toBe(GRANTED)
  })

  it('is deleted if it is a caller’s, whom five attempts cost no space', async () => {
    const answered = Promise.withResolvers<void>()
    const failing = { status: 502, body: {} }
    const answer = { ...failing, until: answered.promise, next: failing }
    provider.answers.set('POST /v1/files', answer)
    const first = upload()
    await expect.poll(() => provider.requests.length).toBe(1)
    expect(await fileStore.exceeded(USER, 0, now(), ONE_FILE)).toBe('files')
    answered.resolve()
    expect((await first).status).toBe(502)
    for (let attempt = 0; attempt < 4; attempt += 1) expect((await upload()).status).toBe(502)
    expect(await fileStore.exceeded(USER, 0, now(), ONE_FILE)).toBeNull()
    listKept()
    laterMs = 61_000
    await expect.poll(deleted).toEqual(['/v1/files/file-kept'])
  })

  it('delays no bill if its provider does not answer', async () => {
    provider.answers.set('POST /v1/batches', { body: { id: 'batch_1', status: 'in_progress' } })
    const { id } = JSON.parse((await upload()).text)
    expect((await create(id)).status).toBe(200)
    provider.answers.set('POST /v1/files', { status: 500, body: {} })
    await upload()
    provider.answers.set('GET /v1/files', { hangs: true })
    laterMs = 61_000
    await expect.poll(lists).toBe(1)
    const ended = { id: 'batch_1', status: 'completed', output_file_id: 'file-results' }
    provider.answers.set('GET /v1/batches/batch_1', { body: ended })
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
    const response = { status_code: 200, body: { model: MODEL, choices: [], usage } }
    const result = `${JSON.stringify({ custom_id: 'a', response })}\n`
    provider.answers.set('GET /v1/files/file-results/content', { body: result })
    const isSettled = async () =>
      (await rig.callEvents()).some(({ type }) => type === 'CallSettled')
    await expect.poll(isSettled, { timeout: 20_000 }).toBe(true)
  })
})
