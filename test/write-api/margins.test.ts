import { beforeAll, describe, expect, it } from 'vitest'
import type { MarginItem, Margins } from '#read-api/contract/margins.ts'
import type { ProviderInvoiceComparison } from '#read-api/contract/provider-invoices.ts'
import {
  aCall,
  appendTo,
  channelCreated,
  costing,
  type Given,
  settledCall,
} from '#test/projections/fixture.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
const DAY = 86_400_000
/** The middles of three days, the last of which is yesterday. */
let days: readonly [number, number, number]
const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10)

const call = (model: string, charge: number, at: number, channelId: number): Given =>
  settledCall(aCall({ userId: 3, model }), charge, at, channelId)

beforeAll(async () => {
  const last = Math.floor(fixture.core.now() / DAY) * DAY - DAY / 2
  days = [last - 2 * DAY, last - DAY, last]
  const [first, second, third] = days
  const position = await appendTo(fixture.core.store, [
    channelCreated(21, 'First'),
    channelCreated(22, 'Second'),
    costing(call('m', 1_000, first, 21), 400),
    costing(call('m', 1_000, second, 21), 400),
    costing(call('m', 1_000, third, 21), 400),
    // Its cost is not known, because the channel had no cost ratio then.
    call('m', 70, third, 21),
    call('n', 500, first, 21),
    costing(call('m', 300, first, 22), 100),
    // The day before is in no range of these tests.
    costing(call('m', 9_000, first - DAY, 21), 1),
  ])
  await fixture.freshness.waitFor(['usage-by-hour', 'channels'], position, 20_000)
})

async function imported(channel: number, rows: readonly string[], query: object = {}) {
  const search = new URLSearchParams({
    ...{ channel_id: String(channel), day: 'day', model: 'model', amount: 'cost', ...query },
  })
  const { cookie, id } = fixture.admin
  const answer = await fixture.app.inject({
    method: 'POST',
    url: `/api/audit/invoices?${search}`,
    headers: { 'content-type': 'text/csv', cookie, 'user-id': String(id) },
    payload: ['day,model,cost', ...rows].join('\n'),
  })
  expect(answer.json()).toMatchObject({ success: true })
  return answer.json<{ data: { id: string } }>().data.id
}

const margins = async (first: number, last: number, more = ''): Promise<Margins> => {
  const range = `first_day=${dayOf(first)}&last_day=${dayOf(last)}`
  return (await fixture.admin.call<Margins>('GET', `/api/audit/margins?${range}${more}`)).data
}
const own = ({ items }: Margins): MarginItem[] =>
  items.filter(({ channel_id: id }) => id === 21 || id === 22 || id === 99)
const itemOf = (all: Margins, channel: number, model: string) =>
  all.items.find((one) => one.channel_id === channel && one.model === model)
const wrong = (query: string) => fixture.admin.call('GET', `/api/audit/margins?${query}`)

describe('the margins of channels and models', () => {
  it('without invoices have the expected costs, and no margin where none is known', async () => {
    const all = await margins(days[0], days[2])
    expect(itemOf(all, 21, 'm')).toEqual({
      ...{ channel_id: 21, channel_name: 'First', model: 'm', calls: 4, charged: 3_070 },
      ...{ invoiced: 0, billed: 0, expected: 1_200, uncosted: 70, margin: 1_800 },
    })
    expect(itemOf(all, 21, 'n')).toMatchObject({ charged: 500, uncosted: 500, margin: 0 })
    expect(own(all).map(({ charged }) => charged)).toEqual([3_070, 500, 300])
  })

  it('have the billed costs on days of an invoice, and the expected ones on others', async () => {
    const [first, second, third] = days.map(dayOf)
    const id = await imported(21, [
      `${first},m,0.0009`,
      `${first},only-theirs,0.0001`,
      `${second},m,0.0011`,
    ])
    const all = await margins(days[0], days[2])
    expect(itemOf(all, 21, 'm')).toMatchObject({
      ...{ calls: 4, charged: 3_070, invoiced: 2_000, billed: 1_000 },
      ...{ expected: 400, uncosted: 70, margin: 1_600 },
    })
    // The invoice covers the day of the call, and has nothing for it.
    expect(itemOf(all, 21, 'n')).toMatchObject({ invoiced: 500, uncosted: 0, margin: 500 })
    expect(itemOf(all, 21, 'only-theirs')).toMatchObject({
      ...{ channel_name: 'First', calls: 0, charged: 0, billed: 50, margin: -50 },
    })
    expect(all.overlapping_channels).toEqual([])
    const { data } = await fixture.admin.call<ProviderInvoiceComparison>(
      'GET',
      `/api/audit/invoices/${id}`,
    )
    const ofDays = own(await margins(days[0], days[1])).filter(
      ({ channel_id: channel }) => channel === 21,
    )
    const sum = (name: 'charged' | 'billed' | 'margin') =>
      ofDays.reduce((all, item) => all + item[name], 0)
    expect([sum('charged'), sum('billed'), sum('margin')]).toEqual([
      ...[data.total.charged, data.total.billed, data.total.margin],
    ])
    const rest = await margins(days[2], days[2])
    expect(itemOf(rest, 21, 'm')).toMatchObject({ billed: 0, expected: 400, charged: 1_070 })
    expect(third).toBe(rest.last_day)
  })

  it('count several currencies, and name channels whose invoices overlap', async () => {
    const [first, second, third] = days.map(dayOf)
    await imported(22, [`${first},m,0.001`], { currency: 'CNY', dollars: '0.14' })
    await imported(22, [`${second},m,0.002`, `${third},m,0.002`])
    const apart = await margins(days[0], days[2])
    expect(itemOf(apart, 22, 'm')).toMatchObject({ billed: 70 + 2_000, margin: 300 - 2_070 })
    expect(apart.overlapping_channels).toEqual([])
    await imported(22, [`${third},m,0.0005`])
    expect((await margins(days[0], days[2])).overlapping_channels).toEqual([22])
    expect((await margins(days[0], days[1])).overlapping_channels).toEqual([])
  })

  it('add up exactly, whatever the pages', async () => {
    const all = await margins(days[0], days[2], '&limit=100')
    expect(all.next_cursor).toBeNull()
    const names = ['calls', 'charged', 'invoiced', 'billed', 'expected', 'uncosted', 'margin']
    for (const name of names as (keyof Margins['total'])[]) {
      const sum = all.items.reduce((sum, item) => sum + item[name], 0)
      expect([name, all.total[name]]).toEqual([name, sum])
    }
    const paged: MarginItem[] = []
    for (let cursor: string | null = '0'; cursor !== null; ) {
      const page: Margins = await margins(days[0], days[2], `&limit=2&cursor=${cursor}`)
      expect(page.total).toEqual(all.total)
      paged.push(...page.items)
      cursor = page.next_cursor
    }
    expect(paged).toEqual(all.items)
  })

  it.each([
    ['first_day=2026-02-31&last_day=2026-03-01', 'first_day'],
    ['first_day=2026-02-01&last_day=2026-02-30', 'last_day'],
    ['first_day=2026-02-02&last_day=2026-02-01', 'last_day'],
    ['first_day=2025-01-01&last_day=2026-01-02', 'last_day'],
    ['first_day=2025-01-01', 'last_day'],
    ['first_day=x&last_day=2026-01-02', 'first_day'],
    ['first_day=2026-02-01&last_day=2026-02-02&cursor=x', 'cursor'],
    ['first_day=2026-02-01&last_day=2026-02-02&limit=101', 'limit'],
  ])('are refused for %s with the name of the field', async (query, field) => {
    const { status, message } = await wrong(query)
    expect([status, message]).toEqual([400, expect.stringContaining(field)])
  })

  it('are for auditors and admins', async () => {
    const url = `/api/audit/margins?first_day=${dayOf(days[0])}&last_day=${dayOf(days[2])}`
    expect((await fixture.user.call('GET', url)).status).toBe(403)
  })
})
