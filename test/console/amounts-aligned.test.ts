import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import {
  AmountAlignment,
  alignmentPadding,
  decimalsOf,
} from '#console/ui/quota/amount-alignment.ts'
import type { LedgerItem, Statement } from '#read-api/contract/ledger.ts'
import { marginsOf, REPRICING } from './audit/reconciliation-samples.ts'
import { openAsRoot, startAdminSite } from './support/admin-site.ts'
import { siteFixture } from './support/console-fixture.ts'
import { type FakeRoutes, ok } from './support/fake-site.ts'
import { logRoutes, logRow } from './usage-log/fake-usage-log.ts'

describe('the alignment of a column', () => {
  it.each([
    ['$1.50', 2],
    ['−$1,234.000002', 6],
    ['3,375', 0],
    ['US$0.1', 1],
  ])('counts the decimals of %s', (text, decimals) => {
    expect(decimalsOf(text)).toBe(decimals)
  })

  it.each([
    [2, 6, '0000'],
    [0, 2, '.00'],
    [6, 6, undefined],
    [6, 2, undefined],
  ])('extends %i decimals among at most %i by %s', (decimals, most, padding) => {
    expect(alignmentPadding(decimals, most)).toBe(padding)
  })

  it('follows the amounts, and tells when their most decimals change', () => {
    const alignment = new AmountAlignment(false)
    const seen: number[] = []
    alignment.subscribe(() => seen.push(alignment.most()))
    alignment.add(2)
    const removals = [alignment.add(6), alignment.add(6)]
    for (const remove of removals) remove?.()
    expect(seen).toEqual([2, 6, 2])
  })

  it('stays as it is while the rows of a list scroll out of view', () => {
    const alignment = new AmountAlignment(true)
    alignment.add(6)?.()
    expect(alignment.most()).toBe(6)
  })
})

const NOW = Math.floor(Date.now() / 1_000)
const figures = (total: number) => ({ total, balance: total, held: 0 })
const AMOUNTS = [-3_375, -12_000_000, 500_000, -17, 617_283_945_000]
const ITEMS: readonly LedgerItem[] = AMOUNTS.map((amount, index) => ({
  ...{ position: 900 - index, revision: 90 - index, created_at: NOW - index, type: 'grant' },
  ...{ source: `grant-${index}`, amount, ...figures(19_000_017 + index * 250_000), actor_id: 0 },
  ...{ actor_name: '', reason: 'admin', note: '', model: '', token_id: 0, channel_id: 0 },
  ...{ corrected_calls: 0, is_note_erased: false },
}))
const STATEMENT: Statement = {
  ...{ user_id: 1, username: 'root', month: '2026-11' },
  ...{ opening: figures(19_000_017), closing: figures(19_000_017) },
  by_type: AMOUNTS.map((amount, index) => ({ type: `type-${index}`, count: 1, amount })),
  ...{ by_model: [], by_day: [], calls: [], items: [...ITEMS], next_cursor: null },
}
const LOG = [
  logRow(3, { quota: 3_375 }),
  logRow(2, { type: 3, quota: 500_000, content: 'top-up', request_id: '' }),
  logRow(1, { type: 3, quota: -617_283_945_000, content: 'correction', request_id: '' }),
]

const ROUTES: FakeRoutes = {
  ...logRoutes(() => LOG),
  'GET /api/ledger/self': () =>
    ok({ opening: figures(5), closing: figures(5), items: ITEMS, next_cursor: null }),
  'GET /api/ledger/self/balance': () => ok({ position: 900, at: NOW, ...figures(5) }),
  'GET /api/ledger/self/statement': () => ok(STATEMENT),
  'GET /api/audit/margins': () => ok(marginsOf({ first: '2026-11-01', last: '2026-11-30' })),
  'POST /api/audit/reprice': () => ok(REPRICING),
}

const app = siteFixture(() => startAdminSite(ROUTES))

/**
 * Returns for each column of amounts in a list or a table how far its decimal points are apart, in
 * pixels.
 */
const spreadOfPoints = (page: Page): Promise<number[]> =>
  page.evaluate(() => {
    const columns = new Map<string, number[]>()
    const tables = [...document.querySelectorAll('.tg-grid-body, .tg-audit-table')]
    for (const amount of document.querySelectorAll('.tg-amount')) {
      const table = amount.closest('.tg-grid-body, .tg-audit-table')
      const cell = amount.closest<HTMLElement>('[data-column], td')
      const text = amount.firstChild
      const at = text?.textContent?.lastIndexOf('.') ?? -1
      if (table === null || cell === null || text === null || at < 0) continue
      const range = document.createRange()
      range.setStart(text, at)
      range.setEnd(text, at + 1)
      const id = `${tables.indexOf(table)} ${cell.dataset.column ?? cell.dataset.name}`
      columns.set(id, [...(columns.get(id) ?? []), range.getBoundingClientRect().left])
    }
    return [...columns.values()]
      .filter((points) => points.length > 1)
      .map((points) => Math.round(Math.max(...points) - Math.min(...points)))
  })

describe('the decimal points of a column of amounts are below each other', () => {
  it.each([
    ['/app/ledger', 2],
    ['/app/ledger?tab=statement&month=2026-11', 3],
    ['/app/logs/api-usage', 1],
    ['/app/audit/reconciliation?tab=margins', 4],
  ])('at %s', async (path, columns) => {
    const { page, faults, close } = await app.openPage({ language: 'en' })
    await openAsRoot(page, app.site, path)
    await page.locator('.tg-grid-body .tg-amount, .tg-audit-table .tg-amount').first().waitFor()
    await expect.poll(() => spreadOfPoints(page)).toEqual(Array(columns).fill(0))
    expect(faults).toEqual([])
    await close()
  })
})
