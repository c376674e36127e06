import { connect, type Socket } from 'node:net'
import { pino } from 'pino'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { batchesInMemory } from '../support/in-memory-batches.ts'
import { KEY, relayRig, TOKEN, USER } from '../support/relay-rig.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'

const MODEL = 'lab-model'
const MIB = 1024 * 1024
/** More than the buffers of all sockets between the provider and a caller can hold. */
const LARGE = 24 * MIB
const messages = [{ role: 'user', content: 'Hi' }]

let lines: string[] = []
const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(() => {
  const deadlines = { downloadStallMs: 400, accessCheckMs: 50 }
  const batches = { batchPollEveryMs: 3_600_000, batchStore: batchesInMemory() }
  return relayRig({ deadlines, ...batches }, {}, undefined, { log })
})
beforeEach(() => {
  lines = []
})
const headers = { authorization: `Bearer sk-${KEY}` }

async function addChannel(type: number): Promise<void> {
  await rig.setOption('ModelRatio', { [MODEL]: 1 })
  await rig.addChannel(2, { type, models: [MODEL], baseUrl: provider.url })
}

/** Uploads a file, and returns the path of its content. */
async function uploadedFile(): Promise<string> {
  await addChannel(1)
  provider.answers.set('POST /v1/files', { body: { id: 'file-provider1' } })
  const body = { model: MODEL, max_tokens: 9, messages }
  const line = { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body }
  const form = new FormData()
  form.append('purpose', 'batch')
  form.append('file', new Blob([`${JSON.stringify(line)}\n`]), 'a.jsonl')
  const answer = await fetch(`${rig.url}/v1/files`, { method: 'POST', headers, body: form })
  const { id } = (await answer.json()) as { id: string }
  return `/v1/files/${id}/content`
}

/** Submits a batch that has ended with a long result, and returns the path of its results. */
async function longResults(): Promise<string> {
  await addChannel(14)
  const path = '/v1/messages/batches'
  const described = { id: 'msgbatch_1', processing_status: 'ended' }
  provider.answers.set(`POST ${path}`, { body: described })
  provider.answers.set(`GET ${path}/msgbatch_1`, { body: described })
  const content = [{ type: 'text', text: 'a'.repeat(LARGE) }]
  const usage = { input_tokens: 10, output_tokens: 5 }
  const message = { type: 'message', role: 'assistant', model: MODEL, content, usage }
  const line = { custom_id: 'a', result: { type: 'succeeded', message } }
  provider.answers.set(`GET ${path}/msgbatch_1/results`, { body: `${JSON.stringify(line)}\n` })
  const body = { requests: [{ custom_id: 'a', params: { model: MODEL, max_tokens: 9, messages } }] }
  const json = { ...headers, 'content-type': 'application/json' }
  const sent = { method: 'POST', headers: json, body: JSON.stringify(body) }
  const answer = await fetch(`${rig.url}${path}`, sent)
  const { id } = (await answer.json()) as { id: string }
  const status = async () => {
    const shown = await fetch(`${rig.url}${path}/${id}`, { headers })
    return ((await shown.json()) as { processing_status: string }).processing_status
  }
  await expect.poll(status).toBe('ended')
  return `${path}/${id}/results`
}

/** Requests a file, and reads nothing of the response. */
function readNothing(path: string): Socket {
  const socket = connect(Number(new URL(rig.url).port), '127.0.0.1')
  onTestFinished(() => {
    socket.destroy()
  })
  socket.on('error', () => {})
  socket.pause()
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-${KEY}\r\n\r\n`)
  return socket
}

const content = { 'GET /v1/files/file-provider1/content': { pieces: [Buffer.alloc(LARGE, 'a')] } }
const setContent = (answer: object): void => {
  for (const path of Object.keys(content)) provider.answers.set(path, answer)
}
const contentRequests = () =>
  provider.requests.filter(({ method, path }) => method === 'GET' && path.endsWith('/content'))

describe('a caller who reads nothing of a download', () => {
  it.each<[string, () => Promise<string>]>([
    ['of its own file', uploadedFile],
    ['of the results of a batch', longResults],
  ])('%s loses it', async (_name, prepare) => {
    const path = await prepare()
    setContent(content['GET /v1/files/file-provider1/content'])
    readNothing(path)
    await expect.poll(() => rig.relay.inFlight()).toBe(1)
    await expect.poll(() => rig.relay.inFlight(), { timeout: 5_000 }).toBe(0)
  })

  it('holds at most 32 of them at once', async () => {
    const path = await uploadedFile()
    setContent({ pieces: [Buffer.from('a')], keepsOpen: true })
    for (let reader = 0; reader < 40; reader += 1) readNothing(path)
    await expect.poll(() => rig.relay.inFlight()).toBe(40)
    await expect.poll(() => contentRequests().length).toBe(32)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(contentRequests()).toHaveLength(32)
  })

  it('gets an error about its own limit, not that of the gateway, for one more', async () => {
    const path = await uploadedFile()
    setContent({ pieces: [Buffer.from('a')], keepsOpen: true })
    // 32 downloads run and 64 wait, so that the next one gets its error at once.
    for (let reader = 0; reader < 96; reader += 1) readNothing(path)
    await expect.poll(() => contentRequests().length).toBe(32)
    await expect.poll(() => rig.relay.inFlight()).toBe(96)
    const answer = await fetch(`${rig.url}${path}`, { headers })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '5'])
    const { error } = (await answer.json()) as { error: { code: string; message: string } }
    expect(error.code).toBe('too_many_concurrent')
    expect(error.message).toContain('32 downloads (this user)')
  })
})

const revoked = (type: string, data: object) => () =>
  rig.append(type.startsWith('User') ? `user-${USER}` : `tokens-${USER}`, {
    ...{ type, v: 1, data: { userId: USER, ...data } },
  } as never)

describe('a caller who loses access during a download', () => {
  it.each<[string, () => Promise<void>]>([
    ['as its user is disabled', revoked('UserDisabled', { authVersion: 2 })],
    ['as its token is deleted', revoked('TokensDeleted', { tokenIds: [TOKEN] })],
  ])('%s gets no more of it', async (_name, revoke) => {
    const path = await uploadedFile()
    setContent({ pieces: [Buffer.from('a')], keepsOpen: true })
    const answer = await fetch(`${rig.url}${path}`, { headers })
    expect(answer.status).toBe(200)
    const ended = expect(answer.text()).rejects.toThrow()
    await revoke()
    await ended
    expect(rig.relay.inFlight()).toBe(0)
  })

  it('before its first byte gets an error', async () => {
    const path = await uploadedFile()
    setContent({ hangs: true })
    const answer = fetch(`${rig.url}${path}`, { headers })
    await expect.poll(() => contentRequests().length).toBe(1)
    await revoked('UserDisabled', { authVersion: 2 })()
    expect((await answer).status).toBe(403)
  })
})

it('a file that is read is complete', async () => {
  const path = await uploadedFile()
  setContent(content['GET /v1/files/file-provider1/content'])
  const answer = await fetch(`${rig.url}${path}`, { headers })
  expect((await answer.arrayBuffer()).byteLength).toBe(LARGE)
})

describe('a download that fails after it has begun', () => {
  const RESULTS = '/v1/messages/batches/msgbatch_1/results'
  /** More values than are parsed. The end of the JSON object is missing. */
  const MALFORMED = [
    '{"custom_id":"a","result":{"type":"succeeded","message":{"planted":[',
    `${'1,'.repeat(MIB)}1]}}`,
  ].join('')
  const CUT = {
    headers: { connection: 'close', 'content-length': '100000000' },
    pieces: [Buffer.from('{"custom_id":"a","result":{"type":"errored","error":"planted"}}\n')],
  }
  const isCut = async (path: string) => {
    const answer = await fetch(`${rig.url}${path}`, { headers })
    expect(answer.status).toBe(200)
    await expect(answer.text()).rejects.toThrow()
  }
  const logged = () => lines.map((line) => JSON.parse(line))

  it.each<[string, object, string]>([
    ['as a long result is malformed', { body: MALFORMED }, 'MalformedResult'],
    ['as the provider ends it', CUT, 'Error'],
  ])('%s is logged once with its batch and channel', async (_name, answer, type) => {
    const path = await longResults()
    provider.answers.set(`GET ${RESULTS}`, answer)
    await isCut(path)
    const id = /msgbatch_(\w+)/.exec(path)?.[1] ?? ''
    const line = logged()[0]
    expect(lines).toHaveLength(1)
    expect(line).toMatchObject({ level: 40, channelId: 2, msg: 'a download was cut' })
    expect(line.call.replaceAll('-', '')).toBe(id)
    expect(line.err.type).toContain(type)
    expect(lines[0]).not.toContain('planted')
  })

  it('of the caller’s own file is logged once with the file and channel', async () => {
    const path = await uploadedFile()
    setContent(CUT)
    await isCut(path)
    expect(logged()).toMatchObject([{ level: 40, channelId: 2, msg: 'a download was cut' }])
    expect(path).toContain(logged()[0].file)
  })

  it.each<[string, () => Promise<string>]>([
    ['of its own file', uploadedFile],
    ['of the results of a batch', longResults],
  ])('%s is not logged if the caller has left', async (_name, prepare) => {
    const path = await prepare()
    setContent({ pieces: [Buffer.alloc(LARGE, 'a')], keepsOpen: true })
    const leaving = new AbortController()
    const answer = await fetch(`${rig.url}${path}`, { headers, signal: leaving.signal })
    expect(answer.status).toBe(200)
    leaving.abort()
    await expect.poll(() => rig.relay.inFlight()).toBe(0)
    expect(lines).toEqual([])
  })
})
