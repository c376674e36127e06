import { describe, expect, it } from 'vitest'
import { en, TEXTS } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults, WIDTHS } from '../support/accessibility-faults.ts'
import { openAsRoot, startAdminSite } from '../support/admin-site.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { type FakeCall, ok } from '../support/fake-site.ts'
import { AUDITOR_USER, NOW } from './audit-samples.ts'
import {
  ACCOUNT_NAMES,
  correction,
  DIFFERENT,
  INTERRUPTED,
  PREVIEW,
  RECOMPUTATION,
  REPRICING,
} from './reconciliation-samples.ts'

const PATH = '/app/audit/reconciliation'
const TODAY = { ModelRatio: '{"gpt-4o":1.25,"o3":1}', GroupRatio: '{"default":1,"vip":0.8}' }
const PRICE = {
  ...{ mode: 'tokens', model: '1.25', completion: '4', cacheRead: '0.5', cacheWrite: '1.25' },
}

const price = ({ query }: FakeCall) =>
  ok({
    ...{ position: 90, at: NOW, model: query.get('model'), group: 'default', in_force: [] },
    price: query.get('model') === 'dall-e-3' ? { mode: 'call', price: '0.04' } : PRICE,
  })

const app = pageFixture({
  startSite: () =>
    startAdminSite({
      'GET /api/audit/accounts': () => ok({ items: ACCOUNT_NAMES, next_cursor: null }),
      'POST /api/audit/recompute': () => ok(DIFFERENT),
      'POST /api/audit/reprice': () => ok(REPRICING),
      'POST /api/audit/corrections/preview': () => ok(PREVIEW),
      'POST /api/audit/corrections': () =>
        ok({ id: 'c1', calls: 9_120, accounts: 2, applied: { calls: 9_119 }, failed: [] }),
      'GET /api/audit/corrections': () =>
        ok({ items: [INTERRUPTED, correction('c1')], next_cursor: null }),
      'GET /api/audit/state/prices/site': () =>
        ok({ position: 90, at: NOW, kind: 'prices', id: 'site', state: TODAY }),
      'GET /api/audit/prices': price,
    }),
})

const button = (name: string) => app.page.getByRole('button', { name, exact: true })
const addModel = async (model: string): Promise<void> => {
  await app.page.getByRole('combobox', { name: en('reconciliation.whatIf.model') }).fill(model)
  await app.page.keyboard.press('Enter')
  await app.page.getByRole('table').getByRole('row', { name: model }).waitFor()
}
const lastPrices = () => {
  const { prices } = app.bodies('POST /api/audit/reprice').at(-1) as {
    prices: Record<string, string>
  }
  return Object.fromEntries(
    Object.entries(prices).map(([option, text]) => [option, JSON.parse(text) as unknown]),
  )
}
const openAsAuditor = async (path: string): Promise<void> => {
  await app.page.addInitScript(
    (user) => localStorage.setItem('user', user),
    JSON.stringify(AUDITOR_USER),
  )
  await app.page.goto(app.site.url + path)
  await app.page.getByRole('heading', { level: 1 }).waitFor()
}

describe.each(LANGUAGES)('the page of reconciliation in %s', (language) => {
  it('has no accessibility fault', async () => {
    const t = TEXTS[language]
    const { page } = await app.openPage({ language })
    await openAsRoot(page, app.site, `${PATH}?model=gpt-4o`)
    const run = (name: string) => page.getByRole('button', { name, exact: true }).click()
    await run(t('reconciliation.recompute.run'))
    await page.getByRole('table').waitFor()
    expect(await lookFaults(page, `reconciliation-recompute-${language}`)).toEqual([])
    await page.getByRole('tab', { name: t('reconciliation.tab.whatIf') }).click()
    for (const model of ['gpt-4o', 'dall-e-3']) {
      await page.getByRole('combobox', { name: t('reconciliation.whatIf.model') }).fill(model)
      await page.keyboard.press('Enter')
      await page.getByRole('row', { name: model }).waitFor()
    }
    await run(t('reconciliation.whatIf.run'))
    await page.getByRole('table', { name: t('shared.byUser') }).waitFor()
    expect(await lookFaults(page, `reconciliation-what-if-${language}`)).toEqual([])
  })

  it('has no accessibility fault in corrections', async () => {
    const t = TEXTS[language]
    const { page } = await app.openPage({ language })
    await openAsRoot(page, app.site, `${PATH}?tab=corrections`)
    await page.getByRole('row').filter({ hasText: 'dall-e-3' }).click()
    await page.getByText(t('reconciliation.correction.unfinishedHint')).waitFor()
    expect(await lookFaults(page, `corrections-${language}`)).toEqual([])
    await page.goto(`${app.site.url}${PATH}?tab=corrections&new=1&model=gpt-4o`)
    await page.getByRole('textbox', { name: t('shared.factor.model') }).fill('1.25')
    await page.getByRole('button', { name: t('shared.preview'), exact: true }).click()
    await page.getByRole('table', { name: t('reconciliation.correction.calls') }).waitFor()
    expect(await lookFaults(page, `correction-preview-${language}`)).toEqual([])
    await page.getByRole('button', { name: t('reconciliation.correction.apply') }).click()
    await page.getByRole('alertdialog').waitFor()
    const part = '[role="alertdialog"]'
    expect(await lookFaults(page, `correction-apply-${language}`, WIDTHS, part)).toEqual([])
  })
})

describe('a recomputation', () => {
  it('sends the scope of the address, and lists differences with links to the calls', async () => {
    await app.openAsRoot(`${PATH}?range=1700000000-1700003599&model=gpt-4o&channel=3&user=7`)
    await button(en('reconciliation.recompute.run')).click()
    await app.page
      .getByText(en('reconciliation.recompute.different_other', { number: '2' }))
      .waitFor()
    expect(app.bodies('POST /api/audit/recompute')).toEqual([
      { from: 1_700_000_000, to: 1_700_003_599, model: 'gpt-4o', channel_id: 3, user_id: 7 },
    ])
    const id = DIFFERENT.differences[0]?.request_id ?? ''
    const link = app.page.getByRole('link', { name: id })
    await expect.poll(() => link.getAttribute('href')).toBe(`/app/calls/${id}`)
  })

  it('reads a long period part by part and adds the parts', async () => {
    app.site.routes['POST /api/audit/recompute'] = ({ body }) =>
      ok({ ...RECOMPUTATION, next_cursor: (body as { cursor?: string }).cursor ? null : '4000' })
    await app.openAsRoot(PATH)
    await button(en('reconciliation.recompute.run')).click()
    await app.page
      .getByText(en('reconciliation.recompute.clean_other', { calls: '36,408' }))
      .waitFor()
    const bodies = app.bodies('POST /api/audit/recompute') as { cursor?: string; to: number }[]
    expect(bodies.map(({ cursor }) => cursor)).toEqual([undefined, '4000'])
    expect(bodies[0]?.to).toBe(bodies[1]?.to)
  })

  it('can be stopped, and then says that its figures are incomplete', async () => {
    app.site.routes['POST /api/audit/recompute'] = async ({ body }) => {
      if ((body as { cursor?: string }).cursor !== undefined) await new Promise(() => {})
      return ok({ ...RECOMPUTATION, next_cursor: '4000' })
    }
    await app.openAsRoot(PATH)
    await button(en('reconciliation.recompute.run')).click()
    await app.page.getByText(en('reconciliation.scan.running_other', { calls: '18,204' })).waitFor()
    await button(en('shared.stop')).click()
    await app.page.getByText(en('reconciliation.scan.stopped')).waitFor()
  })

  it('explains an empty period', async () => {
    app.site.routes['POST /api/audit/recompute'] = () => ok({ ...RECOMPUTATION, calls: 0 })
    await app.openAsRoot(PATH)
    await button(en('reconciliation.recompute.run')).click()
    await app.page.getByText(en('reconciliation.scan.noCallsLead')).waitFor()
  })
})

describe('a what-if', () => {
  it('starts from the current prices and sends them with the changed entries', async () => {
    await app.openAsRoot(`${PATH}?tab=whatIf`)
    await addModel('gpt-4o')
    const ratio = app.page.getByRole('textbox', { name: `gpt-4o: ${en('shared.factor.model')}` })
    await expect.poll(() => ratio.inputValue()).toBe('1.25')
    await ratio.fill('2.5')
    await app.page.getByText(en('reconciliation.whatIf.changes_one', { count: 1 })).waitFor()
    await button(en('reconciliation.whatIf.run')).click()
    await app.page.getByRole('table', { name: en('shared.byModel') }).waitFor()
    expect(lastPrices()).toEqual({ ModelRatio: { 'gpt-4o': 2.5, o3: 1 } })
    const row = app.page.getByRole('row').filter({ hasText: 'claude-sonnet-4-5' })
    await expect.poll(() => row.getByRole('link').count()).toBe(0)
    const correct = app.page.getByRole('link', {
      name: en('reconciliation.whatIf.correctModel', { model: 'o3' }),
    })
    await correct.click()
    await app.page.getByText(en('reconciliation.correction.newLead')).waitFor()
    const model = app.page.getByRole('combobox', { name: en('ui.model') })
    await expect.poll(() => model.inputValue()).toBe('o3')
  })

  it('opens a correction with the draft prices of the model, which were computed', async () => {
    await app.openAsRoot(`${PATH}?tab=whatIf`)
    await addModel('o3')
    const ratio = app.page.getByRole('textbox', { name: `o3: ${en('shared.factor.model')}` })
    await expect.poll(() => ratio.inputValue()).toBe('1.25')
    await ratio.fill('0.5')
    await app.page.getByText(en('reconciliation.whatIf.json'), { exact: true }).click()
    await app.page
      .getByRole('textbox', { name: en('reconciliation.whatIf.jsonLabel') })
      .fill('{"AudioRatio":{"o3":0.0000001,"other":9},"ImageRatio":{"o3":null}}')
    await button(en('reconciliation.whatIf.run')).click()
    const name = en('reconciliation.whatIf.correctModel', { model: 'o3' })
    await app.page.getByRole('link', { name }).click()
    await app.page.getByText(en('reconciliation.correction.newLead')).waitFor()
    await button(en('shared.preview')).click()
    await expect.poll(() => app.bodies('POST /api/audit/corrections/preview').length).toBe(1)
    const [body] = app.bodies('POST /api/audit/corrections/preview')
    const price = { model_ratio: '0.5', audio_ratio: '0.0000001' }
    expect(body).toMatchObject({ model: 'o3', price })
    expect(Object.keys((body as { price: object }).price)).toHaveLength(2)
    // The prices of the draft are not those of another model. What the admin enters stays.
    const field = (factor: 'model' | 'audio' | 'cacheRead') =>
      app.page.getByRole('textbox', { name: en(`shared.factor.${factor}`), exact: true })
    await field('cacheRead').fill('0.1')
    await app.page.getByRole('combobox', { name: en('ui.model') }).fill('gpt-4o')
    const prices = async () =>
      Promise.all(
        [field('model'), field('audio'), field('cacheRead')].map((one) => one.inputValue()),
      )
    await expect.poll(prices).toEqual(['', '', '0.1'])
  })

  it('shows users by name, which it reads for all rows at once', async () => {
    await app.openAsRoot(`${PATH}?tab=whatIf`)
    await button(en('reconciliation.whatIf.run')).click()
    const users = app.page.getByRole('table', { name: en('shared.byUser') })
    await users.getByRole('link', { name: 'mei (#9)', exact: true }).waitFor()
    await users.getByRole('link', { name: en('audit.erasedUser', { id: 7 }) }).waitFor()
    const cursors = app.calls('GET /api/audit/accounts').map(({ query }) => query.get('cursor'))
    expect(cursors.filter((cursor) => cursor === '10')).toHaveLength(1)
  })

  it('merges pasted prices, removes entries that are null, replaces other options', async () => {
    await app.openAsRoot(`${PATH}?tab=whatIf`)
    await app.page.getByText(en('reconciliation.whatIf.json'), { exact: true }).click()
    const json = app.page.getByRole('textbox', { name: en('reconciliation.whatIf.jsonLabel') })
    await json.fill('{"ModelRatio":')
    await app.page.getByText(en('reconciliation.whatIf.jsonInvalid')).waitFor()
    await expect.poll(() => button(en('reconciliation.whatIf.run')).isDisabled()).toBe(true)
    await json.fill('{"ModelRatio":{"o3":null,"new":3},"GroupRatio":{"default":2}}')
    await button(en('reconciliation.whatIf.run')).click()
    await app.page.getByRole('table', { name: en('shared.byModel') }).waitFor()
    expect(lastPrices()).toEqual({
      ModelRatio: { 'gpt-4o': 1.25, new: 3 },
      GroupRatio: { default: 2 },
    })
  })

  it('offers dollars for a price per call, and refuses what is no number', async () => {
    await app.openAsRoot(`${PATH}?tab=whatIf`)
    await addModel('dall-e-3')
    const inputs = app.page.getByRole('row', { name: 'dall-e-3' }).getByRole('textbox')
    await expect.poll(() => inputs.count()).toBe(1)
    await inputs.fill('-1')
    await expect.poll(() => inputs.getAttribute('aria-invalid')).toBe('true')
    await expect.poll(() => button(en('reconciliation.whatIf.run')).isDisabled()).toBe(true)
  })
})

describe('a correction', () => {
  it('is previewed, and applied with a reason after the totals are confirmed', async () => {
    await app.openAsRoot(`${PATH}?tab=corrections&range=1700000000-1700003599`)
    await button(en('reconciliation.correction.create')).click()
    await app.page.getByRole('combobox', { name: en('ui.model') }).fill('gpt-4o')
    const preview = button(en('shared.preview'))
    await preview.click()
    await app.page.getByText(en('reconciliation.correction.priceMissing')).waitFor()
    const ratio = app.page.getByRole('textbox', { name: en('shared.factor.model') })
    await ratio.fill('0.625')
    await preview.click()
    await app.page.getByRole('table', { name: en('reconciliation.correction.byUser') }).waitFor()
    expect(app.bodies('POST /api/audit/corrections/preview')).toEqual([
      { from: 1_700_000_000, to: 1_700_003_599, model: 'gpt-4o', price: { model_ratio: '0.625' } },
    ])
    await app.page.getByText(en('reconciliation.correction.skip.batch')).first().waitFor()
    await button(en('reconciliation.correction.apply')).click()
    const dialog = app.page.getByRole('alertdialog')
    await dialog.getByText('$31.25').waitFor()
    const submit = dialog.getByRole('button', { name: en('reconciliation.correction.applySubmit') })
    await submit.click()
    await dialog.getByText(en('shared.error.reasonMissing')).waitFor()
    expect(app.bodies('POST /api/audit/corrections')).toEqual([])
    await dialog.getByRole('textbox').fill('ratio twice too high')
    await submit.click()
    await expect
      .poll(() => app.bodies('POST /api/audit/corrections'))
      .toEqual([{ preview: 'preview-text', reason: 'ratio twice too high' }])
    await app.page.getByRole('grid').getByText('gpt-4o').waitFor()
    await expect.poll(() => new URL(app.page.url()).searchParams.get('new')).toBeNull()
  })

  it('lists the calls with the largest changes first, and all of them on request', async () => {
    const [one] = PREVIEW.largest
    const largest = Array.from({ length: 100 }, (_, n) => ({ ...one, request_id: `call-${n}` }))
    app.site.routes['POST /api/audit/corrections/preview'] = () => ok({ ...PREVIEW, largest })
    await app.openAsRoot(`${PATH}?tab=corrections&new=1&model=gpt-4o`)
    await app.page.getByRole('textbox', { name: en('shared.factor.model') }).fill('0.625')
    await button(en('shared.preview')).click()
    const table = app.page.getByRole('table', { name: en('reconciliation.correction.calls') })
    const links = table.getByRole('link', { name: /^call-/ })
    await expect.poll(() => links.count()).toBe(20)
    await button(en('audit.history.showAll', { number: '100' })).click()
    await expect.poll(() => links.count()).toBe(100)
  })

  it('cannot be applied with a preview of other values', async () => {
    await app.openAsRoot(`${PATH}?tab=corrections&new=1&model=gpt-4o`)
    const ratio = app.page.getByRole('textbox', { name: en('shared.factor.model') })
    await ratio.fill('0.625')
    await button(en('shared.preview')).click()
    const apply = button(en('reconciliation.correction.apply'))
    await apply.waitFor()
    await ratio.fill('0.5')
    await apply.waitFor({ state: 'detached' })
  })

  it('that was interrupted is continued with its own preview', async () => {
    await app.openAsRoot(`${PATH}?tab=corrections`)
    await app.page.getByRole('row').filter({ hasText: 'dall-e-3' }).click()
    await button(en('reconciliation.correction.continue')).click()
    await expect
      .poll(() => app.bodies('POST /api/audit/corrections'))
      .toEqual([{ preview: 'preview-of-c2', reason: INTERRUPTED.reason }])
  })

  it('asks for a proof of identity if the login is not recent', async () => {
    app.site.routes['POST /api/audit/corrections'] = () => ({
      status: 403,
      body: { success: false, message: 'prove it', code: 'ProofNotRecent', data: null },
    })
    app.site.routes['GET /api/user/security'] = () =>
      ok({ access_token: null, totp_since: null, recovery_codes: 0, passkeys: [] })
    await app.openAsRoot(`${PATH}?tab=corrections`)
    await app.page.getByRole('row').filter({ hasText: 'dall-e-3' }).click()
    await button(en('reconciliation.correction.continue')).click()
    await app.page.getByRole('dialog', { name: en('credentials.proofTitle') }).waitFor()
  })
})

describe('an auditor', () => {
  it('sees everything and finds no button that changes something', async () => {
    await openAsAuditor(`${PATH}?tab=corrections&new=1`)
    await app.page.getByRole('row').filter({ hasText: 'dall-e-3' }).click()
    await app.page.getByText(en('reconciliation.correction.unfinishedHint')).waitFor()
    await expect.poll(() => button(en('reconciliation.correction.create')).count()).toBe(0)
    await expect.poll(() => button(en('shared.preview')).count()).toBe(0)
    await expect.poll(() => button(en('reconciliation.correction.continue')).count()).toBe(0)
    await app.page.getByRole('tab', { name: en('reconciliation.tab.whatIf') }).click()
    await button(en('reconciliation.whatIf.run')).click()
    await app.page.getByRole('table', { name: en('shared.byModel') }).waitFor()
    await expect
      .poll(() => app.page.getByText(en('reconciliation.whatIf.correct'), { exact: true }).count())
      .toBe(0)
  })
})
