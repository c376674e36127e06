import { beforeEach, describe, expect, it } from 'vitest'
import type { LogEntry } from '#read-api/contract/logs.ts'
import { en, startingWith, textPattern } from '#test/support/console-texts.ts'
import { AUDITOR_USER, EXPLAINED_CALL, REQUEST_ID } from '../audit/audit-samples.ts'
import { axeFaults } from '../support/axe.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { type FakeSite, ok, startFakeSite } from '../support/fake-site.ts'
import { takePicture } from '../support/open-page.ts'
import { enter, logRoutes, logRow, manyRows } from './fake-usage-log.ts'

const PATH = '/app/logs/api-usage'
const MONTH_SECONDS = 31 * 86_400
const OLD = logRow(900, {
  request_id: '0191aa00-1b2c-7000-8000-0123456789ab',
  created_at: Math.floor(Date.now() / 1_000) - 3 * MONTH_SECONDS,
  model_name: 'o4-mini',
})

/** Finds calls by the beginning of their id, within the requested time range. */
async function startSearchSite(): Promise<FakeSite> {
  const calls = [...manyRows(30), OLD]
  const site = await startFakeSite(logRoutes(() => calls))
  const list = site.routes['GET /api/log/']
  site.routes['GET /api/log/'] = (call) => {
    const idStart = call.query.get('request_id')
    if (idStart === null) return list?.(call) ?? ok(null)
    const isInTime = (row: LogEntry) =>
      row.created_at >= Number(call.query.get('start_timestamp') ?? 0)
    const items = calls.filter((row) => row.request_id.startsWith(idStart)).filter(isInTime)
    return ok({ items: items.slice(0, 10), page: 0, total: items.length })
  }
  return site
}

const app = pageFixture({ startSite: startSearchSite, isSiteShared: true })

beforeEach(async () => {
  await app.page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
})

const openLog = async (query = '') => {
  await enter(app.page, `${app.site.url}${PATH}${query}`, { language: 'en' })
  await app.page.locator('.tg-grid-item, .tg-empty').first().waitFor()
}
const search = () => app.page.getByRole('searchbox', { name: en('usageLog.findRequest') })
const rows = () =>
  app.page
    .getByRole('grid')
    .getByRole('row')
    .filter({ has: app.page.locator('time') })
const details = () => app.page.getByRole('region', { name: en('logDetails.fact.title') })

/** Pastes the whole text in one step, as a user does. */
async function paste(text: string): Promise<void> {
  await app.page.evaluate((value) => navigator.clipboard.writeText(value), text)
  await app.page.keyboard.press('Control+v')
}

describe('the search of the usage log', () => {
  it('finds the call of a pasted header in any time range', async () => {
    await openLog('?range=1h')
    await app.page.keyboard.press('/')
    await paste(`X-Request-Id: ${OLD.request_id.toUpperCase()}`)
    await details().getByText(OLD.request_id).waitFor()
    await expect.poll(() => rows().count()).toBe(1)
    await expect.poll(() => search().inputValue()).toBe(OLD.request_id)
    await expect
      .poll(() => app.page.getByRole('button', { name: en('usageLog.anyTime') }).isDisabled())
      .toBe(true)
    expect(await axeFaults(app.page)).toEqual([])
    await takePicture(app.page, 'log-find-call')
    await search().fill('')
    await expect.poll(() => rows().count()).toBeGreaterThan(1)
    await app.page.getByRole('button', { name: startingWith(en('shared.timeRange')) }).waitFor()
  })

  it('lists calls with the same first characters, and says how many it needs', async () => {
    await openLog()
    await search().fill('0199a')
    await app.page.keyboard.press('Enter')
    await app.page.getByRole('alert').getByText(en('usageLog.requestIdInvalid')).waitFor()
    await search().fill('0199aa00')
    await app.page.keyboard.press('Enter')
    await expect.poll(() => rows().count()).toBe(10)
    await expect.poll(() => details().count()).toBe(0)
  })

  it('shows a message when there is no such call', async () => {
    await openLog()
    await search().fill('0199ffff-0000')
    await app.page.keyboard.press('Enter')
    await app.page.getByText(en('usageLog.noRequest')).waitFor()
    await takePicture(app.page, 'log-find-call-none')
    await app.page
      .getByRole('button', { name: textPattern('en', 'usageLog.clear') })
      .last()
      .click()
    await expect.poll(() => rows().count()).toBeGreaterThan(1)
  })
})

describe('the command palette', () => {
  it('opens the page of a call by its pasted request id', async () => {
    await enter(app.page, `${app.site.url}${PATH}?range=1h`, { language: 'en' })
    await rows().first().waitFor()
    await app.page.keyboard.press('Control+k')
    await app.page
      .getByRole('dialog', { name: en('commands.palette') })
      .getByRole('combobox')
      .waitFor()
    await paste(OLD.request_id)
    const call = { id: '0191aa00-1b2c…89ab', model: 'o4-mini' }
    const name = textPattern('en', 'commands.openCall', call)
    const option = app.page.getByRole('option', { name })
    await option.waitFor()
    await takePicture(app.page, 'palette-find-call')
    await app.page.keyboard.press('Enter')
    await app.page.waitForURL(`**/app/calls/${OLD.request_id}`)
  })

  it('finds the call of another user for an auditor, who may not read the log', async () => {
    const path = `GET /api/audit/calls/${REQUEST_ID}`
    app.site.routes[path] = () => ok(EXPLAINED_CALL)
    await enter(app.page, `${app.site.url}/app/calls`, { language: 'en' }, AUDITOR_USER)
    await app.page.getByRole('textbox', { name: en('shared.requestId') }).waitFor()
    await app.page.keyboard.press('Control+k')
    await app.page
      .getByRole('dialog', { name: en('commands.palette') })
      .getByRole('combobox')
      .fill(REQUEST_ID)
    const call = { id: '0191aa00-1b2c…89ab', model: EXPLAINED_CALL.model }
    const name = textPattern('en', 'commands.openCall', call)
    await app.page.getByRole('option', { name }).waitFor()
    await app.page.keyboard.press('Enter')
    await app.page.waitForURL(`**/app/calls/${REQUEST_ID}`)
    delete app.site.routes[path]
  })
})

describe('the channel in the details of a call', () => {
  it('is shown by name, and links to its form', async () => {
    await openLog(`?request=${OLD.request_id}`)
    const link = details().getByRole('link', { name: 'OpenAI main' })
    await link.waitFor()
    await expect.poll(() => link.getAttribute('href')).toBe('/channel/edit/1')
  })
})

it('an empty list offers to show the failed attempts on the channel instead', async () => {
  const list = app.site.routes['GET /api/log/']
  app.site.routes['GET /api/log/'] = () => ok({ items: [], page: 0, total: 0 })
  await openLog('?type=6&channel=2&range=1h')
  await app.page.getByText(en('usageLog.emptyRetriedBody')).waitFor()
  await app.page.getByRole('button', { name: en('usageLog.showFailedAttempts') }).click()
  await app.page.waitForURL(/failed_channel=2/)
  const { searchParams } = new URL(app.page.url())
  expect([searchParams.get('type'), searchParams.get('channel')]).toEqual([null, null])
  if (list !== undefined) app.site.routes['GET /api/log/'] = list
})
