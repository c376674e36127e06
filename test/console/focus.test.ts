import { describe, expect, it } from 'vitest'
import { en, startingWith } from '#test/support/console-texts.ts'
import { openAsRoot } from './support/admin-site.ts'
import { siteFixture } from './support/console-fixture.ts'

const app = siteFixture()

/** All drawers and dialogs, by the start of the name of the button that opens them. */
const OPENERS = [
  { path: '/app/tokens', name: en('tokens.create'), opens: 'dialog' },
  { path: '/admin/channels', name: en('shared.newChannel'), opens: 'dialog' },
  { path: '/admin/settings', name: en('pricing.addModel'), opens: 'dialog' },
  { path: '/app/tokens', name: en('commands.palette'), opens: 'dialog' },
  { path: '/app/tokens', name: en('ui.columns'), opens: 'popover' },
  { path: '/app/tokens', name: en('shell.language'), opens: 'menu' },
  { path: '/app/tokens', name: en('shell.account'), opens: 'menu' },
] as const

describe('keyboard focus', () => {
  for (const { path, name, opens } of OPENERS) {
    it(`moves into the opened element and returns when it closes: ${name} on ${path}`, async () => {
      const { page, faults, close } = await app.openPage({ language: 'en' })
      await openAsRoot(page, app.site, path)
      const opener = page.getByRole('button', { name: startingWith(name) }).first()
      await opener.focus()
      await page.keyboard.press('Enter')
      const inside = {
        dialog: '[aria-modal="true"]',
        popover: '.tg-popover',
        menu: '[role="menu"]',
      }[opens]
      await page.waitForFunction(
        (selector) => document.querySelector(selector)?.contains(document.activeElement),
        inside,
      )
      for (let press = 0; press < 12 && opens === 'dialog'; press += 1) {
        await page.keyboard.press('Tab')
        const isOut = await page.evaluate(() => {
          const focused = document.activeElement
          return focused?.closest('.bp6-portal') === null && focused !== document.body
        })
        expect(isOut, `after ${press + 1} tabs`).toBe(false)
      }
      await page.keyboard.press('Escape')
      await page.locator(inside).first().waitFor({ state: 'detached' })
      await expect
        .poll(() => opener.evaluate((element) => element === document.activeElement))
        .toBe(true)
      expect(faults).toEqual([])
      await close()
    })
  }
})
