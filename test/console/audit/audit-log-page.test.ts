import { describe, expect, it } from 'vitest'
import type { AuditAct } from '#read-api/contract/audit-log.ts'
import { en, TEXTS } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults } from '../support/accessibility-faults.ts'
import { openAsRoot, startAdminSite } from '../support/admin-site.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { ok } from '../support/fake-site.ts'
import { NOW } from './audit-samples.ts'

const REFILL: AuditAct = {
  ...{ position: 812, created_at: NOW - 60, act: 'quota-granted', reason: 'apology' },
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
  for (const text of ['root', 'mia (user:7)', 'apology']) {
    expect(await row.textContent()).toContain(text)
  }
  await row.click()
  const changes = app.page.getByRole('table', { name: en('audit.history.changes') })
  const cells = changes.getByRole('row').last().getByRole('cell')
  expect(await cells.allTextContents()).toEqual(['quota', '1000', '501000'])
  expect(app.calls('GET /api/audit/log').at(-1)?.query.get('object')).toBe('user:7')
})

it('acts are found by their names in the language of the page', async () => {
  await app.openAsRoot('/app/audit/log')
  const filter = app.page.getByRole('combobox', { name: en('audit.acts.act') })
  await filter.fill(en('auditActs.user-role-changed'))
  await filter.press('Enter')
  const acts = () => app.calls('GET /api/audit/log').map(({ query }) => query.get('act'))
  await expect.poll(() => acts().at(-1)).toBe('user-role-changed')
  expect(new URL(app.page.url()).searchParams.get('act')).toBe('user-role-changed')
  await filter.fill('signed')
  await filter.press('Enter')
  await expect.poll(() => acts().at(-1)).toBe('user-logged-in')
  expect(await filter.inputValue()).toBe(en('auditActs.user-logged-in'))
})
