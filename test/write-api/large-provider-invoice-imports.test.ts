import { randomUUID } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { Readable } from 'node:stream'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { providerInvoiceRequestsDecider } from '#domain/provider-invoices/decide.ts'
import {
  type InvoiceRequestsRecorded,
  type ProviderInvoiceRequest,
  providerInvoiceRequestsStream,
} from '#domain/provider-invoices/events.ts'
import { newEvents } from '#infra/event-store/events-from-facts.ts'
import { createMemorySnapshots } from '#infra/event-store/snapshots.ts'
import { createStreamActors } from '#infra/event-store/stream-actors.ts'
import { appendTo, channelCreated } from '#test/projections/fixture.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { sumProviderInvoice } from '#write-api/audit/sum-provider-invoice.ts'
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
    const handleTogether = actors.handleTogether.bind(actors)
    const held = vi.spyOn(actors, 'handleTogether').mockImplementation(async (...all) => {
      reached.resolve()
      await gate.promise
      return handleTogether(...all)
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
      .poll(() => refused)
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
    await expect.poll(async () => (await upload(file)).status).toBe(409)
    expect(await answer).toMatchObject({ status: 408, code: 'InvoiceStalled' })
    const { data } = await fixture.admin.call<{ id: string }[]>('GET', '/api/audit/invoices')
    for (const { id } of data) await remove(id)
  })
})

/** Five times as many as may be handled at once. More rows would only take more turns. */
const ROWS = 10_000
/** So many rows block the event loop for some 20 ms. */
const ROWS_AT_ONCE_MAX = 2_000

const rowId = (n: number): string => `request-${String(n).padStart(56, '0')}`

function fileOfRows(): Buffer {
  const rows = Array.from(
    { length: ROWS },
    (_, n) => `${day},model-${n % 700},0.00${n % 97},${n},${rowId(n)}`,
  )
  return Buffer.from(`d,m,a,t,id\n${rows.join('\n')}\n`)
}

/**
 * Returns the largest number of rows that the work counts in one turn of the event loop. Rows are
 * counted, because the time of a turn depends on the other work of the machine.
 */
async function mostRowsInOneTurn(
  work: (count: (rows: number) => void) => Promise<void>,
): Promise<number> {
  let [most, now] = [0, 0]
  await work((rows) => {
    if (now === 0) {
      setImmediate(() => {
        now = 0
      })
    }
    now += rows
    most = Math.max(most, now)
  })
  return most
}

describe('the rows of a large file do not block the event loop', () => {
  it('while they are read', async () => {
    const columns = { day: 'd', model: 'm', amount: 'a', tokens: 't', requestId: 'id' }
    const numbers = { delimiter: ',', decimal: '.', currency: 'USD', decimals: 9 } as const
    const format = { ...columns, ...numbers, models: new Map<string, string>() }
    const most = await mostRowsInOneTurn(async (count) => {
      // The whole file is one chunk.
      const file = Readable.from([fileOfRows()])
      const { rows } = await sumProviderInvoice(file, format, fixture.core.now(), () => count(1))
      expect(rows).toBe(ROWS)
    })
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(ROWS_AT_ONCE_MAX)
  })

  it('while they are recorded, which waits for the read model', async () => {
    const { actors } = fixture.core
    const { freshness } = fixture
    let unread = 0
    let mostUnread = 0
    const most = await mostRowsInOneTurn(async (count) => {
      const handle = actors.handle.bind(actors)
      vi.spyOn(actors, 'handle').mockImplementation((...args) => {
        const { type, requests } = args[2] as { type: string; requests: readonly unknown[] }
        if (type === 'RecordInvoiceRequests') {
          count(requests.length)
          unread += requests.length
          mostUnread = Math.max(mostUnread, unread)
        }
        return handle(...args)
      })
      const waitFor = freshness.waitFor.bind(freshness)
      vi.spyOn(freshness, 'waitFor').mockImplementation(async (...args) => {
        const isFresh = await waitFor(...args)
        if (isFresh) unread = 0
        return isFresh
      })
      const { data, message } = await send(fileOfRows(), { tokens: 't', request_id: 'id' })
      expect([message, data.rows]).toEqual(['', ROWS])
      vi.restoreAllMocks()
      await remove(data.id)
    })
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(ROWS_AT_ONCE_MAX)
    expect(mostUnread).toBeLessThanOrEqual(ROWS_AT_ONCE_MAX)
  })

  it('while they are loaded after a restart', async () => {
    const [PART_ROWS, PARTS_AT_ONCE] = [100, 20]
    const { store, log } = fixture.core
    const invoiceId = randomUUID()
    const stream = providerInvoiceRequestsStream(invoiceId)
    const context = { actor: 'user:1', cause: null, at: fixture.core.now() }
    const facts = Array.from({ length: ROWS / PART_ROWS }, (_, part): InvoiceRequestsRecorded => {
      const requests = Array.from({ length: PART_ROWS }, (_, n): ProviderInvoiceRequest => {
        const row = part * PART_ROWS + n
        return [row + 2, day, 'model-1', rowId(row), n, n]
      })
      return { type: 'InvoiceRequestsRecorded', v: 1, data: { invoiceId, part, requests } }
    })
    for (let at = 0; at < facts.length; at += PARTS_AT_ONCE) {
      const events = newEvents(facts.slice(at, at + PARTS_AT_ONCE), context)
      await store.append([{ stream, expected: 'any', events }])
    }
    const evolve = providerInvoiceRequestsDecider.evolve
    const most = await mostRowsInOneTurn(async (count) => {
      vi.spyOn(providerInvoiceRequestsDecider, 'evolve').mockImplementation((state, event) => {
        if ('requests' in event.data) count(event.data.requests.length)
        return evolve(state, event)
      })
      const actors = createStreamActors({ store, log, snapshots: createMemorySnapshots() })
      const state = await actors.peek(providerInvoiceRequestsDecider, stream)
      expect(state).toEqual({ parts: ROWS / PART_ROWS, deleted: 0 })
    })
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(ROWS_AT_ONCE_MAX)
  })
})
