import { Pool } from 'pg'
import { describe, expect, it } from 'vitest'
import type { Sealed } from '#domain/shared/event.ts'
import {
  createFileStore,
  type FileStore,
  type StoredFile,
  UNFINISHED_MS,
} from '#relay/batches/file-record-store.ts'
import { startedForEach, startedOnce } from '#test/support/started-by-hook.ts'
import { testDatabase } from '#test/support/test-database.ts'
import { filesInMemory } from '../support/in-memory-stores.ts'
import { KEY, relayRig, USER } from '../support/relay-rig.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'

const GIGABYTE = 1_000_000_000
const MESSAGE = { role: 'user', content: 'Hi' }
const NOW = 1_795_000_000_000

const fileOf = (n: number, bytes: number, more: Partial<StoredFile> = {}): StoredFile => ({
  file: `file-${String(n).padStart(32, '0')}`,
  ...{ userId: USER, bytes, createdAt: NOW, expiresAt: NOW + 1_000, name: 'x' as Sealed },
  ...{ batch: null, channelId: 1, keyRef: 'ref', upstreamId: `up-${n}` },
  ...more,
})

const database = startedOnce(async () => {
  const made = await testDatabase()
  const pg = new Pool({ connectionString: made.url, max: 10 })
  const close = async () => {
    await pg.end()
    await made.drop()
  }
  return { pg, close }
})

describe.each([
  ['in Postgres', () => createFileStore(database.pg)],
  ['in memory', async () => filesInMemory()],
])('the limits of a user’s files %s', (_name, create: () => Promise<FileStore>) => {
  const added = async (limits: Parameters<FileStore['add']>[1], userId: number) => {
    const store = await create()
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        store.add(fileOf(userId * 100 + n, 100, { userId }), limits),
      ),
    )
    const page = { after: null, isInput: null, isAscending: true, at: NOW, limit: 100 }
    return { store, outcomes, held: await store.list(userId, page) }
  }

  it('hold for the bytes when fifty files are added at once', async () => {
    const limits = { files: 1_000, bytes: 1_050 }
    const { store, outcomes, held } = await added(limits, 11)
    expect(held).toHaveLength(10)
    expect(outcomes.filter((limit) => limit === 'bytes')).toHaveLength(40)
    expect(await store.exceeded(11, 50, NOW, limits)).toBeNull()
    expect(await store.exceeded(11, 51, NOW, limits)).toBe('bytes')
    expect(await store.exceeded(12, 1_050, NOW, limits)).toBeNull()
    expect(await store.exceeded(11, 1_050, NOW + 1_000, limits)).toBeNull()
  })

  it('hold for the number when fifty files are added at once', async () => {
    const { outcomes, held } = await added({ files: 7, bytes: null }, 13)
    expect(held).toHaveLength(7)
    expect(outcomes.filter((limit) => limit === 'files')).toHaveLength(43)
  })

  it('count a file while it is uploaded, but not after its upload has failed', async () => {
    const store = await create()
    const limits = { files: 1, bytes: null }
    const running = { userId: 14, upstreamId: '', expiresAt: NOW + UNFINISHED_MS }
    const pending = fileOf(1_400, 100, running)
    expect(await store.add(pending, limits)).toBeNull()
    expect(await store.exceeded(14, 0, NOW, limits)).toBe('files')
    await store.expire(pending.file, NOW + 60_000)
    expect(await store.exceeded(14, 0, NOW, limits)).toBeNull()
    // The deletion at the provider has failed, and is tried again later.
    await store.expire(pending.file, NOW + 2 * UNFINISHED_MS)
    expect(await store.exceeded(14, 0, NOW, limits)).toBeNull()
  })
})

describe.each([
  ['in Postgres', () => createFileStore(database.pg)],
  ['in memory', async () => filesInMemory()],
])('the files of some users %s', (_name, create: () => Promise<FileStore>) => {
  it('expire together, unless they expire soon', async () => {
    const store = await create()
    for (const [n, expiresAt] of [NOW - 5, NOW + 5, NOW + 6, NOW + 6].entries()) {
      const userId = n < 3 ? 21 : 22
      await store.add(fileOf(2_000 + n, 1, { userId, expiresAt }), { files: null, bytes: null })
    }
    expect(await store.owners()).toEqual(expect.arrayContaining([21, 22]))
    await store.expireOfUsers([21], NOW, NOW + 5)
    const expired = (await store.expired(NOW, 100)).filter(({ userId }) => userId > 20)
    expect(expired.map(({ expiresAt }) => expiresAt)).toEqual([NOW - 5, NOW])
  })
})

describe('an upload', () => {
  const provider = startedForEach(scriptedProvider)
  let fileStore: FileStore
  const rig = startedForEach(() => {
    fileStore = filesInMemory()
    return relayRig({ batchPollEveryMs: 3_600_000, fileStore })
  })

  async function upload(key = KEY) {
    const body = { model: 'gpt-4o-mini', max_completion_tokens: 64, messages: [MESSAGE] }
    const line = { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body }
    const form = new FormData()
    form.set('purpose', 'batch')
    form.set('file', new Blob([`${JSON.stringify(line)}\n`]), 'lines.jsonl')
    const headers = { authorization: `Bearer sk-${key}` }
    const answer = await fetch(`${rig.url}/v1/files`, { method: 'POST', headers, body: form })
    return { status: answer.status, text: await answer.text() }
  }

  it('is refused before it is sent if the user’s files would be too large together', async () => {
    await rig.addChannel(2, { type: 1, baseUrl: provider.url, models: ['gpt-4o-mini'] })
    provider.answers.set('POST /v1/files', { body: { id: 'file-provider1' } })
    const expiresAt = Date.now() + 3_600_000
    const noLimits = { files: null, bytes: null }
    await fileStore.add(fileOf(1, 10 * GIGABYTE, { expiresAt }), noLimits)
    const refused = await upload()
    expect(refused.status, refused.text).toBe(413)
    expect(refused.text).toContain('10 GB')
    expect(provider.requests).toEqual([])
    await rig.setOption('BatchFilesGigabytesPerUser', '11')
    const accepted = await upload()
    expect(accepted.status, accepted.text).toBe(200)
    await fileStore.add(fileOf(2, 10 * GIGABYTE, { expiresAt }), noLimits)
    expect((await upload()).status).toBe(413)
    await rig.setOption('BatchFilesGigabytesPerUser', '0')
    expect((await upload()).status).toBe(200)
  })

  it('is accepted fifty times at once, although two files of a user are read at once', async () => {
    await rig.addChannel(2, { type: 1, baseUrl: provider.url, models: ['gpt-4o-mini'] })
    provider.answers.set('POST /v1/files', { body: { id: 'file-provider1' } })
    const answers = await Promise.all(Array.from({ length: 50 }, () => upload()))
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200))
  })

  it('is possible while another user has as many files read as one user may', async () => {
    await rig.addChannel(2, { type: 1, baseUrl: provider.url, models: ['gpt-4o-mini'] })
    provider.answers.set('POST /v1/files', { body: { id: 'file-provider1' } })
    const file = JSON.parse((await upload()).text).id
    let go = (): void => {}
    const until = new Promise<void>((resolve) => {
      go = resolve
    })
    provider.answers.set('GET /v1/files/file-provider1/content', { until, status: 404 })
    const body = { endpoint: '/v1/chat/completions', completion_window: '24h' }
    const submit = async () => {
      const answer = await fetch(`${rig.url}/v1/batches`, {
        method: 'POST',
        headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, input_file_id: file }),
      })
      return answer.status
    }
    const statuses: number[] = []
    for (let n = 0; n < 5; n += 1) submit().then((status) => statuses.push(status))
    const readings = () => provider.requests.filter(({ path }) => path.endsWith('/content')).length
    await expect.poll(readings).toBe(2)
    await expect.poll(() => statuses).toEqual([503, 503, 503])
    await rig.addUser(8)
    await rig.addToken(4, 8, KEY.toUpperCase())
    await rig.grant(8, 1_000_000n)
    expect((await upload(KEY.toUpperCase())).status).toBe(200)
    go()
    await expect.poll(() => statuses).toEqual([503, 503, 503, 404, 404])
  })
})
