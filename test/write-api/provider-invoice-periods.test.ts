import { beforeAll, describe, expect, it } from 'vitest'
import type { Margins } from '#read-api/contract/margins.ts'
import type { ProviderInvoiceComparison } from '#read-api/contract/provider-invoices.ts'
import { aCall, appendTo, channelCreated, costing, settledCall } from '#test/projections/fixture.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
const DAY = 86_400_000
/** One channel for each test, so that the invoices of one test are not those of another. */
const CHANNELS = [61, 62, 63, 64]
/**
 * The numbers of days before today on which the channels have a call. Each call is charged 1 000
 * and should cost 400.
 */
const DAYS_AGO = [50, 3, 2, 1]
let today: number

beforeAll(async () => {
  today = Math.floor(fixture.core.now() / DAY) * DAY
  const calls = CHANNELS.flatMap((channel) =>
    DAYS_AGO.map((ago) => {
      const at = today - ago * DAY + DAY / 2
      return costing(settledCall(aCall({ userId: 3, model: 'm' }), 1_000, at, channel), 400)
    }),
  )
  const channels = CHANNELS.map((id) => channelCreated(id, `Channel ${id}`))
  const position = await appendTo(fixture.core.store, [...channels, ...calls])
  await fixture.freshness.waitFor(['usage-by-hour', 'channels'], position, 20_000)
})

const dayOf = (ago: number) => new Date(today - ago * DAY).toISOString().slice(0, 10)

/**
 * Imports rows, each with its day (in days before today) and its dollars. A quota of 100 is 0.0002
 * dollars.
 */
async function upload(channel: number, rows: readonly [number, number][], more: object = {}) {
  const query = { channel_id: String(channel), day: 'd', model: 'm', amount: 'a', ...more }
  const { cookie, id } = fixture.admin
  const answer = await fixture.app.inject({
    method: 'POST',
    url: `/api/audit/invoices?${new URLSearchParams(query)}`,
    headers: { 'content-type': 'text/csv', cookie, 'user-id': String(id) },
    payload: ['d,m,a', ...rows.map(([ago, dollars]) => `${dayOf(ago)},m,${dollars}`)].join('\n'),
  })
  const body = answer.json<{ data: { id: string }; message: string }>()
  return { status: answer.statusCode, ...body }
}

async function marginsOf(channel: number, first: number, last: number) {
  const range = `first_day=${dayOf(first)}&last_day=${dayOf(last)}`
  const { data } = await fixture.admin.call<Margins>('GET', `/api/audit/margins?${range}`)
  return { ...data.items.find(({ channel_id: id }) => id === channel), all: data }
}

const compared = async (id: string) =>
  (await fixture.admin.call<ProviderInvoiceComparison>('GET', `/api/audit/invoices/${id}`)).data

describe('an invoice with an old credit', () => {
  it('covers the days of its usage, and the credit counts on its own day', async () => {
    const { status, data } = await upload(61, [
      [50, -0.0002],
      [2, 0.001],
      [1, 0.001],
    ])
    expect(status).toBe(200)
    // The costs of two days are billed, and those of two are expected.
    expect(await marginsOf(61, 50, 1)).toMatchObject({
      ...{ charged: 4_000, invoiced: 2_000, billed: 1_000 - 100, expected: 800 },
      ...{ uncosted: 0, margin: 4_000 - 900 - 800 },
    })
    expect(await marginsOf(61, 50, 50)).toMatchObject({ invoiced: 0, billed: -100, expected: 400 })
    expect(await marginsOf(61, 3, 3)).toMatchObject({ invoiced: 0, billed: 0, expected: 400 })
    const found = await compared(data.id)
    expect(found).toMatchObject({
      ...{ first_day: dayOf(2), last_day: dayOf(1), corrections: 1, corrections_billed: -100 },
      ...{ billed: 900, total: { billed: 900, calls: 2, charged: 2_000 } },
      counts: { matched: 0, different: 2, only_ours: 0, only_theirs: 1 },
    })
  })
})

describe('an invoice that only has credits', () => {
  it('covers no day, and overlaps no other invoice', async () => {
    await upload(62, [
      [2, 0.001],
      [1, 0.001],
    ])
    const { data } = await upload(62, [
      [3, -0.0002],
      [2, -0.0004],
    ])
    expect(await marginsOf(62, 3, 1)).toMatchObject({
      ...{ invoiced: 2_000, billed: 1_000 - 300, expected: 400 },
      all: { overlapping_channels: [] },
    })
    expect(await compared(data.id)).toMatchObject({
      ...{ first_day: dayOf(3), last_day: dayOf(2), corrections: 2, corrections_billed: -300 },
      total: { billed: -300, calls: 0 },
    })
  })
})

describe('an invoice with corrections of an earlier month', () => {
  const rows: [number, number][] = [
    [50, 0.0002],
    [2, 0.001],
    [1, 0.001],
  ]

  it('is refused without its period', async () => {
    const { status, message } = await upload(63, rows)
    expect([status, message]).toEqual([400, expect.stringContaining('first_day')])
    expect(message).toContain(dayOf(50))
    expect(await marginsOf(63, 50, 1)).toMatchObject({ billed: 0, expected: 1_600 })
  })

  it('covers the days of its period only, and the corrections are added', async () => {
    const period = { first_day: dayOf(3), last_day: dayOf(1) }
    const { status, data } = await upload(63, rows, period)
    expect(status).toBe(200)
    expect(await marginsOf(63, 50, 1)).toMatchObject({
      ...{ charged: 4_000, invoiced: 3_000, billed: 1_100, expected: 400, margin: 2_500 },
    })
    expect(await compared(data.id)).toMatchObject({
      ...{ ...period, corrections: 1, corrections_billed: 100 },
      // The provider has not billed the first day of the period.
      counts: { matched: 0, different: 2, only_ours: 1, only_theirs: 1 },
    })
    // The invoice of the earlier month makes the costs of the corrected day known.
    await upload(63, [[50, 0.0006]])
    expect(await marginsOf(63, 50, 1)).toMatchObject({
      ...{ invoiced: 4_000, billed: 1_400, expected: 0, margin: 2_600 },
      all: { overlapping_channels: [] },
    })
  })
})

describe('the period of an import', () => {
  it.each([
    [{ first_day: 3 }, 'last_day'],
    [{ last_day: 3 }, 'first_day'],
    [{ first_day: 1, last_day: 2 }, 'last_day'],
    [{ first_day: 400, last_day: 1 }, 'last_day'],
    [{ first_day: 9, last_day: 8 }, 'first_day'],
  ])('%j is refused with the name of the field', async (days, field) => {
    const query = Object.fromEntries(Object.entries(days).map(([name, ago]) => [name, dayOf(ago)]))
    const { status, message } = await upload(64, [[1, 1]], query)
    expect([status, message]).toEqual([400, expect.stringContaining(field)])
  })

  it.each(['2026-02-31', 'x'])('is not from or to %s', async (day) => {
    const query = { first_day: day, last_day: dayOf(1) }
    const { status, message } = await upload(64, [[1, 1]], query)
    expect([status, message]).toEqual([400, expect.stringContaining('first_day')])
  })
})
