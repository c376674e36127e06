import { describe, expect, it } from 'vitest'
import { withLiveActs } from '#console/features/audit/log/use-live-acts.ts'
import type { ActName } from '#read-api/contract/audit-act-names.ts'
import type { AuditAct } from '#read-api/contract/audit-log.ts'
import { en, TEXTS } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults } from '../support/accessibility-faults.ts'
import { openAsRoot, startAdminSite } from '../support/admin-site.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { fakeLive } from '../support/fake-live-socket.ts'
import { ok } from '../support/fake-site.ts'
import { NOW } from './audit-samples.ts'

const REFILL: AuditAct = {
  ...{ position: 812, created_at: NOW - 60, act: 'quota-granted', reason: 'apology' },
  is_reason_erased: false,
  actor: { kind: 'user', id: '1', name: 'root' },
  object: { kind: 'user', id: '7', name: 'mia' },
  ...{ before: { quota: 1_000 }, after: { quota: 501_000 }, client_ip: '203.0.113.7' },
  request_id: '0191aa00-1b2c-7000-8000-0123456789ab',
}

const app = pageFixture({
  isSiteShared: true,
  startSite: () =>
    startAdminSite({ 'GET /api/audit/log': () => ok({ items: [REFILL], next_cursor: null }) }),
})

describe.each(LANGUAGES)('the audit log in %s', (language) => {
  it('has no accessibility fault', async () => {
    const t = TEXTS[language]
    const { page } = await app.openPage({ language })
    await openAsRoot(page, app.site, '/app/audit/log')
    const grid = page.getByRole('grid', { name: t('shell.auditLog') })
    await grid
      .getByRole('row')
      .filter({ hasText: t('auditActs.quota-granted') })
      .click()
    await page.getByRole('table', { name: t('audit.history.changes') }).waitFor()
    expect(await lookFaults(page, `audit-log-${language}`)).toEqual([])
  })
})

it('a refill shows who, to whom, before, after and why', async () => {
  await app.openAsRoot('/app/audit/log?object=user:7')
  const row = app.page.getByRole('row').filter({ hasText: en('auditActs.quota-granted') })
  for (const text of ['root', 'mia (#7)', 'apology']) {
    await expect.poll(() => row.textContent()).toContain(text)
  }
  await row.click()
  const changes = app.page.getByRole('table', { name: en('audit.history.changes') })
  const cells = changes.getByRole('row').last().getByRole('cell')
  await expect
    .poll(() => cells.allTextContents())
    .toEqual(['quota', '1000 ($0.002)', '501000 ($1.002)'])
  expect(app.calls('GET /api/audit/log').at(-1)?.query.get('object')).toBe('user:7')
})

it('a fixed range includes its last second', async () => {
  const query = (route: string, name: string) => app.calls(route).at(-1)?.query.get(name)
  await app.openAsRoot('/app/audit/log?range=1700000000-1700003599')
  await expect.poll(() => query('GET /api/audit/log', 'from')).toBe('1700000000')
  // The audit log and the ledger leave out the second `to`.
  expect(query('GET /api/audit/log', 'to')).toBe('1700003600')
})

it('a correction shows its price, sums and period, and leads to its event', async () => {
  const route = app.site.routes['GET /api/audit/log']
  const act: AuditAct = {
    ...{ ...REFILL, act: 'correction-started', before: null, reason: 'twice too high' },
    object: { kind: 'correction', id: 'c1', name: '' },
    after: {
      ...{ model: 'gpt-4o', group: null, from: 1_795_000_000, to: 1_795_248_000 },
      ...{ price: { model: '1.25' }, calls: 2, accounts: 1, refunded: 1_600, charged: 0 },
    },
  }
  app.site.routes['GET /api/audit/log'] = () => ok({ items: [act], next_cursor: null })
  await app.openAsRoot('/app/audit/log')
  await app.page.getByRole('row').filter({ hasText: 'twice too high' }).click()
  const changes = app.page.getByRole('table', { name: en('audit.history.changes') })
  const row = (name: string) => changes.getByRole('row').filter({ hasText: name })
  await expect.poll(() => row('price › model').textContent()).toContain('1.25')
  await expect.poll(() => row('refunded').textContent()).toContain('1600 ($0.0032)')
  await expect.poll(() => row('calls').textContent()).not.toContain('$')
  await expect.poll(() => row('from').textContent()).toMatch(/1795000000 \(2026-11-1\d /)
  const href = (name: string) =>
    app.page.getByRole('link', { name, exact: true }).getAttribute('href')
  await expect
    .poll(() => href(`#${act.position}`))
    .toBe(`/app/audit/events?position=${act.position}`)
  await expect
    .poll(() => href('correction:c1'))
    .toBe('/app/audit/log?object=correction%3Ac1&range=all')
  if (route !== undefined) app.site.routes['GET /api/audit/log'] = route
})

it('a refill without a reason says so, unlike acts that need none', async () => {
  const route = app.site.routes['GET /api/audit/log']
  const others: Partial<AuditAct>[] = [
    { position: 813, act: 'quota-deducted' },
    { position: 814, act: 'user-disabled' },
  ]
  const items = [{}, ...others].map((one) => ({ ...REFILL, reason: '', ...one }))
  app.site.routes['GET /api/audit/log'] = () => ok({ items, next_cursor: null })
  await app.openAsRoot('/app/audit/log')
  const row = (act: ActName) =>
    app.page.getByRole('row').filter({ hasText: en(`auditActs.${act}`) })
  for (const act of ['quota-granted', 'quota-deducted'] as const) {
    await row(act).getByText(en('audit.noReason'), { exact: true }).waitFor()
  }
  await expect.poll(() => row('user-disabled').textContent()).not.toContain(en('audit.noReason'))
  await row('quota-granted').click()
  const reason = app.page.getByRole('definition').filter({ hasText: en('audit.noReason') })
  await reason.waitFor()
  if (route !== undefined) app.site.routes['GET /api/audit/log'] = route
})

it.each(LANGUAGES)(
  'a refill whose reason was erased with a user says so in %s',
  async (language) => {
    const t = TEXTS[language]
    const route = app.site.routes['GET /api/audit/log']
    const items = [{ ...REFILL, reason: '', is_reason_erased: true }]
    app.site.routes['GET /api/audit/log'] = () => ok({ items, next_cursor: null })
    const { page } = await app.openPage({ language })
    await openAsRoot(page, app.site, '/app/audit/log')
    await page.getByRole('row').getByText(t('audit.reasonErased'), { exact: true }).waitFor()
    await expect.poll(() => page.getByText(t('audit.noReason')).count()).toBe(0)
    if (route !== undefined) app.site.routes['GET /api/audit/log'] = route
  },
)

it('a channel is named with its kind and its number', async () => {
  const route = app.site.routes['GET /api/audit/log']
  const object = { kind: 'channel', id: '3', name: 'Claude main' }
  const act: AuditAct = { ...REFILL, act: 'channel-auto-disabled', object }
  app.site.routes['GET /api/audit/log'] = () => ok({ items: [act], next_cursor: null })
  await app.openAsRoot('/app/audit/log')
  const name = `${en('audit.object.channel')} Claude main (#3)`
  await app.page.getByRole('row').getByText(name, { exact: true }).waitFor()
  if (route !== undefined) app.site.routes['GET /api/audit/log'] = route
})

it('acts are found by their names in the language of the page', async () => {
  await app.openAsRoot('/app/audit/log')
  const filter = app.page.getByRole('combobox', { name: en('audit.acts.act') })
  await filter.fill(en('auditActs.user-group-changed'))
  await filter.press('Enter')
  const acts = () => app.calls('GET /api/audit/log').map(({ query }) => query.get('act'))
  await expect.poll(() => acts().at(-1)).toBe('user-group-changed')
  expect(new URL(app.page.url()).searchParams.get('act')).toBe('user-group-changed')
  await filter.fill('role ch')
  await filter.press('Enter')
  await expect.poll(() => acts().at(-1)).toBe('user-role-changed')
  await expect.poll(() => filter.inputValue()).toBe(en('auditActs.user-role-changed'))
})

it('new acts that match the filters appear at once, each of them once', async () => {
  const live = await fakeLive(app.page)
  await app.openAsRoot('/app/audit/log?object=user:7')
  const grid = app.page.getByRole('grid', { name: en('shell.auditLog') })
  const rows = (act: ActName) => grid.getByRole('row').filter({ hasText: en(`auditActs.${act}`) })
  await rows('quota-granted').waitFor()
  await expect.poll(live.connections).toBe(1)
  const act = (position: number, name: ActName, id = '7'): AuditAct => ({
    ...{ ...REFILL, position, act: name, before: null, after: {}, reason: '' },
    object: { kind: 'user', id, name: '' },
  })
  live.send('audit-log', 812, REFILL)
  live.send('audit-log', 813, act(813, 'user-disabled', '8'))
  live.send('audit-log', 813, act(813, 'user-disabled'))
  live.send('audit-log', 814, act(814, 'user-enabled'))
  await rows('user-enabled').waitFor()
  await expect.poll(() => rows('user-disabled').count()).toBe(1)
  await expect.poll(() => rows('quota-granted').count()).toBe(1)
  const texts = await grid.getByRole('row').allTextContents()
  const order = (['user-enabled', 'user-disabled', 'quota-granted'] as const).map((name) =>
    texts.findIndex((text) => text.includes(en(`auditActs.${name}`))),
  )
  expect(order).toEqual(order.toSorted((one, other) => one - other))
  const reads = app.calls('GET /api/audit/log').length
  live.resync('audit-log')
  await expect.poll(() => app.calls('GET /api/audit/log').length).toBe(reads + 1)
})

it.each(['mia', 'user:7'])('new acts of the actor %s appear, others do not', async (actor) => {
  const live = await fakeLive(app.page)
  await app.openAsRoot(`/app/audit/log?actor=${actor}`)
  const grid = app.page.getByRole('grid', { name: en('shell.auditLog') })
  const rows = (act: ActName) => grid.getByRole('row').filter({ hasText: en(`auditActs.${act}`) })
  await rows('quota-granted').waitFor()
  await expect.poll(live.connections).toBe(1)
  const act = (position: number, name: ActName, by: AuditAct['actor']): AuditAct => ({
    ...{ ...REFILL, position, act: name, before: null, after: {}, actor: by },
  })
  const send = (one: AuditAct) => live.send('audit-log', one.position, one)
  send(act(813, 'user-disabled', { kind: 'user', id: '8', name: 'miao' }))
  send(act(814, 'user-disabled', { kind: 'system', id: 'sweeper', name: '' }))
  send(act(815, 'user-enabled', { kind: 'user', id: '7', name: 'mia' }))
  await rows('user-enabled').waitFor()
  await expect.poll(() => rows('user-disabled').count()).toBe(0)
})

it('live acts are merged into an incomplete list without gaps below it', () => {
  const act = (position: number): AuditAct => ({ ...REFILL, position })
  const positions = (acts: readonly AuditAct[]) => acts.map(({ position }) => position)
  const [listed, live] = [
    [act(9), act(5)],
    [act(10), act(9), act(7), act(4)],
  ]
  expect(positions(withLiveActs(listed, live, false))).toEqual([10, 9, 7, 5])
  expect(positions(withLiveActs(listed, live, true))).toEqual([10, 9, 7, 5, 4])
  expect(withLiveActs(listed, [], false)).toBe(listed)
})
