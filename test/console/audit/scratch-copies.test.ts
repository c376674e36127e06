import { expect, it } from 'vitest'
import type { ScratchCopy } from '#read-api/contract/scratch-copies.ts'
import { en, TEXTS } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults } from '../support/accessibility-faults.ts'
import { openAsRoot, startAdminSite } from '../support/admin-site.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { type FakeCall, ok } from '../support/fake-site.ts'
import { AUDITOR_USER, NOW } from './audit-samples.ts'

const PATH = '/app/audit/proofs?tab=copies'

const copy = (id: string, patch: Partial<ScratchCopy> = {}): ScratchCopy => ({
  ...{ id, requested_by: 1, status: 'ready', position: 1_204_117, as_of: NOW - 7_200 },
  ...{ requested_at: NOW - 600, finished_at: NOW - 500, expires_at: NOW + 80_000 },
  ...{ bytes: 1_310_000_000, progress: null, ...patch },
})
const READY = copy('11111111-2222-3333-4444-555555555555')
const BUILDING = copy('22222222-2222-3333-4444-555555555555', {
  ...{ status: 'building', bytes: null, finished_at: null, requested_by: 2 },
  progress: { stage: 'events', done: 400_000, total: 1_204_551, seconds_left: 95 },
})
const ENDED = [
  copy('3', { status: 'erased', position: 900_000 }),
  copy('4', { status: 'expired', position: 800_000 }),
]
const answer = (items: readonly ScratchCopy[]) => () =>
  ok({ items, max: 2, kept_hours: 24, head: 1_204_551 })

const app = pageFixture({
  startSite: () =>
    startAdminSite({
      'GET /api/audit/scratch-copies': answer([BUILDING, READY, ...ENDED]),
    }),
})

it.each(LANGUAGES)('the list of copies has no accessibility fault in %s', async (language) => {
  const { page } = await app.openPage({ language })
  await openAsRoot(page, app.site, PATH)
  await page.getByRole('button', { name: TEXTS[language]('audit.copies.open') }).waitFor()
  expect(await lookFaults(page, `audit-copies-${language}`)).toEqual([])
})

it.each(LANGUAGES)('the banner of a copy has no accessibility fault in %s', async (language) => {
  const t = TEXTS[language]
  const { page } = await app.openPage({ language })
  await openAsRoot(page, app.site, PATH)
  await page.getByRole('button', { name: t('audit.copies.open') }).click()
  await page.getByRole('button', { name: t('shell.copyLeave') }).waitFor()
  await page.goto(`${app.site.url}/admin/users`)
  await page.getByRole('grid').waitFor()
  expect(await lookFaults(page, `copy-users-${language}`)).toEqual([])
  await page.goto(`${app.site.url}/admin/messages`)
  await page.getByText(t('shell.copyLacksPage')).waitFor()
  expect(await lookFaults(page, `copy-lacks-${language}`)).toEqual([])
})

it('a copy is requested as of an event or a time, and at most two exist', async () => {
  const items: ScratchCopy[] = []
  app.site.routes['GET /api/audit/scratch-copies'] = () => answer(items)()
  let requested = 0
  app.site.routes['POST /api/audit/scratch-copies'] = () => {
    requested += 1
    if (requested === 2) items.push(READY, BUILDING)
    return ok({ id: READY.id })
  }
  await app.openAsRoot(`${PATH}&before=501`)
  const create = app.page.getByRole('button', { name: en('audit.copies.create') })
  const last = app.page.getByRole('textbox', { name: en('audit.copies.lastPosition') })
  await expect.poll(() => last.inputValue()).toBe('500')
  await last.fill('1204552')
  await expect.poll(() => create.isDisabled()).toBe(true)
  await last.fill('500')
  await create.click()
  await expect
    .poll(() => app.bodies('POST /api/audit/scratch-copies'))
    .toEqual([{ position: 500, time: null }])
  await app.page
    .getByRole('combobox', { name: en('audit.copies.moment') })
    .selectOption({ label: en('audit.copies.byTime') })
  await app.page.getByLabel(en('shared.time')).fill('2026-11-21T08:30')
  await create.click()
  await expect.poll(() => app.bodies('POST /api/audit/scratch-copies')).toHaveLength(2)
  const [, { time }] = app.bodies('POST /api/audit/scratch-copies') as [unknown, { time: number }]
  expect(time % 60).toBe(59)
  await app.page.getByRole('button', { name: en('audit.copies.open') }).waitFor()
  await expect.poll(() => create.isDisabled()).toBe(true)
})

it('the dashboard of an auditor without calls is not blank in a copy', async () => {
  const self = app.site.routes['GET /api/user/self']
  const logs = app.site.routes['GET /api/log/self/']
  app.site.routes['GET /api/user/self'] = () => ok({ ...AUDITOR_USER, request_count: 0 })
  app.site.routes['GET /api/log/self/'] = () => ok({ items: [], page: 0, total: 0 })
  await app.page.addInitScript(
    (user) => localStorage.setItem('user', user),
    JSON.stringify(AUDITOR_USER),
  )
  await app.page.goto(app.site.url + PATH)
  await app.page.getByRole('button', { name: en('audit.copies.open') }).click()
  await app.page.getByRole('button', { name: en('shell.copyLeave') }).waitFor()
  await app.page.goto(`${app.site.url}/app/dashboard`)
  await app.page.getByText(en('dashboard.noCalls')).waitFor()
  const link = app.page.getByRole('link', { name: en('dashboard.toPlayground') })
  await expect.poll(() => link.count()).toBe(0)
  if (self !== undefined) app.site.routes['GET /api/user/self'] = self
  if (logs !== undefined) app.site.routes['GET /api/log/self/'] = logs
})

it('an open copy is named in every request but the logout, and nothing is live', async () => {
  const headers: (string | undefined)[] = []
  let sockets = 0
  app.page.on('request', (request) => {
    if (request.url().includes('/api/')) headers.push(request.headers()['x-scratch-copy'])
  })
  await app.openAsRoot(PATH)
  await app.page.getByRole('button', { name: en('audit.copies.open') }).click()
  await app.page.getByRole('button', { name: en('shell.copyLeave') }).waitFor()
  headers.length = 0
  app.page.on('websocket', () => {
    sockets += 1
  })
  await app.page.goto(`${app.site.url}/admin/users`)
  await app.page.getByRole('grid').waitFor()
  expect(headers.length).toBeGreaterThan(1)
  expect(new Set(headers)).toEqual(new Set([READY.id]))
  expect(sockets).toBe(0)
  const logout: (string | undefined)[] = []
  app.site.routes['GET /api/user/logout'] = (_call: FakeCall) => ok(null)
  app.page.on('request', (request) => {
    if (request.url().endsWith('/api/user/logout')) logout.push(request.headers()['x-scratch-copy'])
  })
  await app.page.getByRole('button', { name: en('shell.account') }).click()
  await app.page.getByRole('menuitem', { name: en('shell.logout') }).click()
  await expect.poll(() => logout).toEqual([undefined])
})
