import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { en, zh } from '#test/support/console-texts.ts'
import { ROOT_USER } from './support/admin-site.ts'
import { siteFixture } from './support/console-fixture.ts'
import { ok, STATUS, startFakeSite } from './support/fake-site.ts'
import { type Look, takePicture } from './support/open-page.ts'

const MEMBER = { ...ROOT_USER, id: 2, username: 'mia', role: 1 }

const app = siteFixture(() =>
  startFakeSite({
    'GET /api/status': () =>
      ok({ ...STATUS, footer_html: '<b>Ours</b><script>window.bad = 1</script>' }),
    'GET /api/token/': () => ok({ items: [], page: 0, total: 0 }),
    'GET /api/user/logout': () => ok(null),
  }),
)

async function enter(look: Look, user: object = ROOT_USER, chats: unknown[] = []) {
  const open = await app.openPage(look)
  await open.page.addInitScript(
    ([text, list]) => {
      if (localStorage.getItem('user') !== null) return
      localStorage.setItem('user', text ?? '')
      localStorage.setItem('chats', list ?? '')
    },
    [JSON.stringify(user), JSON.stringify(chats)],
  )
  await open.page.goto(`${app.site.url}/app/tokens`)
  await open.page.getByRole('heading', { level: 1 }).waitFor()
  return open
}

const linksOf = (page: Page, name: string) =>
  page.getByRole('navigation', { name }).getByRole('link').allTextContents()

/** Whether the middle of the element is what a click at this place would reach. */
const isInView = (link: Locator) =>
  link.evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect()
    return element.contains(document.elementFromPoint(left + width / 2, top + height / 2))
  })

describe('the console shell', () => {
  it('shows each user the pages that the user may open', async () => {
    const root = await enter({})
    await expect
      .poll(() => linksOf(root.page, zh('shell.navigation')))
      .toContain(zh('shell.channels'))
    await root.close()
    const member = await enter({}, MEMBER)
    await expect
      .poll(() => linksOf(member.page, zh('shell.navigation')))
      .toEqual([
        zh('shell.playground'),
        zh('shell.dashboard'),
        zh('shell.tokens'),
        zh('shell.usageLog'),
        zh('shell.wallet'),
        zh('shell.ledger'),
        zh('shell.inbox'),
        zh('shell.me'),
      ])
    await member.close()
  })

  it('offers the chats of the last visit until the site status arrives', async () => {
    const own = app.site.routes['GET /api/status'] ?? (() => ok(STATUS))
    app.site.routes['GET /api/status'] = () => ({ ...ok(null), status: 500 })
    const kept = { Kept: 'https://chat.example/#{key}' }
    const { page, close } = await enter({}, MEMBER, [kept, 'nothing'])
    expect((await linksOf(page, zh('shell.navigation'))).slice(0, 2)).toEqual([
      'Kept',
      zh('shell.playground'),
    ])
    app.site.routes['GET /api/status'] = own
    await page.reload()
    await expect.poll(() => linksOf(page, zh('shell.navigation'))).not.toContain('Kept')
    await close()
  })

  it('marks the console link as current on each console page', async () => {
    const { page, close } = await enter({})
    const top = page
      .getByRole('navigation', { name: zh('shell.topNavigation') })
      .locator('a.active')
    await expect.poll(() => top.allTextContents()).toEqual([zh('shell.console')])
    await page.goto(app.site.url)
    await expect.poll(() => top.allTextContents()).toEqual([zh('shell.home')])
    await close()
  })

  it('has a sidebar 200 or 60 pixels wide, and remembers the width', async () => {
    const { page, close } = await enter({})
    const width = () =>
      page.locator('.tg-sidebar').evaluate((bar) => bar.getBoundingClientRect().width)
    expect(await width()).toBe(200)
    await page.getByRole('button', { name: zh('shell.collapse') }).click()
    await expect.poll(width).toBe(60)
    await page.reload()
    await expect.poll(width).toBe(60)
    await close()
  })

  it.each([1280, 390])('shows the link of the open page in a menu %i px wide', async (width) => {
    const { page, close } = await enter({ width })
    await page.setViewportSize({ width, height: 400 })
    const openMenu = page.getByRole('button', { name: zh('shell.openMenu') })
    const navigation = page.getByRole('navigation', { name: zh('shell.navigation') })
    await page.goto(`${app.site.url}/app/audit/proofs`)
    if (width === 390) await openMenu.click()
    const linkOf = (key: Parameters<typeof zh>[0]) =>
      navigation.getByRole('link', { name: zh(key), exact: true })
    await expect.poll(() => isInView(linkOf('shell.proofs'))).toBe(true)
    expect(await page.evaluate(() => window.scrollY)).toBe(0)
    await linkOf('shell.tokens').click()
    await page.getByRole('heading', { level: 1, name: zh('shell.tokens') }).waitFor()
    await page.goBack()
    if (width === 390) await openMenu.click()
    await expect.poll(() => isInView(linkOf('shell.proofs'))).toBe(true)
    expect(await isInView(linkOf('shell.tokens'))).toBe(false)
    await close()
  })

  it('shows the footer of the operator without running its scripts', async () => {
    const { page, close } = await enter({})
    await page.frameLocator('footer iframe').getByText('Ours').waitFor()
    await expect.poll(() => page.evaluate(() => 'bad' in window)).toBe(false)
    await close()
  })

  it('changes the language and theme immediately, and remembers them', async () => {
    const { page, close } = await enter({})
    await page.getByRole('button', { name: zh('shell.language') }).click()
    await page.getByRole('menuitemradio', { name: 'English' }).click()
    await page.getByRole('link', { name: en('shell.tokens') }).waitFor()
    await page.getByRole('button', { name: en('shell.toDark') }).click()
    await page.reload()
    await page.getByRole('link', { name: en('shell.tokens') }).waitFor()
    const root = page.locator('html')
    await expect.poll(() => root.getAttribute('lang')).toBe('en')
    await expect.poll(() => root.getAttribute('data-theme')).toBe('dark')
    await close()
  })

  it('opens the login page after a logout, without a message about an expiry', async () => {
    const { page, close } = await enter({})
    const item = page.getByRole('menuitem', { name: zh('shell.logout') })
    const isOpen = async () => {
      if (!(await item.isVisible()))
        await page.getByRole('button', { name: zh('shell.account') }).click()
      return item.isVisible()
    }
    // Data that is still loading may render the bar again and close a menu.
    await expect.poll(isOpen, { interval: 400 }).toBe(true)
    await item.click({ timeout: 5_000 })
    await page.getByText(zh('auth.loggedOut')).waitFor({ timeout: 10_000 })
    await page.waitForURL(`${app.site.url}/login`)
    await close()
  })

  it('opens its menu as a drawer on phones, and returns the focus', async () => {
    const { page, close } = await enter({ width: 390 })
    await page.getByRole('button', { name: zh('shell.openMenu') }).click()
    const drawer = page.getByRole('dialog', { name: zh('shell.navigation') })
    await drawer.getByRole('link', { name: zh('shell.usageLog') }).waitFor()
    await takePicture(page, 'shell-menu-390')
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'detached' })
    const label = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
    await expect.poll(label).toBe(zh('shell.openMenu'))
    await close()
  })
})
