import { request as httpRequest } from 'node:http'
import { Readable } from 'node:stream'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { appendTo, channelCreated } from '#test/projections/fixture.ts'
import { loopStallMs, threadCpuMs } from '#test/support/event-loop-stall.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
const CHANNEL = 41
const DAY = 86_400_000
const COLUMNS = { channel_id: String(CHANNEL), day: 'd', model: 'm', amount: 'a' }
/** Yesterday, as text. */
let day: string
let address: string

beforeAll(async () => {
  day = new Date(fixture.core.now() - DAY).toISOString().slice(0, 10)
  const position = await appendTo(fixture.core.store, [channelCreated(CHANNEL, 'Forty-first')])
  await fixture.freshness.waitFor(['channels'], position, 20_000)
  address = await fixture.app.listen({ port: 0 })
})

type Imported = { data: { id: string; rows: number }; code?: string; message: string }

const headersOf = () => {
  const { cookie, id } = fixture.admin
  return { 'content-type': 'text/csv', cookie, 'user-id': String(id) }
}

async function upload(payload: string | Readable, query: Record<string, string> = {}) {
  const url = `/api/audit/invoices?${new URLSearchParams({ ...COLUMNS, ...query })}`
  const answer = await fixture.app.inject({ method: 'POST', url, headers: headersOf(), payload })
  return {
    status: answer.statusCode,
    retryAfter: Number(answer.headers['retry-after']),
    ...answer.json<Imported>(),
  }
}

/** Uploads a file over a connection. */
function send(file: Buffer, query: Record<string, string>): Promise<Imported> {
  const url = `${address}/api/audit/invoices?${new URLSearchParams({ ...COLUMNS, ...query })}`
  return new Promise((resolve, reject) => {
    const headers = { ...headersOf(), 'content-length': file.length }
    const call = httpRequest(url, { method: 'POST', headers }, async (response) => {
      const texts = await response.setEncoding('utf8').toArray()
      resolve(JSON.parse(texts.join('')))
    })
    call.on('error', reject)
    call.end(file)
  })
}

const remove = (id: string) => fixture.admin.call('DELETE', `/api/audit/invoices/${id}`)

describe('fifty files at once', () => {
  it('are imported one at a time, and the others are refused until then', async () => {
    const { actors } = fixture.core
    const gate = Promise.withResolvers<void>()
    const reached = Promise.withResolvers<void>()
    const handle = actors.handle.bind(actors)
    const held = vi.spyOn(actors, 'handle').mockImplementation(async (...all) => {
      if (all[1] !== 'invoices') return handle(...all)
      reached.resolve()
      await gate.promise
      return handle(...all)
    })
    const files = Array.from({ length: 50 }, (_, n) => `d,m,a\n${day},sim-${n},1\n`)
    const first = upload(files[0] ?? '')
    await reached.promise
    let refused = 0
    const others = files.slice(1).map((file) =>
      upload(file).then((answer) => {
        refused += answer.status === 429 ? 1 : 0
        return answer
      }),
    )
    await expect
      .poll(() => refused, { timeout: 10_000 })
      .toBe(49)
      .finally(() => gate.resolve())
    held.mockRestore()
    for (const answer of await Promise.all(others)) {
      expect(answer).toMatchObject({ status: 429, code: 'TooManyImports' })
      expect(answer.retryAfter).toBeGreaterThan(0)
    }
    const { status, data } = await first
    expect(status).toBe(200)
    await remove(data.id)
    const next = await upload(files[1] ?? '')
    expect(next.status).toBe(200)
    await remove(next.data.id)
  })
})

describe('an upload that stalls', () => {
  it('is refused after a while, so that the next file is imported', async () => {
    const reached = Promise.withResolvers<void>()
    const stalled = new Readable({ read: () => reached.resolve() })
    const answer = upload(stalled)
    await reached.promise
    stalled.push(`d,m,a\n${day},stalled,1\n`)
    const file = `d,m,a\n${day},sim-small,1\n`
    await expect.poll(async () => (await upload(file)).status, { timeout: 30_000 }).toBe(409)
    expect(await answer).toMatchObject({ status: 408, code: 'InvoiceStalled' })
    const { data } = await fixture.admin.call<{ id: string }[]>('GET', '/api/audit/invoices')
    for (const { id } of data) await remove(id)
  })
})

describe('a file of 48 MB', () => {
  const ROWS = 490_000
  const ROUNDS = 5
  const STALL_MAX_MS = 100

  it('does not block the event loop', { timeout: 300_000 }, async () => {
    const rows = Array.from(
      { length: ROWS },
      (_, n) => `${day},model-${n % 700},0.00${n % 97},${n},request-${String(n).padStart(56, '0')}`,
    )
    const file = Buffer.from(`d,m,a,t,id\n${rows.join('\n')}\n`)
    expect(file.length / 1e6).toBeGreaterThan(45)
    // The shortest stall counts, because the first ones include the compilation of the code.
    const stalls: number[] = []
    while (stalls.length < ROUNDS && !stalls.some((stall) => stall < STALL_MAX_MS)) {
      const stall = await loopStallMs(async () => {
        const { data, message } = await send(file, { tokens: 't', request_id: 'id' })
        expect([message, data.rows]).toEqual(['', ROWS])
        await remove(data.id)
      }, threadCpuMs)
      stalls.push(stall)
    }
    console.info(`stalls: ${stalls.map((stall) => stall.toFixed(0)).join(', ')} ms`)
    expect(Math.min(...stalls)).toBeLessThan(STALL_MAX_MS)
  })
})
