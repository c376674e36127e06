import { describe, expect, it } from 'vitest'
import { TEXTS, zh } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults } from '../support/accessibility-faults.ts'
import { openByLink } from '../support/admin-site.ts'
import { siteFixture } from '../support/console-fixture.ts'

const app = siteFixture()

const LOOKS = [
  ['users', '/admin/users'],
  ['user-edit', '/user/edit/3'],
  ['user-gone', '/user/edit/6'],
] as const

describe('the list of users and its drawers', () => {
  for (const language of LANGUAGES) {
    it(`have no accessibility fault at two widths, in either theme: ${language}`, async () => {
      const { page, faults, close } = await app.openPage({ language })
      for (const [name, path] of LOOKS) {
        await openByLink(page, app.site, path)
        await page.getByText('mia', { exact: true }).first().waitFor()
        if (path !== '/admin/users')
          await page.getByRole('dialog').getByText(zh('oauth.site.github')).waitFor()
        const part = name === 'users' ? undefined : '[role="dialog"]'
        const found = await lookFaults(page, `${name}-${language}`, [1280, 390], part)
        expect.soft(found, name).toEqual([])
      }
      await openByLink(page, app.site, '/user/edit/3')
      await page
        .getByRole('button', { name: TEXTS[language]('users.secondFactorOpen'), exact: true })
        .click()
      await page.getByRole('alertdialog').locator('input').waitFor()
      const asking = await lookFaults(page, `user-factor-${language}`, [1280, 390], '.tg-dialog')
      expect.soft(asking, 'factor').toEqual([])
      await openByLink(page, app.site, '/admin/users')
      for (const name of ['mia', 'ada']) {
        const row = page.getByRole('row').filter({ hasText: name })
        await row.getByRole('checkbox').check()
      }
      const listed = await lookFaults(page, `users-selected-${language}`, [1280, 390])
      expect.soft(listed, 'selected').toEqual([])
      await page.setViewportSize({ width: 1280, height: 860 })
      await page.locator('.tg-bulk button').last().click()
      await page.getByLabel('$').first().fill('12.5')
      const many = await lookFaults(page, `user-adjust-${language}`, [1280, 390], '.tg-dialog')
      expect.soft(many, 'adjust').toEqual([])
      await openByLink(page, app.site, '/user/edit')
      await page.locator('input[type="password"]').fill('a new password')
      const own = await lookFaults(page, `user-self-${language}`, [1280, 390])
      expect.soft(own, 'self').toEqual([])
      expect(faults).toEqual([])
      await close()
    })
  }
})
