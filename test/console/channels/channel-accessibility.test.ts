import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { startingWith, TEXTS, type Text } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults } from '../support/accessibility-faults.ts'
import { openByLink } from '../support/admin-site.ts'
import { siteFixture } from '../support/console-fixture.ts'

type Screen = {
  name: string
  path?: string
  /** The part of the screen that no other check of these pages contains. */
  part?: string
  open: (page: Page, text: Text) => Promise<void>
}

const DIALOG = '[role="dialog"]'

const press = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: true }).first().click()
const choose = (page: Page, name: string) => page.getByRole('menuitem', { name }).click()
const WIDTHS = { zh: [1280], en: [390] }

const SCREENS: readonly Screen[] = [
  {
    name: 'channel-tags',
    open: async (page, text) => {
      await press(page, text('channels.tagMode'))
      await press(page, text('channels.showChildren', { tag: 'primary' }))
      await press(page, text('channels.bulkMode'))
    },
  },
  {
    name: 'channel-edit',
    path: '/channel/edit/3',
    part: DIALOG,
    open: async (page, text) => {
      await page.getByText(text('health.reason.status', { status: 401 })).waitFor()
      await press(page, startingWith(text('channelForm.routing')))
      await press(page, startingWith(text('channelForm.mappings')))
    },
  },
  {
    name: 'channel-models',
    path: '/channel/edit/1',
    part: DIALOG,
    open: async (page, text) => {
      await press(page, text('channelForm.fetchModels'))
      await page.getByRole('dialog', { name: text('channelForm.selectModelsTitle') }).waitFor()
    },
  },
  {
    name: 'channel-test',
    part: DIALOG,
    open: async (page, text) => {
      await press(page, text('shared.moreActions', { name: 'OpenAI main' }))
      await choose(page, text('channels.test'))
      await press(page, text('channelTests.testModel', { model: 'o3' }))
      await page.getByText(text('shared.failed')).first().waitFor()
    },
  },
  {
    name: 'channel-tag-editor',
    part: DIALOG,
    open: async (page, text) => {
      await press(page, text('channels.tagMode'))
      await press(page, text('channels.moreTag', { tag: 'primary' }))
      await choose(page, text('channels.editTag'))
      await page.getByRole('dialog').waitFor()
    },
  },
  {
    name: 'channel-bulk-tag',
    part: DIALOG,
    open: async (page, text) => {
      await press(page, text('channels.bulkMode'))
      await page.getByRole('checkbox').first().click()
      await press(page, text('shared.setTag'))
      await page.getByRole('dialog').waitFor()
    },
  },
]

const app = siteFixture()

/** Runs in the page, which stays logged in. */
function clearPreferences(): void {
  const user = localStorage.getItem('user')
  localStorage.clear()
  if (user !== null) localStorage.setItem('user', user)
}

describe('the channels page, its views and its dialogs', () => {
  for (const language of LANGUAGES) {
    it(`are accessible in either theme: ${language}`, { timeout: 120_000 }, async () => {
      // All screens use one page, so that it loads and compiles the console only once.
      const { page, faults, close } = await app.openPage({ language })
      for (const { name, path = '/admin/channels', part, open } of SCREENS) {
        await openByLink(page, app.site, path)
        await page.locator('.tg-grid-body').first().waitFor()
        await open(page, TEXTS[language])
        const looks = await lookFaults(page, `${name}-${language}`, WIDTHS[language], part)
        expect.soft(looks, name).toEqual([])
        expect(faults).toEqual([])
        // The next screen opens as for a user who has not used the console before: with the wide
        // window and without stored preferences.
        await page.evaluate(clearPreferences)
        await page.setViewportSize({ width: 1280, height: 860 })
      }
      await close()
    })
  }
})
