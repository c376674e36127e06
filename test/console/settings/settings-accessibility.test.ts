import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { en, oneOf, type Text, zh } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults } from '../support/accessibility-faults.ts'
import { openByLink } from '../support/admin-site.ts'
import { siteFixture } from '../support/console-fixture.ts'
import type { OpenPage } from '../support/open-page.ts'

type Look = {
  name: string
  path: string
  /** The part that an earlier look at the same page does not contain. */
  part?: string
  open?: (page: Page) => Promise<unknown>
}

const globalHistory = (text: Text) =>
  text('settings.historyOf', { section: text('options.sectionTitle.global') })

const LOOKS: readonly Look[] = [
  { name: 'settings', path: '' },
  { name: 'settings-json', path: '?prices=json' },
  { name: 'settings-unset', path: '?prices=unset' },
  { name: 'settings-rate', path: '?tab=ratelimit' },
  { name: 'settings-models', path: '?tab=models' },
  { name: 'settings-system', path: '?tab=system' },
  { name: 'settings-other', path: '?tab=other' },
  {
    name: 'settings-history',
    path: '?tab=models',
    part: '[role="dialog"]',
    open: (page) =>
      page.getByRole('button', { name: oneOf(globalHistory(zh), globalHistory(en)) }).click(),
  },
]
/** The wide screen is checked in one language, and the narrow one in the other. */
const WIDTHS = { zh: [1280], en: [390] }

const app = siteFixture()

describe.each(LANGUAGES)('the settings page, in %s', (language) => {
  // All screens use one page, so that it loads and compiles the console only once.
  let opened: OpenPage
  beforeAll(async () => {
    opened = await app.openPage({ language })
  })
  afterAll(() => opened.close())

  it.each(LOOKS)('$name has no accessibility fault in either theme', async (look) => {
    const { page, faults } = opened
    await page.setViewportSize({ width: 1280, height: 860 })
    await openByLink(page, app.site, `/admin/settings${look.path}`)
    await page.locator('.tg-grid-body, .tg-field, .tg-unpriced').first().waitFor()
    if (look.open !== undefined) {
      await look.open(page)
      await page.getByRole('dialog').locator('.tg-diff').first().waitFor()
    }
    const found = await lookFaults(page, `${look.name}-${language}`, WIDTHS[language], look.part)
    expect(found).toEqual([])
    expect(faults).toEqual([])
  })
})
