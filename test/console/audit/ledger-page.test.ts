import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type {
  Account,
  LedgerItem,
  LedgerPage,
  SiteMonth,
  Statement,
  UserLedgerPage,
} from '#read-api/contract/ledger.ts'
import type { LogStatus } from '#read-api/contract/transparency-log.ts'
import { AUDITOR, SUPER_ADMIN, USER } from '#read-api/contract/user-roles-and-statuses.ts'
import { en, TEXTS } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults } from '../support/accessibility-faults.ts'
import { openAsRoot, openByLink, ROOT_USER, startAdminSite } from '../support/admin-site.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { type FakeCall, ok } from '../support/fake-site.ts'
import { cutAmong } from '../support/truncated-texts.ts'
import { NOW, RECEIPTS, REQUEST_ID } from './audit-samples.ts'

const KINDS: readonly Partial<LedgerItem>[] = [
  { type: 'call', source: REQUEST_ID, amount: -3_375, model: 'gpt-4o', channel_id: 1 },
  {
    type: 'grant',
    source: 'grant-1',
    amount: 500_000,
    note: 'apology',
    actor_id: 1,
    actor_name: 'root',
  },
  { type: 'order', source: '12', amount: 10_000_000, reason: 'stripe' },
]

const item = (revision: number): LedgerItem => ({
  ...{ position: 10_000 + revision, revision, created_at: NOW - 3_600 + revision, type: 'call' },
  ...{ source: '', amount: 0, total: 20_000_000 + revision, balance: 19_990_000, held: 10_000 },
  ...{ actor_id: 0, actor_name: '', reason: '', note: '', model: '', token_id: 0, channel_id: 0 },
  corrected_calls: 0,
  is_note_erased: false,
  ...KINDS[revision % KINDS.length],
})

const SOURCES: readonly LedgerItem[] = (
  [
    ['redemption', 'redemption-6', 5, 'redemption'],
    ['order', '12', 5, 'stripe'],
    ['refund', '13', -5, 'stripe'],
    ['grant', 'adjust:1', 5, 'admin'],
    ['deduction', 'adjust:2', -5, 'admin'],
    ['grant', 'setup', 5, 'setup'],
    ['correction', 'c1', 5, ''],
    ['transfer', 'transfer-1', 5, ''],
  ] as const
).map(([type, source, amount, reason], n) => ({
  ...item(70 + n),
  ...{ type, source, amount, reason, note: '', model: '' },
}))

const AUDITOR_PATHS = {
  'adjust:1': '/app/audit/log?act=quota-granted&object=user%3A1&range=all',
  'adjust:2': '/app/audit/log?act=quota-deducted&object=user%3A1&range=all',
  c1: '/app/audit/reconciliation?tab=corrections',
}
const ADMIN_PATHS = {
  ...AUDITOR_PATHS,
  'redemption-6': '/admin/coupons?keyword=6',
  12: '/admin/orders?keyword=12',
  13: '/admin/orders?keyword=13',
}

const figures = (total: number) => ({ total, balance: total - 10_000, held: 10_000 })

const ledgerPage = (request: FakeCall) => ok(ledgerOf(request))
const userLedgerPage = (request: FakeCall) =>
  ok({ ...ledgerOf(request), username: 'mei' } satisfies UserLedgerPage)

function ledgerOf({ query }: FakeCall): LedgerPage {
  const isFirst = query.get('cursor') === null
  const type = query.get('types')
  const revisions = Array.from({ length: isFirst ? 50 : 4 }, (_, n) => (isFirst ? 60 : 10) - n)
  const items = revisions.map(item).filter((one) => type === null || one.type === type)
  const next_cursor = isFirst ? 10_011 : null
  const ends = { opening: figures(19_000_000), closing: figures(20_000_060) }
  return { ...ends, items, next_cursor }
}

const LOG_STATUS: LogStatus = {
  ...{ origin: 'tallygate.example', key: 'key', witness_key: null, key_rotations: [] },
  ...{ witnesses: [], refusals: [], quorum: 0 },
  latest: {
    ...{ size: 1_204_551, root: 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=' },
    ...{ last_position: 1_204_551, created_at: NOW, note: 'note' },
    ...{ cosignatures: [], is_final: true },
  },
}
const DAY_1 = Date.UTC(2026, 10, 1) / 1_000
const inMonth = (minute: number, fields: Partial<LedgerItem>): LedgerItem => ({
  ...{ ...item(minute), created_at: DAY_1 + minute * 60, model: '', source: '', note: '' },
  ...fields,
})
const CALLS = Array.from({ length: 119 }, (_, n) =>
  inMonth(n, { type: 'call', amount: -10, model: 'gpt-4o', source: `${REQUEST_ID}-${n}` }),
)
const GRANT = inMonth(119, {
  ...{ type: 'grant', amount: 1_500_000, reason: 'admin', note: 'apology' },
  source: `adjust:${'e5'.repeat(32)}:add:1500000`,
})
const OF_MONTH = [...CALLS, GRANT].toReversed()

/** A statement of 119 calls and a grant on its first page and on the second one. */
const STATEMENT: Statement = {
  ...{ user_id: 1, username: 'root', month: '2026-11' },
  ...{ opening: figures(19_000_000), closing: figures(20_498_810) },
  by_type: [
    { type: 'call', count: 119, amount: -1_190 },
    { type: 'grant', count: 1, amount: 1_500_000 },
  ],
  by_model: [{ model: 'gpt-4o', count: 119, amount: -1_190 }],
  by_day: [{ day: DAY_1, count: 120, amount: 1_498_810 }],
  calls: [{ day: DAY_1, model: 'gpt-4o', count: 119, amount: -1_190 }],
  ...{ items: OF_MONTH.slice(0, 100), next_cursor: OF_MONTH[99]?.position ?? null },
}

/** A statement with more calls than have a line each. */
const BUSY: Statement = {
  ...STATEMENT,
  closing: figures(20_496_625),
  calls: [
    { day: DAY_1 - 86_400, model: 'early', count: 1, amount: -375 },
    { day: DAY_1, model: 'gpt-4o', count: 811, amount: -3_000 },
  ],
  ...{ items: [GRANT], next_cursor: GRANT.position },
}

/** Pages of the month, which a statement reads, and of the other movements. */
const statementPage = (found: FakeCall) => {
  const { query } = found
  if (Number(query.get('from')) !== DAY_1) return ledgerPage(found)
  const types = query.get('types') ?? ''
  const before = Number(query.get('cursor'))
  const items = OF_MONTH.filter(({ type }) => types === '' || types.split(',').includes(type))
  const page = items.filter(({ position }) => position < before).slice(0, 100)
  const ends = { opening: figures(19_000_000), closing: figures(20_498_810) }
  return ok({ ...ends, items: page, next_cursor: null })
}

const SITE_MONTH: SiteMonth = {
  ...{ month: '2026-11', sold: 50_000_000, granted: 700_000, redeemed: 250_000 },
  ...{ gifts: 200_000, adjusted: 500_000, deducted: -70_000, checked_in: 3_000 },
  ...{ transferred: 4_000, rebates_returned: -900 },
  ...{ refunded: -5_000_000, charged: -31_250_000 },
  by_type: [],
  by_channel: [
    { channel_id: 1, channel_name: 'OpenAI main', count: 9_119, amount: -31_240_000 },
    { channel_id: 0, channel_name: '', count: 1, amount: -10_000 },
  ],
  by_model: [{ model: 'gpt-4o', count: 9_120, amount: -31_250_000 }],
}

const balance = ({ query }: FakeCall) => {
  const total = query.get('at') === null ? 20_000_060 : 7_000_000
  return ok({ position: 10_060, at: NOW, ...figures(total) })
}

const ACCOUNTS: readonly Account[] = ['mei', '', 'root'].map((username, index) => ({
  ...{ user_id: 9 - index, username, ...figures(20_000_060) },
}))

const accounts = ({ query }: FakeCall) => {
  const search = query.get('search') ?? ''
  const found = ACCOUNTS.filter(({ username }) => username.includes(search))
  return ok({ items: found, next_cursor: null })
}

const RECEIPT = { ...RECEIPTS, items: RECEIPTS.items.slice(0, 1) }

const app = pageFixture({
  isSiteShared: true,
  startSite: () =>
    startAdminSite({
      'GET /api/ledger/self': statementPage,
      'GET /api/ledger/self/balance': balance,
      'GET /api/ledger/self/statement': () => ok(STATEMENT),
      'GET /api/ledger/self/export': () => ({
        headers: { 'content-type': 'text/csv' },
        body: 'position,amount\n',
      }),
      'GET /api/audit/ledger/7': userLedgerPage,
      'GET /api/audit/balance/7': balance,
      'GET /api/transparency-log/status': () => ok(LOG_STATUS),
      'GET /api/audit/accounts': accounts,
      'GET /api/audit/site-month': () => ok(SITE_MONTH),
      'GET /api/audit/receipts': () => ok(RECEIPT),
    }),
})
const grid = () => app.page.getByRole('grid', { name: en('audit.ledger.tab.movements') })

describe.each(LANGUAGES)('the pages of ledgers in %s', (language) => {
  it('have no accessibility fault', async () => {
    const t = TEXTS[language]
    const { page } = await app.openPage({ language })
    await openAsRoot(page, app.site, '/app/ledger')
    await page.getByText('apology').first().waitFor()
    expect(await lookFaults(page, `ledger-${language}`)).toEqual([])
    await expect.poll(() => cutAmong(page, '.tg-grid-row .tg-amount')).toEqual([])
    await page.getByText('apology').first().click()
    await page.getByText(t('audit.receipt.state.final')).first().waitFor()
    expect(await lookFaults(page, `ledger-receipt-${language}`)).toEqual([])
    await page.getByRole('tab', { name: t('audit.ledger.tab.statement') }).click()
    await page.getByRole('table', { name: t('audit.ledger.byDay') }).waitFor()
    expect(await lookFaults(page, `statement-${language}`)).toEqual([])
    await openByLink(page, app.site, '/app/audit/ledgers?month=2026-11')
    await page.getByRole('table', { name: t('audit.siteMonth.byChannel') }).waitFor()
    expect(await lookFaults(page, `site-month-${language}`)).toEqual([])
    await openByLink(page, app.site, '/app/audit/ledgers/7')
    await page.getByRole('link', { name: t('audit.ledger.openUser') }).waitFor()
    await page.getByText('apology').first().waitFor()
    expect(await lookFaults(page, `user-ledger-${language}`)).toEqual([])
  })
})

describe('the ledger', () => {
  it('appends older movements, and filters by the address', async () => {
    await app.openAsRoot('/app/ledger')
    await app.page.getByRole('button', { name: en('audit.loadOlder') }).click()
    await expect.poll(() => grid().getAttribute('aria-rowcount')).toBe('55')
    const type = app.page.getByRole('combobox', { name: en('shared.type') })
    await type.selectOption('grant')
    await expect
      .poll(() => app.calls('GET /api/ledger/self').at(-1)?.query.get('types'))
      .toBe('grant')
    expect(new URL(app.page.url()).searchParams.get('type')).toBe('grant')
    await app.page.goBack()
    await expect.poll(() => type.inputValue()).toBe('')
  })

  it('shows the signed amount and the running total, and leads to the call', async () => {
    await app.openAsRoot('/app/ledger')
    const row = grid().getByRole('row').filter({ hasText: REQUEST_ID }).first()
    await expect.poll(() => row.textContent()).toContain('−$0.00675')
    await expect.poll(() => row.textContent()).toContain('$40.000')
    const href = await row.getByRole('link').getAttribute('href')
    expect(href).toBe(`/app/calls/${REQUEST_ID}`)
  })

  it.each(LANGUAGES)('translates the codes of reasons in %s', async (language) => {
    const t = TEXTS[language]
    const route = app.site.routes['GET /api/ledger/self']
    const rows = [
      { ...item(61), type: 'call', model: 'gpt-4o', reason: 'settled', note: '' },
      { ...item(62), type: 'redemption', source: 'redemption-6', reason: 'redemption', note: '' },
      { ...item(64), type: 'deduction', source: 'adjust:1', reason: 'admin', note: '', model: '' },
      { ...item(65), type: 'order', source: '12', reason: 'restored:epay', model: '' },
    ]
    app.site.routes['GET /api/ledger/self'] = () =>
      ok({ opening: figures(1), closing: figures(2), items: rows, next_cursor: null })
    const { page } = await app.openPage({ language })
    await openAsRoot(page, app.site, '/app/ledger')
    const movements = page.getByRole('grid', { name: t('audit.ledger.tab.movements') })
    await movements.getByText(t('audit.movementReason.redemption'), { exact: true }).waitFor()
    const unexplained = `${t('audit.movementReason.admin')} · ${t('audit.noReason')}`
    await movements.getByText(unexplained, { exact: true }).waitFor()
    const provider = t('audit.movementReason.epay')
    await movements.getByText(t('audit.movementReason.restored', { provider })).waitFor()
    await movements.getByText('gpt-4o', { exact: true }).click()
    await page.getByText(t('audit.movementReason.settled'), { exact: true }).waitFor()
    if (route !== undefined) app.site.routes['GET /api/ledger/self'] = route
  })

  it.each([
    ['an admin', SUPER_ADMIN, ADMIN_PATHS],
    ['an auditor', AUDITOR, AUDITOR_PATHS],
    ['a customer', USER, {}],
  ] as const)('leads from a movement to what %s may open', async (_name, role, paths) => {
    const route = app.site.routes['GET /api/ledger/self']
    app.site.routes['GET /api/ledger/self'] = () =>
      ok({ opening: figures(1), closing: figures(2), items: SOURCES, next_cursor: null })
    const self = app.site.routes['GET /api/user/self']
    app.site.routes['GET /api/user/self'] = () =>
      ok({ ...ROOT_USER, role, quota: 5, used_quota: 0 })
    await app.page.addInitScript(
      (user) => localStorage.setItem('user', user),
      JSON.stringify({ ...ROOT_USER, role }),
    )
    await app.page.goto(`${app.site.url}/app/ledger`)
    await grid().getByText('transfer-1', { exact: true }).waitFor()
    const links = await grid()
      .getByRole('link')
      .evaluateAll((all) => all.map((one) => [one.textContent, one.getAttribute('href')]))
    expect(Object.fromEntries(links)).toEqual(paths)
    if (self !== undefined) app.site.routes['GET /api/user/self'] = self
    if (route !== undefined) app.site.routes['GET /api/ledger/self'] = route
  })

  it('shows movements of a type that this version does not know, also in statements', async () => {
    const { routes } = app.site
    const before = { ...routes }
    const lottery = { ...GRANT, type: 'lottery', note: 'first prize', amount: 20 }
    const sums = [...STATEMENT.by_type, { type: 'lottery', count: 1, amount: 20 }]
    routes['GET /api/ledger/self'] = () =>
      ok({ opening: figures(1), closing: figures(2), items: [lottery], next_cursor: null })
    routes['GET /api/ledger/self/statement'] = () =>
      ok({ ...BUSY, by_type: sums, items: [lottery], next_cursor: null })
    await app.openAsRoot('/app/ledger')
    const row = grid().getByRole('row').filter({ hasText: 'first prize' })
    await row.getByText(en('audit.ledger.otherType'), { exact: true }).waitFor()
    await row.getByText('+$0.00004').waitFor()
    await app.page.goto(`${app.site.url}/app/ledger?tab=statement&month=2026-11`)
    const type = en('audit.ledger.otherTypeOf', { type: 'lottery' })
    const table = (name: string) => app.page.getByRole('table', { name })
    await table(en('audit.ledger.byType')).getByText(type, { exact: true }).waitFor()
    const lines = table(en('audit.ledger.tab.movements'))
    await lines.getByText(type, { exact: true }).waitFor()
    const types = app.calls('GET /api/ledger/self').at(-1)?.query.get('types')
    expect(types).toBe('grant,lottery')
    Object.assign(routes, before)
  })

  it.each([390, 560])('keeps its buttons on one line in a window %i px wide', async (width) => {
    await app.openAsRoot('/app/ledger')
    await app.page.setViewportSize({ width, height: 860 })
    const tops = () =>
      Promise.all(
        [en('ui.refresh'), en('ui.columns'), en('shared.export')].map(async (name) => {
          const toolbar = app.page.getByRole('search', { name: en('ui.filters') })
          return (await toolbar.getByRole('button', { name }).boundingBox())?.y
        }),
      )
    await app.page.getByText(en('audit.ledger.opening')).waitFor()
    await expect.poll(async () => new Set(await tops()).size).toBe(1)
    const isWider = () => app.page.evaluate(() => document.body.scrollWidth > window.innerWidth)
    expect(await isWider()).toBe(false)
  })

  it('of a fixed range includes its last second', async () => {
    await app.openAsRoot('/app/ledger?range=1700000000-1700003599')
    const to = () => app.calls('GET /api/ledger/self').at(-1)?.query.get('to')
    await expect.poll(to).toBe('1700003600')
  })

  it('shows the balance and the movements as of an earlier moment', async () => {
    await app.openAsRoot('/app/ledger?range=7d')
    const figures = app.page.getByRole('region', { name: en('shared.balance') })
    await figures.getByText('$40.00012').first().waitFor()
    await figures.getByLabel(en('audit.asOf')).fill('2026-01-02T03:04')
    await figures.getByText('$14.00', { exact: true }).waitFor()
    // The last 7 days are those before the moment, because later movements are not shown.
    const asOf = new Date('2026-01-02T03:04:59.999').toISOString()
    const query = () => app.calls('GET /api/ledger/self').at(-1)?.query
    await expect.poll(() => query()?.get('at')).toBe(asOf)
    const from = Date.parse('2026-01-02T03:05:00') / 1_000 - 7 * 86_400
    expect(query()?.get('from')).toBe(String(from))
    await app.page.getByRole('button', { name: en('shared.export') }).click()
    const csv = app.page.getByRole('menuitem', { name: en('usageLog.exportAs.csv') })
    await Promise.all([app.page.waitForEvent('download'), csv.click()])
    expect(app.calls('GET /api/ledger/self/export').at(-1)?.query.get('at')).toBe(asOf)
  })

  it('leads from a correction to the calls whose charges it changed', async () => {
    const row = { ...item(61), type: 'correction', source: 'c1', corrected_calls: 1 }
    const route = app.site.routes['GET /api/ledger/self']
    app.site.routes['GET /api/ledger/self'] = () =>
      ok({ opening: figures(1), closing: figures(2), items: [row], next_cursor: null })
    app.site.routes[`GET /api/ledger/self/corrections/${row.position}`] = () =>
      ok({
        ...{ correction_id: 'c1', created_at: NOW, requested_by: { id: 1, name: 'root' } },
        reason: 'twice too high',
        calls: [
          { request_id: REQUEST_ID, charge: 3_375, corrected: 1_688, amount: -1_687, unpaid: 0 },
        ],
      })
    await app.openAsRoot('/app/ledger')
    await grid().getByText(en('audit.movement.correction')).click()
    const table = app.page.getByRole('table', { name: en('audit.ledger.correctedCalls') })
    const link = table.getByRole('link', { name: REQUEST_ID })
    await link.waitFor()
    await app.page.getByText('twice too high', { exact: true }).waitFor()
    await expect.poll(() => link.getAttribute('href')).toBe(`/app/calls/${REQUEST_ID}`)
    if (route !== undefined) app.site.routes['GET /api/ledger/self'] = route
  })

  it.each(['/app/ledger', '/app/audit/ledgers/7'])(
    'at %s has the receipt of each movement, which can be saved',
    async (path) => {
      await app.openAsRoot(path)
      await grid().getByText('apology').first().click()
      const receipt = app.page.getByRole('region', { name: en('audit.receipt.title') })
      await receipt.getByText(en('audit.receipt.state.final')).first().waitFor()
      const asked = app.calls('GET /api/audit/receipts').at(-1)?.query.get('position')
      const position = String(10_000 + 58)
      expect(asked).toBe(position)
      const save = receipt.getByRole('button', { name: en('audit.receipt.download') })
      const [download] = await Promise.all([app.page.waitForEvent('download'), save.click()])
      expect(download.suggestedFilename()).toBe(`receipt-${position}.json`)
      expect(JSON.parse(readFileSync(await download.path(), 'utf8'))).toEqual(RECEIPT)
    },
  )

  it('is exported with its filters', async () => {
    await app.openAsRoot('/app/ledger?type=order')
    await app.page.getByRole('button', { name: en('shared.export') }).click()
    const csv = app.page.getByRole('menuitem', { name: en('usageLog.exportAs.csv') })
    const [download] = await Promise.all([app.page.waitForEvent('download'), csv.click()])
    expect(download.suggestedFilename()).toBe('ledger-own.csv')
    const query = app.calls('GET /api/ledger/self/export').at(-1)?.query
    expect([query?.get('types'), query?.get('format')]).toEqual(['order', 'csv'])
  })

  it.each(LANGUAGES)(
    'of the site names channels and each kind of movement in %s',
    async (language) => {
      const t = TEXTS[language]
      const { page } = await app.openPage({ language })
      await openByLink(page, app.site, '/app/audit/ledgers?month=2026-11')
      const channels = page.getByRole('table', { name: t('audit.siteMonth.byChannel') })
      await channels.getByText('OpenAI main (#1)').waitFor()
      await channels.getByText(t('audit.siteMonth.noChannel')).waitFor()
      for (const name of ['gifts', 'checked_in', 'transferred', 'adjusted', 'deducted'] as const) {
        await page.getByText(t(`audit.siteMonth.${name}`), { exact: true }).waitFor()
      }
    },
  )

  it('of another user is found by name on the page of all ledgers', async () => {
    await app.openAsRoot('/app/audit/ledgers')
    const list = app.page.getByRole('grid', { name: en('audit.accounts.title') })
    await list.getByRole('link', { name: 'root (#7)' }).waitFor()
    await list.getByRole('link', { name: en('audit.erasedUser', { id: '8' }) }).waitFor()
    const field = app.page.getByRole('textbox', { name: en('audit.accounts.search') })
    await field.fill('root')
    await field.press('Enter')
    await expect.poll(() => list.getByRole('link').allTextContents()).toEqual(['root (#7)'])
    expect(new URL(app.page.url()).searchParams.get('search')).toBe('root')
    await list.getByRole('link').click()
    await app.page.waitForURL('**/app/audit/ledgers/7')
    await grid().getByText('root (#1)').first().waitFor()
  })

  it('of an erased user says so instead of a name', async () => {
    const named = app.site.routes['GET /api/audit/ledger/7']
    app.site.routes['GET /api/audit/ledger/7'] = (call) => ok({ ...ledgerOf(call), username: '' })
    await app.openAsRoot('/app/audit/ledgers/7')
    const name = en('audit.ledger.ofErasedUser', { id: '7' })
    await app.page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
    if (named !== undefined) app.site.routes['GET /api/audit/ledger/7'] = named
  })

  it.each([
    ['an admin', SUPER_ADMIN, ['/user/edit/7']],
    ['an auditor', AUDITOR, []],
  ] as const)('of another user names the user, whom %s may open', async (_name, role, paths) => {
    const self = app.site.routes['GET /api/user/self']
    const user = { ...ROOT_USER, role, quota: 5, used_quota: 0 }
    app.site.routes['GET /api/user/self'] = () => ok(user)
    await app.page.addInitScript(
      (text) => localStorage.setItem('user', text),
      JSON.stringify({ ...ROOT_USER, role }),
    )
    await app.page.goto(`${app.site.url}/app/audit/ledgers/7`)
    const name = en('audit.ledger.ofNamedUser', { name: 'mei', id: '7' })
    await app.page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
    const links = await app.page
      .getByRole('link', { name: en('audit.ledger.openUser') })
      .evaluateAll((all) => all.map((one) => one.getAttribute('href')))
    expect(links).toEqual(paths)
    if (self !== undefined) app.site.routes['GET /api/user/self'] = self
  })
})

describe('a statement', () => {
  const openMonth = async (page: Page) => {
    await openAsRoot(page, app.site, '/app/ledger?tab=statement&month=2026-11')
    const table = page.getByRole('table', { name: en('audit.ledger.tab.movements') })
    await table.waitFor()
    return (await table.getByRole('row').allInnerTexts()).slice(1)
  }

  it('lists all movements of its month, the oldest first, with the running total', async () => {
    const { page } = await app.openPage({ language: 'en' })
    const rows = await openMonth(page)
    expect(rows).toHaveLength(1 + 120 + 1)
    expect(rows[0]).toContain('$38.00')
    expect(rows[1]).toContain('$37.99998')
    expect(rows[1]).toContain(`${REQUEST_ID}-0`)
    // The key of an adjustment means nothing to a customer.
    expect(rows[120]).toContain('apology #10119')
    expect(rows[120]).not.toContain('adjust:')
    for (const row of rows.slice(120)) expect(row).toContain('$40.99762')
    const held = page.locator('dt', { hasText: en('audit.ledger.openHolds') }).locator('..')
    await expect.poll(() => held.textContent()).toContain('$0.02')
    await page.getByText(LOG_STATUS.latest?.root ?? '', { exact: true }).waitFor()
  })

  it.each([1280, 390])('names what its sums are about, %i px wide', async (width) => {
    const { page } = await app.openPage({ language: 'en', width })
    await openMonth(page)
    const groups = [
      ['audit.ledger.byType', 'shared.type'],
      ['shared.byModel', 'ui.model'],
      ['audit.ledger.byDay', 'audit.ledger.day'],
    ] as const
    for (const [title, head] of groups) {
      const table = page.getByRole('table', { name: en(title) })
      const heads = await table.getByRole('columnheader').allTextContents()
      expect(heads).toEqual([en(head), en('audit.ledger.count'), en('shared.amount')])
    }
  })

  it('sums up many calls by day and model, and names the file that has each', async () => {
    const route = app.site.routes['GET /api/ledger/self/statement']
    app.site.routes['GET /api/ledger/self/statement'] = () => ok(BUSY)
    const { page } = await app.openPage({ language: 'en' })
    const rows = await openMonth(page)
    expect(rows).toHaveLength(5)
    expect(rows[1]).toContain(en('audit.ledger.summedCalls_one', { number: '1', model: 'early' }))
    expect(rows[2]).toContain('apology')
    const calls = { number: '811', model: 'gpt-4o' }
    expect(rows[3]).toContain(en('audit.ledger.summedCalls_other', calls))
    for (const row of rows.slice(3)) expect(row).toContain('$40.99325')
    await page.getByText(en('audit.ledger.summedCallsLead', { number: '812' })).waitFor()
    if (route !== undefined) app.site.routes['GET /api/ledger/self/statement'] = route
  })
})

describe.each(['light', 'dark'] as const)('a statement printed from the %s theme', (theme) => {
  it('is white, has equal margins and its figures, and no navigation or controls', async () => {
    const { page } = await app.openPage({ language: 'en', theme })
    const copy = { id: 'copy-1', position: 10_000, as_of: NOW, userId: 1 }
    await page.addInitScript(
      (text) => sessionStorage.setItem('scratch-copy', text),
      JSON.stringify(copy),
    )
    await openAsRoot(page, app.site, '/app/ledger?tab=statement&month=2026-11')
    const table = page.getByRole('table', { name: en('audit.ledger.byType') })
    await table.waitFor()
    const leave = page.getByRole('button', { name: en('shell.copyLeave') })
    await leave.waitFor()
    await page.setViewportSize({ width: 718, height: 1_000 })
    await page.emulateMedia({ media: 'print' })
    await expect.poll(() => leave.isVisible()).toBe(false)
    await expect.poll(() => table.isVisible()).toBe(true)
    for (const name of ['opening', 'closing', 'site'] as const) {
      const figure = page.locator('dt', { hasText: en(`audit.ledger.${name}`) }).first()
      await expect.poll(() => figure.isVisible()).toBe(true)
    }
    await expect.poll(() => page.getByRole('button').count()).toBe(0)
    const navigation = page.getByRole('navigation', { name: en('shell.navigation') })
    await expect.poll(() => navigation.isVisible()).toBe(false)
    await expect.poll(() => page.getByRole('link', { name: en('shell.skip') }).count()).toBe(0)
    const movements = page.getByRole('table', { name: en('audit.ledger.tab.movements') })
    const [head, row] = [movements.locator('thead'), movements.locator('tbody tr').first()]
    await expect
      .poll(() => head.evaluate((one) => getComputedStyle(one).display))
      .toBe('table-header-group')
    await expect.poll(() => row.evaluate((one) => getComputedStyle(one).breakInside)).toBe('avoid')
    const main = page.locator('main')
    await expect.poll(() => main.boundingBox()).toMatchObject({ x: 0, width: 718 })
    await expect
      .poll(() => page.evaluate(() => getComputedStyle(document.body).backgroundColor))
      .toBe('rgb(255, 255, 255)')
    const isCentred = async () => {
      const content = await page.locator('.tg-ledger-statement').boundingBox()
      return content !== null && 718 - content.x - content.width === content.x
    }
    await expect.poll(isCentred).toBe(true)
    await page.emulateMedia({ media: null })
  })
})

it('a scratch copy shows the month of its time, and no later month', async () => {
  const asked = () => app.calls('GET /api/audit/site-month').at(-1)?.query.get('month')
  await app.page.addInitScript(
    (copy) => sessionStorage.setItem('scratch-copy', copy),
    JSON.stringify({
      ...{ id: '11111111-2222-3333-4444-555555555555', position: 9, userId: ROOT_USER.id },
      as_of: Date.UTC(2026, 2, 15) / 1_000,
    }),
  )
  await app.openAsRoot('/app/audit/ledgers')
  await expect.poll(asked).toBe('2026-03')
  const month = app.page.getByLabel(en('audit.ledger.month'), { exact: true })
  await expect.poll(() => month.getAttribute('max')).toBe('2026-03')
  const next = app.page.getByRole('button', { name: en('audit.ledger.monthAfter') })
  await expect.poll(() => next.isDisabled()).toBe(true)
  await app.page.getByRole('button', { name: en('audit.ledger.monthBefore') }).click()
  await expect.poll(asked).toBe('2026-02')
  await expect.poll(() => next.isDisabled()).toBe(false)
})
