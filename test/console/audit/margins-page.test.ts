import { expect, it } from 'vitest'
import { en, TEXTS } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults } from '../support/accessibility-faults.ts'
import { openAsRoot, startAdminSite } from '../support/admin-site.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { type FakeCall, ok } from '../support/fake-site.ts'
import { cutAmong } from '../support/truncated-texts.ts'
import { AUDITOR_USER } from './audit-samples.ts'
import { marginsOf } from './reconciliation-samples.ts'

const PAGE = '/app/audit/reconciliation?tab=margins'
const OCTOBER = `${PAGE}&first=2026-10-01&last=2026-10-31`

const daysOf = ({ query }: FakeCall) => ({
  first: query.get('first_day') ?? '',
  last: query.get('last_day') ?? '',
})

const app = pageFixture({
  startSite: () =>
    startAdminSite({ 'GET /api/audit/margins': (call) => ok(marginsOf(daysOf(call))) }),
})
const grid = () => app.page.getByRole('grid', { name: en('reconciliation.margin.byChannel') })
const asked = () => app.calls('GET /api/audit/margins').map(daysOf).at(-1)
const day = (name: 'firstDay' | 'lastDay') =>
  app.page.getByLabel(en(`reconciliation.margin.${name}`), { exact: true })

it.each(LANGUAGES)('the margins have no accessibility fault in %s', async (language) => {
  const t = TEXTS[language]
  const { page } = await app.openPage({ language })
  await openAsRoot(page, app.site, OCTOBER)
  await page.getByRole('grid').getByText('claude-sonnet-4-5').waitFor()
  expect(await lookFaults(page, `margins-${language}`)).toEqual([])
  await expect.poll(() => cutAmong(page, '.tg-grid-row .tg-amount')).toEqual([])
  app.site.routes['GET /api/audit/margins'] = (call) => ok(marginsOf(daysOf(call), []))
  await page.goto(app.site.url + PAGE)
  await page.getByText(t('reconciliation.margin.none')).waitFor()
  expect(await lookFaults(page, `margins-none-${language}`)).toEqual([])
})

it('the margin of each channel and model is shown with its share', async () => {
  await app.openAsRoot(OCTOBER)
  const row = grid().getByRole('row').filter({ hasText: 'OpenAI main (#1)' }).first()
  for (const text of ['gpt-4o', '$62.50', '$38.80', '+$23.70', '37.9%']) {
    await expect.poll(() => row.textContent()).toContain(text)
  }
  // Nothing is known about the cost of these calls, so they have no share.
  const unknown = grid().getByRole('row').filter({ hasText: 'Claude (#3)' })
  await expect.poll(() => unknown.textContent()).not.toContain('%')
  await expect.poll(() => unknown.getByRole('gridcell').last().textContent()).toBe('–')
  await app.page.getByText(en('reconciliation.margin.overlap', { channels: '#1' })).waitFor()
})

it('every column is shown at 1280 pixels, the margin and its share included', async () => {
  const items = marginsOf({ first: '', last: '' }).items.map((item) => {
    return { ...item, charged: 30_254, billed: 1_956, expected: 0, uncosted: 0, margin: 28_298 }
  })
  app.site.routes['GET /api/audit/margins'] = (call) => ok(marginsOf(daysOf(call), items))
  await app.openAsRoot(OCTOBER)
  await app.page.setViewportSize({ width: 1280, height: 860 })
  await grid().getByText('+$0.056596').first().waitFor()
  await expect.poll(() => cutAmong(app.page, '.tg-grid')).toEqual([])
  await expect.poll(() => cutAmong(app.page, '.tg-grid-row > .tg-grid-cell:last-child')).toEqual([])
})

it('the days are those of a month, or any others, and are in the address', async () => {
  await app.openAsRoot(OCTOBER)
  await expect.poll(asked).toEqual({ first: '2026-10-01', last: '2026-10-31' })
  await app.page.getByRole('button', { name: en('audit.ledger.monthBefore') }).click()
  await expect.poll(asked).toEqual({ first: '2026-09-01', last: '2026-09-30' })
  await day('firstDay').fill('2026-09-15')
  await expect.poll(asked).toEqual({ first: '2026-09-15', last: '2026-09-30' })
  await day('lastDay').fill('2026-09-10')
  await expect.poll(asked).toEqual({ first: '2026-09-10', last: '2026-09-10' })
  await expect
    .poll(() => Object.fromEntries(new URL(app.page.url()).searchParams))
    .toMatchObject({ first: '2026-09-10', last: '2026-09-10' })
})

it('an error of the server names the field, and leaves the choice of days', async () => {
  app.site.routes['GET /api/audit/margins'] = () => ({
    status: 400,
    body: { success: false, message: 'Invalid field last_day', code: 'InvalidField' },
  })
  await app.openAsRoot(`${PAGE}&first=2020-01-01&last=2026-10-31`)
  await app.page.getByText('Invalid field last_day').waitFor()
  app.site.routes['GET /api/audit/margins'] = (call) => ok(marginsOf(daysOf(call)))
  await day('firstDay').fill('2026-10-01')
  await grid().getByText('o3').waitFor()
})

it('channels whose invoices are out of range are named', async () => {
  app.site.routes['GET /api/audit/margins'] = (call) =>
    ok({ ...marginsOf(daysOf(call)), out_of_range_channels: [4] })
  await app.openAsRoot(OCTOBER)
  await app.page
    .getByRole('alert')
    .getByText(en('reconciliation.margin.outOfRange', { channels: '#4' }))
    .waitFor()
})

it('an auditor sees the margins, and the way to the invoices where there are none', async () => {
  app.site.routes['GET /api/audit/margins'] = (call) => {
    const { total, ...rest } = marginsOf(daysOf(call))
    return ok({ ...rest, total: { ...total, invoiced: 0, billed: 0 }, overlapping_channels: [] })
  }
  await app.page.addInitScript(
    (user) => localStorage.setItem('user', user),
    JSON.stringify(AUDITOR_USER),
  )
  await app.page.goto(app.site.url + OCTOBER)
  await app.page.getByText(en('reconciliation.margin.noInvoices')).waitFor()
  await app.page.getByRole('link', { name: en('reconciliation.invoice.back') }).click()
  await expect.poll(() => new URL(app.page.url()).searchParams.get('tab')).toBe('invoices')
})
