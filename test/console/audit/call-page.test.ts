import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { en, TEXTS } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults } from '../support/accessibility-faults.ts'
import { openAsRoot, startAdminSite } from '../support/admin-site.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { ok } from '../support/fake-site.ts'
import { cutAmong } from '../support/truncated-texts.ts'
import { logRow } from '../usage-log/fake-usage-log.ts'
import {
  AUDITOR_USER,
  BATCH_CALL,
  EXPLAINED_CALL,
  NOW,
  RECEIPTS,
  REQUEST_ID,
} from './audit-samples.ts'

const CHANNEL = { channel_id: 3, channel_name: 'reseller with a long name in Frankfurt' }
const OTHER_MODELS = { ...CHANNEL, count: 1204, last_at: NOW }
const MISMATCH = {
  ...CHANNEL,
  ...{ position: 41, created_at: NOW, request_id: REQUEST_ID, user_id: 7 },
  ...{ model: 'gpt-4o', sent_model: 'gpt-4o-2024-11-20', answered_model: 'gpt-4o-mini' },
}

const UNKNOWN = '0191aa00-0000-7000-8000-000000000000'
const ROW = logRow(900, { request_id: REQUEST_ID })
const empty = { items: [], page: 0, total: 0 }

const app = pageFixture({
  isSiteShared: true,
  startSite: () =>
    startAdminSite({
      [`GET /api/audit/calls/${REQUEST_ID}`]: () => ok(EXPLAINED_CALL),
      [`GET /api/audit/receipts/${REQUEST_ID}`]: () => ok(RECEIPTS),
      [`GET /api/audit/calls/${BATCH_ID}`]: () => ok(BATCH_CALL),
      [`GET /api/audit/receipts/${BATCH_ID}`]: () => ok(RECEIPTS),
      'GET /api/audit/calls': () => ok({ items: [MISMATCH], next_cursor: null }),
      'GET /api/audit/other-models': () => ok([OTHER_MODELS]),
      'GET /api/log/': () => ok({ ...empty, items: [ROW], total: 1 }),
      'GET /api/log/stat': () => ok({ quota: 0, rpm: 0, tpm: 0, count: 1 }),
    }),
})
const BATCH_ID = '0191aa00-1b2c-7000-8000-0123456789ff'
const section = (name: string) => app.page.getByRole('region', { name })

describe.each(LANGUAGES)('the page of a call in %s', (language) => {
  it('has no accessibility fault', async () => {
    const t = TEXTS[language]
    const { page } = await app.openPage({ language })
    await openAsRoot(page, app.site, `/app/calls/${REQUEST_ID}`)
    await page.getByText(t('audit.receipt.state.final')).first().waitFor()
    expect(await lookFaults(page, `audit-call-${language}`)).toEqual([])
    await expect.poll(() => cutAmong(page, '.tg-audit-facts dd, .tg-audit-table td')).toEqual([])
  })

  it('has no accessibility fault in the list of calls served by another model', async () => {
    const t = TEXTS[language]
    const { page } = await app.openPage({ language })
    await openAsRoot(page, app.site, '/app/calls')
    await page.getByRole('table', { name: t('audit.call.mismatch.byChannel') }).waitFor()
    await page.getByText('gpt-4o-mini').waitFor()
    expect(await lookFaults(page, `audit-mismatches-${language}`)).toEqual([])
  })

  it('has no accessibility fault with the results of a batch', async () => {
    const t = TEXTS[language]
    const { page } = await app.openPage({ language })
    await openAsRoot(page, app.site, `/app/calls/${BATCH_ID}`)
    const results = page.getByRole('region', { name: t('audit.call.results') })
    await results.locator('summary').first().click()
    await results.getByText('"total_tokens": 1500').first().waitFor()
    await page.getByText(t('audit.receipt.state.final')).first().waitFor()
    expect(await lookFaults(page, `audit-batch-${language}`)).toEqual([])
    await expect.poll(() => cutAmong(page, '.tg-audit-facts dd, .tg-audit-table td')).toEqual([])
  })
})

describe('the page of a call', () => {
  it('shows the corrections of the charge, and the charge in force', async () => {
    const correction = {
      ...{ correction_id: 'c1', position: 8_200, revision: 420, created_at: NOW - 30 },
      ...{ balance_after: 9_998_000, held_after: 0, charge: 3_375, corrected: 1_688 },
      ...{ amount: -1_687, unpaid: 0, requested_by: { id: 1, name: 'root' } },
      reason: 'twice too high',
    }
    const route = `GET /api/audit/calls/${REQUEST_ID}`
    const original = app.site.routes[route]
    app.site.routes[route] = () =>
      ok({ ...EXPLAINED_CALL, corrections: [correction], charge_in_force: 1_688 })
    await app.openAsRoot(`/app/calls/${REQUEST_ID}`)
    const table = app.page.getByRole('table', { name: en('audit.call.corrections') })
    const row = await table.getByRole('row').last().textContent()
    for (const text of ['$0.00675', '$0.003376', '+$0.003374', 'root', 'twice too high']) {
      expect(row).toContain(text)
    }
    await app.page.getByText(en('audit.call.isCorrected'), { exact: true }).first().waitFor()
    if (original !== undefined) app.site.routes[route] = original
  })

  it('names the status of a task in the language of the page', async () => {
    const route = `GET /api/audit/calls/${REQUEST_ID}`
    const original = app.site.routes[route]
    const task = { id: 'task-7', status: 'SUCCESS', finished_at: NOW }
    app.site.routes[route] = () => ok({ ...EXPLAINED_CALL, task })
    const { zh: t } = TEXTS
    const { page } = await app.openPage({ language: 'zh' })
    await openAsRoot(page, app.site, `/app/calls/${REQUEST_ID}`)
    await page.getByText(`task-7 · ${t('shared.taskStatus.SUCCESS')}`).waitFor()
    if (original !== undefined) app.site.routes[route] = original
  })

  it('names each kind of usage and an anomaly in words, in the language of the page', async () => {
    const route = `GET /api/audit/calls/${REQUEST_ID}`
    const original = app.site.routes[route]
    const kinds = ['images', 'seconds', 'characters', 'searchUnits', 'reasoning'] as const
    const normalised = Object.fromEntries(kinds.map((kind) => [kind, 7]))
    const usage = { ...EXPLAINED_CALL.usage, normalised, anomaly: 'missing' }
    app.site.routes[route] = () => ok({ ...EXPLAINED_CALL, usage })
    const { zh: t } = TEXTS
    const { page } = await app.openPage({ language: 'zh' })
    await openAsRoot(page, app.site, `/app/calls/${REQUEST_ID}`)
    const panel = page.getByRole('region', { name: t('shared.usage'), exact: true })
    const words = t('audit.call.anomaly', { code: t('logDetails.anomaly.missing') })
    await panel.getByText(words).waitFor()
    const cells = await panel.getByRole('row').locator('td:first-child').allTextContents()
    expect(cells).toEqual(kinds.map((kind) => t(`audit.call.count.${kind}`)))
    if (original !== undefined) app.site.routes[route] = original
  })

  it('shows the uploaded file and the results of a batch, and says how many it lists', async () => {
    await app.openAsRoot(`/app/calls/${BATCH_ID}`)
    const attempt = section(en('audit.call.attempts')).getByRole('listitem')
    await attempt.getByText('f11ed00df11ed00d…').waitFor()
    const results = section(en('audit.call.results'))
    const rows = results.getByRole('row')
    await expect.poll(() => rows.count()).toBe(11)
    const texts = await rows.allTextContents()
    for (const text of ['1', '$0.00245', 'gpt-4o-2024-11-20', 'req_batch_0a1b2c…']) {
      expect(texts[1]).toContain(text)
    }
    expect(texts[1]).toContain('c0ffee42c0ffee42…')
    const other = en('audit.call.isOtherModel')
    expect(texts.map((text) => text.includes(other)).indexOf(true)).toBe(2)
    expect(texts.filter((text) => text.includes(other))).toHaveLength(1)
    // The third result has neither evidence nor usage.
    expect(texts[3]).toBe('4$0.002456––––')
    await results.getByText(en('audit.call.moreResults_other', { count: 90 })).click()
    await expect.poll(() => rows.count()).toBe(101)
    await results
      .getByText(en('audit.call.resultsListed', { listed: '100', billed: '238' }))
      .waitFor()
    const events = results.getByRole('link', { name: en('audit.call.resultsInEvents') })
    const link = new URL((await events.getAttribute('href')) ?? '', app.site.url)
    expect(Object.fromEntries(link.searchParams)).toEqual({
      ...{ stream: 'batch-batch_0191aa001b2c7000', position: '8300' },
    })
  })

  it('shows owners of a batch no columns that are empty for them', async () => {
    const route = `GET /api/audit/calls/${BATCH_ID}`
    const before = app.site.routes[route]
    const results = BATCH_CALL.batch?.results?.slice(0, 2).map(({ line, position, charge }) => ({
      ...{ line, position, charge, usage: null },
      evidence: { received: { bytes: 9, sha256: 'c0ffee42'.repeat(8) } },
    }))
    const batch = { ...BATCH_CALL.batch, billed_lines: 2, results }
    app.site.routes[route] = () => ok({ ...BATCH_CALL, batch })
    await app.openAsRoot(`/app/calls/${BATCH_ID}`)
    const heads = section(en('audit.call.results')).getByRole('columnheader')
    await expect
      .poll(() => heads.allTextContents())
      .toEqual(
        (
          [
            'audit.call.line',
            'audit.call.charge',
            'audit.call.resultDigest',
            'shared.usage',
          ] as const
        ).map((key) => en(key)),
      )
    await expect.poll(() => app.page.getByText(en('audit.call.isOtherModel')).count()).toBe(0)
    if (before !== undefined) app.site.routes[route] = before
  })

  it('opens from a row of the log and leads to a receipt that can be saved', async () => {
    await app.openAsRoot(`/app/logs/api-usage?request=${REQUEST_ID}`)
    await app.page.getByRole('link', { name: REQUEST_ID }).click()
    await app.page.waitForURL(`**/app/calls/${REQUEST_ID}`)
    await section(en('audit.receipt.title')).getByText('CallSettled').waitFor()
    const [download] = await Promise.all([
      app.page.waitForEvent('download'),
      app.page.getByRole('button', { name: en('audit.receipt.download') }).click(),
    ])
    expect(download.suggestedFilename()).toBe(`receipt-${REQUEST_ID}.json`)
    expect(JSON.parse(readFileSync(await download.path(), 'utf8'))).toEqual(RECEIPTS)
  })

  it('says what the receipts prove with and without witnesses, and what none proves', async () => {
    const receipts = section(en('audit.receipt.title'))
    const meaning = (status: 'final' | 'pending' | 'siteOnly') =>
      receipts.getByText(en(`audit.receipt.meaning.${status}`))
    await app.openAsRoot(`/app/calls/${REQUEST_ID}`)
    for (const status of ['final', 'pending'] as const) await meaning(status).waitFor()
    // What a receipt does not prove is visible without opening anything.
    await receipts.getByText(en('audit.receipt.limits')).waitFor()
    expect(await meaning('siteOnly').count()).toBe(0)
    const route = `GET /api/audit/receipts/${REQUEST_ID}`
    const before = app.site.routes[route]
    const items = RECEIPTS.items.slice(0, 1).map((one) => ({ ...one, cosignatures: [] }))
    app.site.routes[route] = () => ok({ ...RECEIPTS, items })
    await app.page.reload()
    await meaning('siteOnly').waitFor()
    expect(await meaning('final').count()).toBe(0)
    if (before !== undefined) app.site.routes[route] = before
  })

  it('shows why each attempt was made, and the arithmetic up to the charge', async () => {
    await app.openAsRoot(`/app/calls/${REQUEST_ID}`)
    const attempts = section(en('audit.call.attempts')).getByRole('listitem')
    await attempts.nth(1).getByText('req_8c1f7e3a90b24d56').or(attempts.nth(1)).first().waitFor()
    await expect
      .poll(() => attempts.nth(1).textContent())
      .toContain(en('audit.call.reason.another-channel'))
    const rows = section(en('audit.call.arithmetic')).getByRole('row')
    await expect.poll(() => rows.last().textContent()).toBe(`${en('audit.call.charge')}3,375`)
    await app.page.getByText(en('audit.call.exact')).waitFor()
  })

  it('leads to the log only if the viewer may read it', async () => {
    const link = app.page.getByRole('link', { name: en('audit.call.toLog') })
    await app.openAsRoot(`/app/calls/${REQUEST_ID}`)
    await link.waitFor()
    const route = `GET /api/audit/calls/${REQUEST_ID}`
    const before = app.site.routes[route]
    app.site.routes[route] = () =>
      ok({ ...EXPLAINED_CALL, links: { ...EXPLAINED_CALL.links, log: null } })
    await app.page.evaluate(
      (user) => localStorage.setItem('user', user),
      JSON.stringify(AUDITOR_USER),
    )
    await app.page.reload()
    await section(en('audit.call.attempts')).waitFor()
    await expect.poll(() => link.count()).toBe(0)
    if (before !== undefined) app.site.routes[route] = before
  })

  it('warns if the computed amount is not the charge', async () => {
    const arithmetic = { ...EXPLAINED_CALL.arithmetic, charge: 9_999, is_exact: false }
    const route = `GET /api/audit/calls/${REQUEST_ID}`
    const before = app.site.routes[route]
    app.site.routes[route] = () => ok({ ...EXPLAINED_CALL, arithmetic })
    await app.openAsRoot(`/app/calls/${REQUEST_ID}`)
    await app.page.getByText(en('audit.call.inexact', { computed: '3,375' })).waitFor()
    if (before !== undefined) app.site.routes[route] = before
  })

  it('opens another call from a pasted header, and says if there is none', async () => {
    await app.openAsRoot('/app/calls')
    const search = app.page.getByRole('textbox', { name: en('shared.requestId') })
    await search.fill(`X-Request-Id: ${UNKNOWN}`)
    await search.press('Enter')
    await app.page.getByText(en('audit.call.notFound')).waitFor()
    expect(new URL(app.page.url()).pathname).toBe(`/app/calls/${UNKNOWN}`)
  })
})

it('calls that another model answered are counted, and lead to their pages', async () => {
  const { page } = app
  await app.openAsRoot('/app/calls')
  const counts = page.getByRole('table', { name: en('audit.call.mismatch.byChannel') })
  await expect.poll(() => counts.textContent()).toContain('1,204')
  const grid = page.getByRole('grid', { name: en('audit.call.mismatch.title') })
  const row = grid.getByRole('row').filter({ hasText: 'gpt-4o-mini' })
  const billed = row.getByRole('gridcell', { name: 'gpt-4o', exact: true })
  await expect.poll(() => billed.count()).toBe(1)
  await counts.getByRole('button').click()
  const queries = () => app.calls('GET /api/audit/calls').map(({ query }) => query.get('channel'))
  await expect.poll(() => queries().at(-1)).toBe('3')
  await page
    .getByRole('combobox', { name: en('audit.call.mismatch.kind') })
    .selectOption('higher-cost')
  const anomaly = () => app.calls('GET /api/audit/calls').at(-1)?.query.get('anomaly')
  await expect.poll(anomaly).toBe('higher-cost')
  await row.getByRole('link', { name: REQUEST_ID }).click()
  await section(en('audit.call.attempts')).waitFor()
})

it('a receipt is saved with the proof that it continues an earlier one', async () => {
  const { page } = app
  await app.openAsRoot(`/app/calls/${REQUEST_ID}`)
  await page.getByText(en('audit.receipt.check')).click()
  const input = page.getByLabel(en('audit.receipt.earlier'))
  const choose = (value: unknown) =>
    input.setInputFiles({
      ...{ name: 'earlier.json', mimeType: 'application/json' },
      buffer: Buffer.from(JSON.stringify(value)),
    })
  await choose({ items: [] })
  await page.getByText(en('audit.receipt.notReceipt')).waitFor()
  const inclusion = (size: number) => ({ inclusion: { tree_size: size } })
  const items = [inclusion(4_711), { inclusion: null }, inclusion(4_705)]
  const [download] = await Promise.all([page.waitForEvent('download'), choose({ items })])
  expect(download.suggestedFilename()).toBe(`receipt-${REQUEST_ID}-since-4711.json`)
  expect(JSON.parse(readFileSync(await download.path(), 'utf8'))).toEqual(RECEIPTS)
  const calls = app.calls(`GET /api/audit/receipts/${REQUEST_ID}`)
  expect(calls.at(-1)?.query.get('since_size')).toBe('4711')
})
