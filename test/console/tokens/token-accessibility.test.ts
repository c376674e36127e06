import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { LANGUAGES, lookFaults } from '../support/accessibility-faults.ts'
import { openAsRoot } from '../support/admin-site.ts'
import { siteFixture } from '../support/console-fixture.ts'

const app = siteFixture()

const button = (page: Page, name: RegExp) => page.getByRole('button', { name }).first()

const LOOKS: readonly { name: string; open: (page: Page) => Promise<void> }[] = [
  {
    name: 'token-chosen',
    open: async (page) => {
      for (const box of await page.getByRole('checkbox').all()) await box.check()
    },
  },
  {
    name: 'token-menu',
    open: (page) => button(page, /更多操作|More actions/).click(),
  },
  {
    name: 'token-all-fields',
    open: async (page) => {
      await button(page, /新建令牌|New token/).click()
      const drawer = page.getByRole('dialog')
      await drawer.getByRole('switch', { name: /限制可用模型|models/i }).click()
      await drawer.getByRole('switch', { name: /速率限制|Rate limit/ }).click()
      await drawer.getByRole('button', { name: /创建令牌|Create token/ }).click()
      await drawer.getByText(/请输入名称|Enter a name/).waitFor()
    },
  },
  {
    name: 'token-ready',
    open: async (page) => {
      await button(page, /新建令牌|New token/).click()
      await page.getByRole('textbox', { name: /^(名称|Name)$/ }).fill('agent')
      await page.getByRole('button', { name: '10', exact: true }).click()
      await button(page, /创建令牌|Create token/).click()
      await page.getByRole('dialog', { name: /10/ }).waitFor()
    },
  },
]

describe('the tokens’ lists, menus and drawers', () => {
  for (const language of LANGUAGES) {
    it(`have no accessibility fault at two widths, in either theme: ${language}`, async () => {
      const { page, faults, close } = await app.openPage({ language })
      for (const { name, open } of LOOKS) {
        await openAsRoot(page, app.site, '/app/tokens')
        await page.locator('.tg-grid-body').waitFor()
        await open(page)
        const found = await lookFaults(page, `${name}-${language}`, [1280, 390])
        expect.soft(found, name).toEqual([])
      }
      expect(faults).toEqual([])
      await close()
    }, 120_000)
  }
})
