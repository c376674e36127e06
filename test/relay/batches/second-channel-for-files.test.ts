import { beforeEach, describe, expect, it } from 'vitest'
import { batchStream } from '#domain/batches/events.ts'
import { channelHealthStream } from '#domain/channel-health/events.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import type { FileStore } from '#relay/batches/file-record-store.ts'
import { serve } from '#test/support/start-http-server.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { filesInMemory } from '../support/in-memory-stores.ts'
import { KEY, relayRig, USER } from '../support/relay-rig.ts'
import { type ScriptedProvider, scriptedProvider } from '../support/scripted-provider.ts'

const MODEL = 'lab-model'
const CHAT = '/v1/chat/completions'
const [FIRST, SECOND] = [2, 3]
/** A user whose data key is destroyed. */
const ERASED = 8
const BODY = { model: MODEL, max_tokens: 8, messages: [{ role: 'user', content: 'Hi' }] }
const LINE = `${JSON.stringify({ custom_id: 'a', method: 'POST', url: CHAT, body: BODY })}\n`

const first = startedForEach(scriptedProvider)
const second = startedForEach(scriptedProvider)
/** Receives each request, and then closes the connection without an answer. */
const cutting = startedForEach(() =>
  serve((request) => request.resume().on('end', () => request.socket.destroy())),
)
let fileStore: FileStore
let laterMs = 0
let searches = 0
const rig = startedForEach(() => {
  const files = filesInMemory()
  const owners = () => {
    searches += 1
    return files.owners()
  }
  fileStore = { ...files, owners }
  const overrides = { batchPollEveryMs: 20, fileStore }
  const vault = { withDataKey: async (ids: readonly number[]) => ids.filter((id) => id !== ERASED) }
  return relayRig(overrides, {}, undefined, { now: () => Date.now() + laterMs, vault })
})

beforeEach(async () => {
  laterMs = 0
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', { [MODEL]: 1 })
  await rig.setOption('RetryTimes', '1')
  second.answers.set('POST /v1/files', { body: { id: 'file-second', object: 'file' } })
  second.answers.set('GET /v1/files/file-second/content', { body: LINE })
})

/** Adds two channels, of which the one at `baseUrl` is always tried first. */
async function addChannels(baseUrl: string): Promise<void> {
  await rig.addChannel(FIRST, { type: 1, models: [MODEL], baseUrl, priority: 10 })
  await rig.addChannel(SECOND, { type: 1, models: [MODEL], baseUrl: second.url })
}

/** Returns an address that refuses connections. */
async function deadAddress(): Promise<string> {
  const { url, close } = await serve(() => {})
  await close()
  return url
}

async function post(path: string, body: FormData | object, key = KEY) {
  const isForm = body instanceof FormData
  const type = isForm ? {} : { 'content-type': 'application/json' }
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${key}`, ...type },
    body: isForm ? body : JSON.stringify(body),
  })
  const text = await response.text()
  const { status, headers } = response
  return { status, headers, text, json: () => JSON.parse(text) }
}

function upload(key = KEY, lines = LINE) {
  const form = new FormData()
  form.set('purpose', 'batch')
  form.set('file', new Blob([lines]), 'lines.jsonl')
  return post('/v1/files', form, key)
}

const uploadsTo = ({ requests }: ScriptedProvider) =>
  requests.filter(({ method, path }) => method === 'POST' && path === '/v1/files')
const recorded = async (userId = USER) => {
  const page = { after: null, isInput: null, isAscending: true, at: Date.now() + laterMs, limit: 9 }
  const files = await fileStore.list(userId, page)
  return files.map(({ channelId, upstreamId }) => ({ channelId, upstreamId }))
}

const batchOf = (id: string) =>
  post('/v1/batches', { input_file_id: id, endpoint: CHAT, completion_window: '24h' })
const terms = () => ({ type: 1, models: [MODEL], baseUrl: second.url })
const deleteChannels = (...channelIds: number[]) =>
  rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds } })
const disabled = async () =>
  (await rig.eventsOf(CHANNELS_STREAM)).flatMap(({ type, data }) =>
    type === 'ChannelAutoDisabled' ? [data] : [],
  )

describe('a file that was not read to its end', () => {
  const many = Array.from({ length: 20_000 }, (_, n) => LINE.replace('"a"', `"${n}"`)).join('')

  it('is sent to the next channel if the first one refuses it before that', async () => {
    const eager = await serve((request, response) => {
      request.resume()
      response.writeHead(429, { 'content-type': 'application/json' })
      response.end('{"error":{"message":"slow down"}}')
    })
    await addChannels(eager.url)
    const { status, text } = await upload(KEY, many)
    expect(status, text).toBe(200)
    expect(uploadsTo(second)[0]?.body).toContain('"19999"')
    await eager.close()
  })

  it('is checked for the next group of auto if the first one lacks the model', async () => {
    const key = 'AUTOfghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLM'
    await rig.setOption('GroupRatio', { default: 1, one: 1, two: 1 })
    await rig.setOption('UserUsableGroups', { default: '', auto: '', one: '', two: '' })
    await rig.setOption('AutoGroups', ['one', 'two'])
    await rig.addToken(9, USER, key, { group: 'auto' })
    await rig.addChannel(SECOND, { ...terms(), groups: ['two'] })
    const { status, text } = await upload(key, many)
    expect(status, text).toBe(200)
  })
})

describe('a channel that can’t take a file or its batch', () => {
  it('is busy at its own limit, which a file is told like a call', async () => {
    await rig.addChannel(SECOND, { ...terms(), maxRpm: 1 })
    expect((await upload()).status).toBe(200)
    const { status, headers, json } = await upload()
    expect([status, json().error.code]).toEqual([429, 'channels_busy'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(10)
  })

  it('was deleted, which its batch is told for good', async () => {
    await rig.addChannel(SECOND, terms())
    const { id } = (await upload()).json()
    await deleteChannels(SECOND)
    const { status, headers, json } = await batchOf(id)
    expect([status, headers.get('retry-after')]).toEqual([409, null])
    expect(json().error).toMatchObject({ code: 'channel_deleted', param: 'input_file_id' })
  })

  it('is disabled, which its batch is told without an unknown model', async () => {
    await rig.addChannel(SECOND, terms())
    const { id } = (await upload()).json()
    const change = { channelId: SECOND, isEnabled: false }
    await rig.append(CHANNELS_STREAM, { type: 'ChannelStatusChanged', v: 1, data: change })
    const { status, headers, json } = await batchOf(id)
    expect([status, headers.get('retry-after')]).toEqual([503, '60'])
    expect(json().error.code).toBe('no_channel')
    expect(json().error.message).toContain(`file '${id}' is disabled`)
  })
})

describe('a channel whose key its provider rejects', () => {
  const REJECTED = { status: 401, body: { error: { message: 'bad', code: 'invalid_api_key' } } }
  beforeEach(async () => {
    await rig.setOption('AutomaticDisableChannelEnabled', 'true')
    await rig.setOption('channel_health.disable_failures', '3')
  })

  it('is disabled after uploads of files', async () => {
    await addChannels(first.url)
    first.answers.set('POST /v1/files', REJECTED)
    for (let file = 0; file < 3; file += 1) expect((await upload()).status).toBe(200)
    await expect.poll(disabled).toMatchObject([{ channelId: FIRST, reason: 'invalid_api_key' }])
  })

  it.each(['files', 'batches'])(
    'is disabled after batches, as POST /v1/%s answers',
    async (api) => {
      await rig.addChannel(FIRST, { ...terms(), baseUrl: first.url })
      const stored = { body: { id: 'file-first', object: 'file' } }
      first.answers.set('POST /v1/files', stored)
      first.answers.set('GET /v1/files/file-first/content', { body: LINE })
      const { id } = (await upload()).json()
      await rig.addChannel(SECOND, terms())
      first.answers.set('POST /v1/batches', REJECTED)
      if (api === 'files') first.answers.set('POST /v1/files', REJECTED)
      else await rig.setOption('channel_health.disable_failures', '1')
      for (let batch = 0; batch < 3; batch += 1) expect((await batchOf(id)).status).not.toBe(200)
      await expect.poll(disabled).toMatchObject([{ channelId: FIRST }])
    },
  )

  it.each([
    ['is not told for which reason', { status: 403, body: {} }],
    ['may only not use files', { status: 401, body: { error: { code: 'missing_scope' } } }],
    ['repeats the file', { status: 400, body: { error: { message: 'the word bad-key' } } }],
  ])('stays enabled if it %s', async (_name, answer) => {
    await rig.setOption('AutomaticDisableKeywords', 'bad-key')
    await rig.setOption('channel_health.disable_failures', '1')
    await addChannels(first.url)
    first.answers.set('POST /v1/files', answer)
    for (let file = 0; file < 3; file += 1) await upload()
    expect(uploadsTo(first)).toHaveLength(3)
    expect(await disabled()).toEqual([])
  })
})

describe('the file of a batch', () => {
  it('is stored at the second channel, with its batch, if the first is unreachable', async () => {
    await addChannels(await deadAddress())
    const { status, text, json } = await upload()
    expect(status, text).toBe(200)
    expect(await recorded()).toEqual([{ channelId: SECOND, upstreamId: 'file-second' }])
    expect(uploadsTo(second)[0]?.body).toContain(LINE.trim())
    const description = { id: 'batch_1', object: 'batch', status: 'in_progress' }
    second.answers.set('POST /v1/batches', { body: description })
    const submission = { endpoint: CHAT, completion_window: '24h' }
    const batch = await post('/v1/batches', { input_file_id: json().id, ...submission })
    expect(batch.status, batch.text).toBe(200)
    const hex = batch.json().id.split('_')[1]
    const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    expect(await rig.eventsOf(batchStream(id))).toMatchObject([
      { type: 'BatchSubmitted', data: { channelId: SECOND } },
      { type: 'BatchAccepted', data: { channelId: SECOND, keyRef: `ref-${SECOND}` } },
    ])
  })

  it.each([401, 403, 404, 429, 500, 503])(
    'is stored at the second channel if the first answers with %i',
    async (status) => {
      await addChannels(first.url)
      first.answers.set('POST /v1/files', { status, body: {} })
      const uploaded = await upload()
      expect(uploaded.status, uploaded.text).toBe(200)
      expect(await recorded()).toEqual([{ channelId: SECOND, upstreamId: 'file-second' }])
    },
  )

  it('is stored at the second channel if the first closes the connection', async () => {
    await addChannels(cutting.url)
    expect((await upload()).status).toBe(200)
    expect(await recorded()).toEqual([{ channelId: SECOND, upstreamId: 'file-second' }])
  })

  it('is deleted at the first channel if that has stored it without a usable answer', async () => {
    await addChannels(first.url)
    first.answers.set('POST /v1/files', { body: { object: 'file' } })
    first.answers.set('DELETE /v1/files/file-kept', { body: { deleted: true } })
    expect((await upload()).status).toBe(200)
    const filename = /filename="([^"]*)"/.exec(uploadsTo(first)[0]?.body ?? '')?.[1]
    first.answers.set('GET /v1/files', { body: { data: [{ id: 'file-kept', filename }] } })
    laterMs = 61_000
    await expect
      .poll(() => first.requests.filter(({ method }) => method === 'DELETE').map((one) => one.path))
      .toEqual(['/v1/files/file-kept'])
    expect(await recorded()).toEqual([{ channelId: SECOND, upstreamId: 'file-second' }])
    expect(second.requests.map(({ method }) => method)).toEqual(['POST'])
  })

  it('is not sent again if the first channel finds a fault in it', async () => {
    await addChannels(first.url)
    first.answers.set('POST /v1/files', { status: 400, body: { error: { message: 'odd' } } })
    const { status, text } = await upload()
    expect([status, text]).toEqual([400, expect.stringContaining('odd')])
    expect(uploadsTo(second)).toEqual([])
    expect(await recorded()).toEqual([])
  })

  it('leaves no record, and the last answer is shown, if all channels refuse it', async () => {
    await addChannels(await deadAddress())
    second.answers.set('POST /v1/files', { status: 429, body: {} })
    expect((await upload()).status).toBe(429)
    expect(await recorded()).toEqual([])
    const one = { files: 1, bytes: null }
    expect(await fileStore.exceeded(USER, 0, Date.now(), one)).toBeNull()
  })

  it('is not tried at a channel whose refused connections have opened its circuit', async () => {
    await addChannels(await deadAddress())
    for (let file = 0; file < 5; file += 1) expect((await upload()).status).toBe(200)
    const types = async () =>
      (await rig.eventsOf(channelHealthStream(FIRST))).map(({ type }) => type)
    await expect.poll(types).toEqual(['CircuitOpened'])
    expect((await upload()).status).toBe(200)
    expect(await types()).toEqual(['CircuitOpened'])
  })

  it('is stored at the second channel for fifty users at once', async () => {
    await addChannels(await deadAddress())
    const users = Array.from({ length: 50 }, (_, index) => {
      return { userId: 100 + index, key: KEY.slice(0, -3) + String(100 + index) }
    })
    for (const { userId, key } of users) {
      await rig.addUser(userId)
      await rig.addToken(userId, userId, key)
      await rig.grant(userId, 1_000_000n)
    }
    const all = await Promise.all(users.map(({ key }) => upload(key)))
    expect(all.map(({ status }) => status)).toEqual(Array(50).fill(200))
    expect(uploadsTo(second)).toHaveLength(50)
    for (const { userId } of users) {
      expect(await recorded(userId)).toEqual([{ channelId: SECOND, upstreamId: 'file-second' }])
    }
  })
})

describe('the file of an erased user', () => {
  it('is deleted at its provider, which is tried again, and files of others are kept', async () => {
    await rig.addChannel(SECOND, terms())
    await rig.addUser(ERASED)
    const key = KEY.slice(0, -3) + String(ERASED)
    await rig.addToken(ERASED, ERASED, key)
    await rig.grant(ERASED, 1_000_000n)
    second.answers.set('DELETE /v1/files/file-second', { status: 503, body: {} })
    expect((await upload()).status).toBe(200)
    second.answers.set('POST /v1/files', { body: { id: 'file-erased', object: 'file' } })
    second.answers.set('DELETE /v1/files/file-erased', { status: 503, body: {} })
    expect((await upload(key)).status).toBe(200)
    const deletions = () => second.requests.filter(({ method }) => method === 'DELETE')
    await expect.poll(() => deletions().length, { timeout: 5_000 }).toBeGreaterThan(0)
    expect(await fileStore.owners()).toContain(ERASED)
    // The next search for files of erased users, every 20 passes, does not try the deletion again.
    const before = searches
    await expect.poll(() => searches).toBeGreaterThan(before + 1)
    expect(deletions()).toHaveLength(1)
    laterMs = 3_600_001
    second.answers.set('DELETE /v1/files/file-erased', { body: { deleted: true } })
    await expect.poll(fileStore.owners, { timeout: 5_000 }).toEqual([USER])
    expect(new Set(deletions().map(({ path }) => path))).toEqual(new Set(['/v1/files/file-erased']))
  })
})
