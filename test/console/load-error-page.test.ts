import { describe, expect, it } from 'vitest'
import { en, zh } from '#test/support/console-texts.ts'
import { openAsRoot } from './support/admin-site.ts'
import { pageFixture } from './support/console-fixture.ts'
import { takePicture } from './support/open-page.ts'

// The browser would load a cached chunk without the network.
const app = pageFixture({ language: 'en', isFirstVisit: true })
const CHUNK = /assets\/channels-page-.*\.(js|css)$/

const follow = (name: string) => app.page.getByRole('link', { name, exact: true }).click()
const heading = (name: string) => app.page.getByRole('heading', { level: 1, name })
const alert = () => app.page.getByRole('alert').getByText(en('ui.pageLoadFailed'))

/** Returns the width of the number field, which depends on the page's own styles. */
const numberWidth = () =>
  app.page
    .locator('.tg-inline-number')
    .first()
    .evaluate((input) => getComputedStyle(input).width)

describe('a page whose chunk fails to load', () => {
  it.each(['js', 'css'])('keeps the shell and shows an error: %s', async (kind) => {
    const { page, site } = app
    await openAsRoot(page, site, '/app/tokens')
    const chunk = new RegExp(`assets/channels-page-.*\\.${kind}$`)
    await page.route(chunk, (route) => route.abort())
    await follow(en('shell.channels'))
    await alert().waitFor()
    await page.getByRole('navigation', { name: en('shell.navigation') }).waitFor()
    await follow(en('shell.tokens'))
    await heading(en('shell.tokens')).waitFor()
    await follow(en('shell.channels'))
    await alert().waitFor()
    await page.unroute(chunk)
    await page
      .getByRole('main')
      .getByRole('button', { name: en('ui.retry') })
      .click()
    await heading(en('shell.channels')).waitFor()
    await page.getByRole('link', { name: 'DeepSeek' }).waitFor()
    expect(await numberWidth()).toBe('56px')
  })

  it('loads without a user action once the network is back', async () => {
    const { page, site } = app
    await openAsRoot(page, site, '/app/tokens')
    await page.context().setOffline(true)
    await follow(en('shell.channels'))
    await alert().waitFor()
    await page.context().setOffline(false)
    await heading(en('shell.channels')).waitFor()
    await page.getByRole('link', { name: 'DeepSeek' }).waitFor()
    expect(await numberWidth()).toBe('56px')
  })

  it('loads without a user action once the server answers again', async () => {
    const { page, site } = app
    await openAsRoot(page, site, '/app/tokens')
    await page.route(CHUNK, (route) => route.abort())
    await follow(en('shell.channels'))
    await alert().waitFor()
    await page.unroute(CHUNK)
    await page.getByRole('link', { name: 'DeepSeek' }).waitFor()
  })

  it('loads without a user action if the last reload of this tab was long ago', async () => {
    const { page, site } = app
    await openAsRoot(page, site, '/app/tokens')
    const failOnce = async () => {
      await page.route(CHUNK, (route) => route.abort())
      await follow(en('shell.channels'))
      await alert().waitFor()
      await page.unroute(CHUNK)
      await page.getByRole('link', { name: 'DeepSeek' }).waitFor({ timeout: 12_000 })
    }
    await failOnce()
    await page.evaluate(() => {
      const hourAgo = String(Date.now() - 3_600_000)
      for (const key of Object.keys(sessionStorage)) {
        if (/^lost-page/.test(key)) sessionStorage.setItem(key, hourAgo)
      }
    })
    await page.goto(`${site.url}/app/tokens`)
    await heading(en('shell.tokens')).waitFor()
    await failOnce()
  })
})

describe('a Chinese page', () => {
  it('the font has every glyph of the offline messages before the network is lost', async () => {
    const { page, site } = app
    await page.addInitScript(() => localStorage.setItem('i18nextLng', 'zh'))
    await openAsRoot(page, site, '/app/tokens')
    const text = [
      zh('ui.pageLoadFailed'),
      zh('ui.pageLoadFailedBody'),
      zh('request.health.offline'),
    ].join('')
    const hasGlyphs = () =>
      page.evaluate((said) => {
        const isDeclared = [...document.fonts].some(({ family }) => family.includes('Noto Sans SC'))
        return [400, 600].map(
          (weight) => isDeclared && document.fonts.check(`${weight} 14px 'Noto Sans SC'`, said),
        )
      }, text)
    await expect.poll(hasGlyphs).toEqual([true, true])
    await page.context().setOffline(true)
    await follow(zh('shell.channels'))
    await page.getByRole('alert').getByText(zh('ui.pageLoadFailed')).waitFor()
    await takePicture(page, 'lost-zh')
    await page.context().setOffline(false)
  })
})
