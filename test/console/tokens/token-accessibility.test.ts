import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { TEXTS, type Text } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults } from '../support/accessibility-faults.ts'
import { openByLink } from '../support/admin-site.ts'
import { siteFixture } from '../support/console-fixture.ts'

const app = siteFixture()

const button = (page: Page, name: string) => page.getByRole('button', { name }).first()

type Look = {
  name: string
  /** The part that the first look, at the list alone, does not contain. */
  part?: string
  widths?: readonly number[]
  open: (page: Page, text: Text) => Promise<void>
}

const DIALOG = '[role="dialog"]'
const LOOKS: readonly Look[] = [
  {
    name: 'token-selected',
    open: async (page) => {
      for (const box of await page.getByRole('checkbox').all()) await box.check()
    },
  },
  {
    name: 'token-menu',
    part: '[role="menu"]',
    // A narrow window shows other rows, without the menu.
    widths: [1280],
    open: (page, text) => button(page, text('shared.moreActions', { name: 'production' })).click(),
  },
  {
    name: 'token-all-fields',
    part: DIALOG,
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
    part: DIALOG,
    open: async (page: Page, text: Text) => {
      await button(page, text('shared.moreActions', { name: 'production' })).click()
      await page.getByRole('menuitem', { name: text('clientSetup.title') }).click()
      await button(page, client).click()
    },
  })),
  {
    name: 'token-ready',
    part: DIALOG,
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
      for (const { name, part, widths = [1280, 390], open } of LOOKS) {
        await openByLink(page, app.site, '/app/tokens')
        await page.locator('.tg-grid-body').waitFor()
        await open(page, TEXTS[language])
        const found = await lookFaults(page, `${name}-${language}`, widths, part)
        expect.soft(found, name).toEqual([])
      }
      expect(faults).toEqual([])
      await close()
    })
  }
})
