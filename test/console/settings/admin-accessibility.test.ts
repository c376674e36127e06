import { describe, expect, it } from 'vitest'
import { TEXTS, type WordKey } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults, WIDTHS } from '../support/accessibility-faults.ts'
import { openAsRoot, openByLink } from '../support/admin-site.ts'
import { siteFixture } from '../support/console-fixture.ts'

type Screen = {
  name: string
  path: string
  /** The button that opens a part of the screen. */
  opener?: WordKey
  /**
   * True for a part of a screen that is checked itself at all widths. One check of the part per
   * language then suffices.
   */
  isPart?: boolean
}

const PART_WIDTHS = { zh: [1280], en: [390] }

const SCREENS: readonly Screen[] = [
  { name: 'tokens', path: '/app/tokens' },
  { name: 'token-new', path: '/app/tokens', opener: 'tokens.create', isPart: true },
  { name: 'channels', path: '/admin/channels' },
  {
    name: 'channel-new',
    path: '/admin/channels',
    opener: 'shared.newChannel',
    isPart: true,
  },
  { name: 'price-new', path: '/admin/settings', opener: 'pricing.addModel', isPart: true },
]

const app = siteFixture()

describe('the token, channel and settings pages', () => {
  for (const language of LANGUAGES) {
    it(`have no accessibility fault at any width, in either theme: ${language}`, async () => {
      const { page, faults, close } = await app.openPage({ language })
      for (const { name, path, opener, isPart } of SCREENS) {
        const widths = isPart === true ? PART_WIDTHS[language] : WIDTHS
        await openByLink(page, app.site, path)
        await page.locator('.tg-grid-body, .tg-field, .tg-unpriced').first().waitFor()
        if (opener !== undefined) {
          await page
            .getByRole('button', { name: TEXTS[language](opener) })
            .first()
            .click()
          await page.getByRole('dialog').waitFor()
        }
        const part = isPart === true ? '[role="dialog"]' : undefined
        const found = await lookFaults(page, `${name}-${language}`, widths, part)
        expect.soft(found, name).toEqual([])
      }
      expect(faults).toEqual([])
      await close()
    })
  }

  it('show the focus and the state of a switch in forced colours', async () => {
    const { page, close } = await app.openPage({ language: 'en' })
    await page.emulateMedia({ forcedColors: 'active' })
    await openAsRoot(page, app.site, '/app/tokens')
    const toggle = page.getByRole('switch', { name: /production/ })
    await toggle.waitFor()
    await toggle.focus()
    const looks = await toggle.evaluate((element) => {
      const { outlineStyle, outlineColor, backgroundColor } = getComputedStyle(element)
      const off = document.querySelector('[role="switch"]:not(:checked)')
      const offLook = off === null ? null : getComputedStyle(off)
      return {
        outlineStyle,
        isOutlined: outlineColor !== backgroundColor,
        isToldApart:
          offLook?.backgroundColor !== backgroundColor ||
          offLook?.borderColor !== getComputedStyle(element).borderColor,
      }
    })
    expect(looks).toEqual({ outlineStyle: 'solid', isOutlined: true, isToldApart: true })
    await close()
  })
})
