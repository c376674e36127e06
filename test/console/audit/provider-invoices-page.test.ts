import type { Locator } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import {
  guessColumns,
  readSample,
} from '#console/features/audit/reconciliation/provider-invoice-draft.ts'
import { en, TEXTS } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults } from '../support/accessibility-faults.ts'
import { openAsRoot, startAdminSite } from '../support/admin-site.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { ok } from '../support/fake-site.ts'
import { AUDITOR_USER } from './audit-samples.ts'
import {
  ACCOUNT_NAMES,
  INVOICE_ID,
  INVOICES,
  providerInvoiceOf,
  providerInvoiceRequestsOf,
} from './reconciliation-samples.ts'

const LIST = '/app/audit/reconciliation?tab=invoices'
const PAGE = `/app/audit/invoices/${INVOICE_ID}`
const CSV = 'Date;Model name;Cost;Total tokens\n2026-11-26;gpt-4o;1,25;1200\n2026-11-26;o3;0,5;90\n'
const FILE = { name: 'invoice.csv', mimeType: 'text/csv', buffer: Buffer.from(CSV) }

const app = pageFixture({
  startSite: () =>
    startAdminSite({
      'GET /api/audit/accounts': () => ok({ items: ACCOUNT_NAMES, next_cursor: null }),
      'GET /api/audit/invoices': () => ok(INVOICES),
      [`GET /api/audit/invoices/${INVOICE_ID}`]: ({ query }) =>
        ok(providerInvoiceOf(query.get('comparison'))),
      [`GET /api/audit/invoices/${INVOICE_ID}/requests`]: ({ query }) =>
        ok({ items: providerInvoiceRequestsOf(query.get('match')), next_cursor: null }),
      'POST /api/audit/invoices': () => ok({ id: INVOICE_ID, rows: 2, duplicates: 0, lines: 2 }),
      [`DELETE /api/audit/invoices/${INVOICE_ID}`]: () => ok(null),
    }),
})

const button = (name: string) => app.page.getByRole('button', { name, exact: true })
const grid = () => app.page.getByRole('grid', { name: en('reconciliation.invoice.byDay') })

describe.each(LANGUAGES)('the invoices of providers in %s', (language) => {
  it('have no accessibility fault', async () => {
    const t = TEXTS[language]
    const { page } = await app.openPage({ language })
    await openAsRoot(page, app.site, LIST)
    await page.getByRole('grid').getByText('CNY').waitFor()
    expect(await lookFaults(page, `invoices-${language}`)).toEqual([])
    await page.getByRole('button', { name: t('reconciliation.invoice.import') }).click()
    await page.getByLabel(t('reconciliation.invoice.file')).setInputFiles(FILE)
    await page.getByRole('table', { name: t('reconciliation.invoice.sample') }).waitFor()
    expect(await lookFaults(page, `invoice-import-${language}`)).toEqual([])
    await page.goto(app.site.url + PAGE)
    await page.getByRole('grid').getByText('2026-11-26').first().waitFor()
    expect(await lookFaults(page, `invoice-${language}`)).toEqual([])
  })
})

it('invoices have the id and the name of the channel, if it has one', async () => {
  await app.openAsRoot(LIST)
  await app.page.getByRole('link', { name: '#1 · OpenAI main', exact: true }).waitFor()
  await app.page.getByRole('link', { name: '#2', exact: true }).waitFor()
})

it('all amounts of a day, and the buttons beside its heading, fit a narrow window', async () => {
  await app.openAsRoot(PAGE)
  await app.page.setViewportSize({ width: 1280, height: 860 })
  const edgeOf = async (locator: Locator) => {
    const box = await locator.boundingBox()
    return box === null ? Number.NaN : Math.round(box.x + box.width)
  }
  const heads = grid().getByRole('columnheader')
  const last = heads.filter({ hasText: en('shared.margin') })
  await expect.poll(async () => (await edgeOf(last)) <= (await edgeOf(grid()))).toBe(true)
  const heading = app.page.getByRole('heading', { name: en('reconciliation.invoice.byDay') })
  const save = button(en('usageLog.exportAs.csv')).last()
  const top = async (locator: Locator) => (await locator.boundingBox())?.y ?? Number.NaN
  const isBeside = async () => Math.abs((await top(save)) - (await top(heading))) < 40
  await expect.poll(isBeside).toBe(true)
})

it('an import guesses the columns, and sends the file with their meaning', async () => {
  await app.openAsRoot(`${LIST}&new=1`)
  const drawer = app.page.getByRole('dialog')
  const send = drawer.getByRole('button', { name: en('reconciliation.invoice.import') })
  await send.click()
  await drawer.getByText(en('reconciliation.invoice.fileMissing'), { exact: true }).waitFor()
  await drawer.getByLabel(en('reconciliation.invoice.file')).setInputFiles(FILE)
  await drawer.getByRole('table', { name: en('reconciliation.invoice.sample') }).waitFor()
  await drawer.getByLabel(en('shared.channelId')).fill('1')
  await drawer.getByLabel(en('reconciliation.invoice.decimal')).selectOption(',')
  await send.click()
  await app.page.getByRole('heading', { level: 1, name: /#1/ }).waitFor()
  const sent = app.calls('POST /api/audit/invoices')[0]
  expect(Object.fromEntries(sent?.query ?? [])).toEqual({
    ...{ channel_id: '1', delimiter: ';', decimal: ',', currency: 'USD' },
    ...{ day: 'Date', model: 'Model name', amount: 'Cost', tokens: 'Total tokens' },
  })
})

it('an import names its days, both or none', async () => {
  await app.openAsRoot(`${LIST}&new=1`)
  const drawer = app.page.getByRole('dialog')
  await drawer.getByLabel(en('reconciliation.invoice.file')).setInputFiles(FILE)
  await drawer.getByRole('table').waitFor()
  await drawer.getByLabel(en('shared.channelId')).fill('1')
  await drawer.getByLabel(en('reconciliation.margin.lastDay')).fill('2026-11-30')
  const send = drawer.getByRole('button', { name: en('reconciliation.invoice.import') })
  await send.click()
  await drawer.getByText(en('reconciliation.invoice.dayMissing')).waitFor()
  const first = drawer.getByLabel(en('reconciliation.margin.firstDay'))
  await first.fill('2026-12-01')
  await drawer.getByText(en('reconciliation.invoice.daysReversed')).waitFor()
  await first.fill('2026-11-01')
  await send.click()
  await app.page.getByRole('heading', { level: 1, name: /#1/ }).waitFor()
  const query = app.calls('POST /api/audit/invoices')[0]?.query
  expect([query?.get('first_day'), query?.get('last_day')]).toEqual(['2026-11-01', '2026-11-30'])
  const facts = app.page.getByText(en('reconciliation.invoice.corrections'), { exact: true })
  await facts.waitFor()
})

it('a refused file shows the row, and keeps the form', async () => {
  app.site.routes['POST /api/audit/invoices'] = () => ({
    status: 400,
    body: { success: false, message: 'Invalid day in row 3', code: 'InvoiceRowInvalid' },
  })
  await app.openAsRoot(`${LIST}&new=1`)
  const drawer = app.page.getByRole('dialog')
  await drawer.getByLabel(en('reconciliation.invoice.file')).setInputFiles(FILE)
  await drawer.getByRole('table').waitFor()
  await drawer.getByLabel(en('shared.channelId')).fill('1')
  await drawer.getByRole('button', { name: en('reconciliation.invoice.import') }).click()
  await drawer.getByRole('alert').getByText('Invalid day in row 3').waitFor()
})

it('an invoice shows margins, and filters days by their comparison', async () => {
  await app.openAsRoot(PAGE)
  await grid().getByText('gpt-4o-audio-preview').waitFor()
  const models = app.page.getByRole('table', { name: en('shared.byModel') })
  await expect
    .poll(() => models.getByRole('row', { name: 'gpt-4o 338' }).textContent())
    .toContain('37.6%')
  await app.page
    .getByRole('button', { name: `${en('reconciliation.invoice.of.only_ours')} (1)` })
    .click()
  await grid().getByText('gpt-4o-mini').waitFor()
  await expect.poll(() => grid().getByText('gpt-4o-audio-preview').count()).toBe(0)
  expect(new URL(app.page.url()).searchParams.get('comparison')).toBe('only_ours')
})

it('lines with request ids lead to their calls, by the kind of their match', async () => {
  await app.openAsRoot(PAGE)
  const lines = app.page.getByRole('grid', { name: en('reconciliation.invoice.byRequest') })
  const call = lines.getByRole('link', { name: /^0191aa00/ }).first()
  await call.waitFor()
  await expect.poll(() => call.getAttribute('href')).toMatch(/^\/app\/calls\/0191aa00/)
  await app.page
    .getByRole('combobox', { name: en('reconciliation.invoice.match') })
    .selectOption('unknown')
  await app.page.getByText(en('reconciliation.invoice.matchHint.unknown')).waitFor()
  await expect.poll(() => lines.getByRole('link').count()).toBe(0)
  const asked = app.calls(`GET /api/audit/invoices/${INVOICE_ID}/requests`)
  expect(asked.map(({ query }) => query.get('match'))).toEqual(['different', 'unknown'])
})

it('each list of an invoice is exported with its filter', async () => {
  await app.openAsRoot(`${PAGE}?comparison=only_theirs&match=unknown`)
  const routes = ['requests/export', 'export'].map(
    (path) => `GET /api/audit/invoices/${INVOICE_ID}/${path}`,
  )
  const names: string[] = []
  for (const [n, route] of routes.entries()) {
    app.site.routes[route] = () => ({ headers: { 'content-type': 'text/csv' }, body: 'row\r\n' })
    const save = button(en('usageLog.exportAs.csv')).nth(n)
    const [download] = await Promise.all([app.page.waitForEvent('download'), save.click()])
    names.push(download.suggestedFilename())
  }
  expect(names).toEqual([
    'invoice-channel-1-2026-11-01-requests-unknown.csv',
    'invoice-channel-1-2026-11-01-days-only_theirs.csv',
  ])
  const queries = routes.map((route) => Object.fromEntries(app.calls(route)[0]?.query ?? []))
  expect(queries).toEqual([{ match: 'unknown' }, { comparison: 'only_theirs' }])
})

it('an invoice is deleted after a confirmation', async () => {
  await app.openAsRoot(PAGE)
  await button(en('shared.delete')).click()
  const dialog = app.page.getByRole('alertdialog')
  await dialog.getByRole('button', { name: en('shared.delete') }).click()
  await app.page.getByText(en('reconciliation.invoice.deleted')).waitFor()
  await app.page.getByRole('grid', { name: en('reconciliation.invoice.title') }).waitFor()
})

it('an invoice that is out of range says so, and can be deleted', async () => {
  app.site.routes['GET /api/audit/invoices'] = () =>
    ok(INVOICES.map((one) => ({ ...one, is_out_of_range: one.id === INVOICE_ID })))
  app.site.routes[`GET /api/audit/invoices/${INVOICE_ID}`] = () =>
    ok({ ...providerInvoiceOf(null), is_out_of_range: true })
  await app.openAsRoot(LIST)
  await app.page
    .getByRole('grid')
    .getByText(en('reconciliation.invoice.outOfRange'), { exact: true })
    .waitFor()
  await app.page.goto(app.site.url + PAGE)
  await app.page.getByRole('alert').getByText(en('reconciliation.invoice.outOfRangeLead')).waitFor()
  await button(en('shared.delete')).waitFor()
})

it('request ids that other invoices contain are counted', async () => {
  await app.openAsRoot(PAGE)
  await app.page.getByText(en('reconciliation.invoice.knownIds_other', { ids: '3' })).waitFor()
})

it('an invoice leads to its acts in the audit log', async () => {
  await app.openAsRoot(PAGE)
  await app.page
    .getByRole('main')
    .getByRole('link', { name: en('shared.history') })
    .click()
  await app.page.waitForURL(
    (url) =>
      url.searchParams.get('object') === `invoice:${INVOICE_ID}` && url.pathname.endsWith('log'),
  )
})

it('an invoice that does not exist says so', async () => {
  await app.openAsRoot('/app/audit/invoices/00000000-0000-0000-0000-000000000000')
  await app.page.getByText(en('reconciliation.invoice.notFoundLead')).waitFor()
})

it('an auditor sees invoices, and can neither import nor delete one', async () => {
  await app.page.addInitScript(
    (user) => localStorage.setItem('user', user),
    JSON.stringify(AUDITOR_USER),
  )
  await app.page.goto(`${app.site.url}${LIST}&new=1`)
  await app.page.getByRole('link', { name: '#2' }).waitFor()
  await expect.poll(() => button(en('reconciliation.invoice.import')).count()).toBe(0)
  await expect.poll(() => app.page.getByRole('dialog').count()).toBe(0)
  await app.page.goto(app.site.url + PAGE)
  await grid().getByText('gpt-4o-mini').waitFor()
  await expect.poll(() => button(en('shared.delete')).count()).toBe(0)
  // The name is part of the invoice, because auditors may not read channels.
  await app.page.getByRole('heading', { level: 1, name: /#1 · OpenAI main$/ }).waitFor()
  expect(app.calls('GET /api/channel/1')).toEqual([])
})

describe('the sample of a CSV file', () => {
  it('has quoted fields, and no byte order mark', async () => {
    const text = '\uFEFF"day","model","cost"\r\n2026-11-01,"a ""b"", c",1.5\r\n'
    const sample = await readSample(new Blob([text]))
    expect(sample).toEqual({
      ...{ delimiter: ',', header: ['day', 'model', 'cost'] },
      rows: [['2026-11-01', 'a "b", c', '1.5']],
    })
  })

  it('is read in UTF-16 with a byte order mark', async () => {
    const sample = await readSample(new Blob([Buffer.from('\uFEFFday\tmodel\n', 'utf16le')]))
    expect(sample).toMatchObject({ delimiter: '\t', header: ['day', 'model'] })
  })

  it('gives the columns of exports of known providers', () => {
    const header = ['usage_date', 'model', 'input_tokens', 'total_tokens', 'cost_usd', 'request_id']
    expect(guessColumns(header)).toEqual({
      ...{ day: 'usage_date', model: 'model', amount: 'cost_usd', tokens: 'total_tokens' },
      request_id: 'request_id',
    })
  })
})
