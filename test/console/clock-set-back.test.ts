import { describe, it } from 'vitest'
import { en, textPattern } from '#test/support/console-texts.ts'
import { openAsRoot } from './support/admin-site.ts'
import { pageFixture } from './support/console-fixture.ts'
import { ok, STATUS } from './support/fake-site.ts'

const app = pageFixture()
const AN_HOUR_MS = 3_600_000
const setClockBack = () => app.page.clock.setSystemTime(Date.now() - AN_HOUR_MS)

describe('a wall clock that is set back', () => {
  it('does not prolong the wait for another mail code', async () => {
    const { page, site } = app
    site.routes['GET /api/status'] = () => ok({ ...STATUS, email_verification: true })
    site.routes['GET /api/verification'] = () => ok(null)
    await page.clock.install()
    await page.addInitScript(() => localStorage.setItem('i18nextLng', 'en'))
    await page.goto(`${site.url}/register`)
    await page.locator('input[name="email"]').fill('mia@example.com')
    await page.getByRole('button', { name: en('auth.sendCode') }).click()
    const again = page.getByRole('button', { name: en('auth.resendCode', { seconds: 30 }) })
    await again.waitFor()
    await setClockBack()
    await page.clock.runFor(31_000)
    await page.getByRole('button', { name: en('auth.sendCode') }).waitFor()
  })

  it('does not prolong the wait that the server asks for', async () => {
    const { page, site } = app
    await page.clock.install()
    await openAsRoot(page, site, '/app/tokens')
    await page.getByRole('gridcell', { name: 'production', exact: true }).waitFor()
    const answers = { ...site.routes }
    // A late response to another request of the page would end the wait.
    for (const route of Object.keys(answers)) {
      site.routes[route] = () => ({
        status: 429,
        headers: { 'retry-after': '600' },
        body: { success: false, message: 'slow down', code: 'Busy' },
      })
    }
    await page.getByRole('button', { name: en('ui.refresh') }).click()
    const banner = page.locator('.tg-health').getByText(textPattern('en', 'request.retryIn'))
    await banner.waitFor()
    await setClockBack()
    Object.assign(site.routes, answers)
    await page.clock.runFor(601_000)
    await banner.waitFor({ state: 'detached' })
  })
})
