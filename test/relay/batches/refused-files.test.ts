import { beforeEach, describe, expect, it } from 'vitest'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, relayRig, USER } from '../support/relay-rig.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'

const MODEL = 'lab-model'
const CHAT = '/v1/chat/completions'
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(() => relayRig({ batchPollEveryMs: 3_600_000 }))
const BODY = { model: MODEL, max_tokens: 8, messages: [{ role: 'user', content: 'Hi' }] }
const LINE = { custom_id: 'a', method: 'POST', url: CHAT, body: BODY }

beforeEach(async () => {
  await rig.setOption('ModelRatio', { [MODEL]: 1 })
  await rig.addChannel(2, { type: 1, models: [MODEL], baseUrl: provider.url })
  provider.answers.set('POST /v1/files', { body: { id: 'file-up', object: 'file' } })
})

/** Sends a request. Returns the message of the error, in English. */
async function refusal(method: string, path: string, body: FormData | object | null = null) {
  const { status, text } = await send(method, path, body)
  expect(status, text).toBe(400)
  return JSON.parse(text).error.message as string
}

async function send(method: string, path: string, body: FormData | object | null, key = KEY) {
  const isForm = body instanceof FormData
  const response = await fetch(`${rig.url}${path}`, {
    method,
    headers: {
      ...{ authorization: `Bearer sk-${key}`, 'accept-language': 'en' },
      ...(isForm || body === null ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === null ? {} : { body: isForm ? body : JSON.stringify(body) }),
  })
  return { status: response.status, text: await response.text() }
}

const refusalOfFile = (content: string, fields: Record<string, string> = {}) =>
  refusal('POST', '/v1/files', fileOf(content, fields))

function fileOf(content: string, fields: Record<string, string> = {}): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries({ purpose: 'batch', ...fields })) form.set(name, value)
  form.set('file', new Blob([content]), 'lines.jsonl')
  return form
}

const linesOf = (...lines: readonly object[]) => lines.map((one) => JSON.stringify(one)).join('\n')

describe('the refusal of a file names the fault', () => {
  it.each([
    ['of a line that is not JSON', '{"custom_id": x}', "'line 1' is not valid JSON"],
    ['of its column', '{"custom_id": x}', 'column 15'],
    ['of a byte order mark', `\uFEFF${linesOf(LINE)}`, 'byte order mark'],
    ['of a line that is no object', '[1]', 'must be a JSON object'],
    [
      'of an unknown URL',
      linesOf({ ...LINE, url: '/v1/images' }),
      `values: ${CHAT}, /v1/responses`,
    ],
    ['of another method', linesOf({ ...LINE, method: 'GET' }), 'values: POST'],
    ['of a repeated id', linesOf(LINE, LINE), "'line 2: custom_id' repeats"],
    ['of a long id', linesOf({ ...LINE, custom_id: 'x'.repeat(513) }), 'longer than 512'],
    ['of a file without lines', '\n\n', 'contains no requests'],
  ])('%s', async (_name, content, message) => {
    expect(await refusalOfFile(content)).toContain(message)
  })

  it.each([
    ['expires_after[seconds]', '60', '3600–2592000'],
    ['expires_after[anchor]', 'now', 'created_at'],
  ])('in %s', async (name, value, message) => {
    const other = { 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '3600' }
    expect(await refusalOfFile(linesOf(LINE), { ...other, [name]: value })).toContain(message)
  })
})

describe('the refusal of a batch names the possible values', () => {
  const BATCH = { input_file_id: 'file-x', endpoint: CHAT, completion_window: '24h' }
  it.each([
    ['completion_window', '1h', '24h'],
    ['endpoint', '/v1/images', CHAT],
    ['output_expires_after', { anchor: 'created_at', seconds: 1 }, '3600–2592000'],
  ])('of %s', async (name, value, message) => {
    expect(await refusal('POST', '/v1/batches', { ...BATCH, [name]: value })).toContain(message)
  })
})

it.each([
  ['/v1/files?limit=0', '1–10000'],
  ['/v1/files?order=up', 'asc, desc'],
  ['/v1/batches?limit=101', '1–100'],
  ['/v1/messages/batches?limit=x', '1–1000'],
  ['/v1beta/batches?pageSize=0', '1–1000'],
])('the refusal of the page %s names the range', async (path, message) => {
  expect(await refusal('GET', path)).toContain(message)
})

describe('a token of the group auto', () => {
  const AUTO_KEY = 'AUTOfghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLM'
  const BATCH = { endpoint: CHAT, completion_window: '24h' }
  const closeAuto = () => rig.setOption('UserUsableGroups', { default: '' })
  const sent = () => provider.requests.map(({ path }) => path)

  beforeEach(async () => {
    await rig.setOption('UserUsableGroups', { default: '', auto: '' })
    await rig.setOption('AutoGroups', ['default'])
    await rig.addToken(9, USER, AUTO_KEY, { group: 'auto' })
    await rig.addChannel(3, { type: 14, models: ['claude'], baseUrl: provider.url })
    await rig.addChannel(4, { type: 24, models: ['gemini'], baseUrl: provider.url })
    await rig.setOption('ModelRatio', { [MODEL]: 1, claude: 1, gemini: 1 })
    provider.answers.set('GET /v1/files/file-up/content', { body: linesOf(LINE) })
  })

  const expectForbidden = async (path: string, body: FormData | object) => {
    const { status, text } = await send('POST', path, body, AUTO_KEY)
    expect(status, text).toBe(403)
    expect(await rig.callEvents()).toEqual([])
  }

  it('can upload no file once users may not use this group', async () => {
    await closeAuto()
    await expectForbidden('/v1/files', fileOf(linesOf(LINE)))
    expect(sent()).toEqual([])
  })

  it('can submit no file once users may not use this group', async () => {
    const uploaded = await send('POST', '/v1/files', fileOf(linesOf(LINE)), AUTO_KEY)
    const { id } = JSON.parse(uploaded.text)
    await closeAuto()
    await expectForbidden('/v1/batches', { ...BATCH, input_file_id: id })
    expect(sent()).toEqual(['/v1/files'])
    expect((await send('GET', `/v1/files/${id}`, null, AUTO_KEY)).status).toBe(200)
  })

  it.each([
    [
      '/v1/messages/batches',
      { requests: [{ custom_id: 'a', params: { ...BODY, model: 'claude' } }] },
    ],
    [
      '/v1beta/models/gemini:batchGenerateContent',
      {
        batch: {
          input_config: {
            requests: { requests: [{ request: { contents: [{ parts: [{ text: 'Hi' }] }] } }] },
          },
        },
      },
    ],
  ])('can submit no batch to %s once users may not use this group', async (path, body) => {
    await closeAuto()
    await expectForbidden(path, body)
    expect(sent()).toEqual([])
  })
})
