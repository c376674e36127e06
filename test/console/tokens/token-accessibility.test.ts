import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { TEXTS, type Text } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults } from '../support/accessibility-faults.ts'
import { openAsRoot } from '../support/admin-site.ts'
import { siteFixture } from '../support/console-fixture.ts'

const app = siteFixture()

const button = (page: Page, name: string) => page.getByRole('button', { name }).first()

const LOOKS: readonly { name: string; open: (page: Page, text: Text) => Promise<void> }[] = [
  {
    name: 'token-selected',
    open: async (page) => {
      for (const box of await page.getByRole('checkbox').all()) await box.check()
    },
  },
  {
    name: 'token-menu',
    open: (page, text) => button(page, text('shared.moreActions', { name: 'production' })).click(),
  },
  {
    name: 'token-all-fields',
    open: async (page, text) => {
      await button(page, text('tokens.create')).click()
      const drawer = page.getByRole('dialog')
      await drawer.getByRole('switch', { name: text('tokens.hasModelLimits') }).click()
      await drawer.getByRole('switch', { name: text('tokens.rateLimit.isEnabled') }).click()
      await drawer.getByRole('button', { name: text('tokens.createAction') }).click()
      await drawer.getByText(text('tokens.error.nameMissing')).waitFor()
    },
  },
  ...['Claude Code', 'Cursor', 'CC Switch'].map((client) => ({
    name: `token-setup-${client.replace(' ', '-')}`,
    open: async (page: Page, text: Text) => {
      await button(page, text('shared.moreActions', { name: 'production' })).click()
      await page.getByRole('menuitem', { name: text('clientSetup.title') }).click()
      await button(page, client).click()
    },
  })),
  {
    name: 'token-ready',
    open: async (page, text) => {
      await button(page, text('tokens.create')).click()
      await page.getByRole('textbox', { name: text('shared.name'), exact: true }).fill('agent')
      await page.getByRole('button', { name: '10', exact: true }).click()
      await button(page, text('tokens.createAction')).click()
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
        await open(page, TEXTS[language])
        const found = await lookFaults(page, `${name}-${language}`, [1280, 390])
        expect.soft(found, name).toEqual([])
      }
      expect(faults).toEqual([])
      await close()
    })
  }
})
