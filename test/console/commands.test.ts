import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { launchBrowser } from '#test/support/browser.ts'
import { en } from '#test/support/words.ts'
import { openAsRoot, startAdminSite } from './support/admin-site.ts'
import { axeFaults } from './support/axe.ts'
import { type FakeSite, ok } from './support/fake-site.ts'
import { type OpenPage, openPage, takePicture } from './support/open-page.ts'

let browser: Browser
let site: FakeSite
let open: OpenPage
let page: Page

beforeAll(async () => {
  browser = await launchBrowser()
  site = await startAdminSite()
  site.routes['GET /api/user/logout'] = () => ok(null)
})
afterAll(async () => {
  await browser.close()
  await site.close()
})
beforeEach(async () => {
  open = await openPage(browser, { language: 'en' })
  page = open.page
  await openAsRoot(page, site, '/app/tokens')
  await page.getByRole('grid').waitFor()
})
afterEach(async () => {
  expect(open.faults).toEqual([])
  await open.close()
})

const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor()
const palette = () => page.getByRole('dialog', { name: en('commands.palette') })
const sheet = () => page.getByRole('dialog', { name: en('commands.sheet') })
const options = () => palette().getByRole('option')
const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))

async function openPalette(): Promise<void> {
  await page.keyboard.press('Control+k')
  await palette().getByRole('combobox').waitFor()
  await expect.poll(focused).toBe('Search pages, actions, tokens, channels and request IDs')
}

describe('the keys of the console', () => {
  it('go to every page by g and a letter, and only when both are pressed', async () => {
    for (const [key, name] of [
      ['c', 'Channels'],
      ['s', 'Settings'],
      ['l', 'Usage logs'],
      ['d', 'Dashboard'],
      ['t', 'API tokens'],
    ] as const) {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      await heading(name)
    }
    await page.keyboard.press('d')
    await heading('API tokens')
  })

  it('focus the search by /, and inside it are letters like any other', async () => {
    await page.keyboard.press('/')
    await page.keyboard.type('gc?/')
    expect(await page.getByRole('searchbox', { name: en('tokens.search') }).inputValue()).toBe(
      'gc?/',
    )
    await heading('API tokens')
    expect(await sheet().count()).toBe(0)
  })

  it('move in the list from wherever the focus is', async () => {
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    const active = () =>
      page.getByRole('grid').evaluate((grid) => grid.getAttribute('aria-activedescendant'))
    await expect.poll(active).toMatch(/row-1$/)
    await page.keyboard.press('k')
    await expect.poll(active).toMatch(/row-0$/)
  })

  it('stand in the sheet of their page, and can all be switched off for good', async () => {
    await page.keyboard.press('?')
    await sheet().getByText(en('commands.selectRow')).waitFor()
    await sheet().getByText('Go to Channels').waitFor()
    expect(await sheet().getByText(en('usageLog.pause')).count()).toBe(0)
    expect(await axeFaults(page)).toEqual([])
    await takePicture(page, 'shortcut-sheet')
    await sheet()
      .getByRole('switch', { name: en('commands.singleKeys') })
      .click()
    await page.keyboard.press('Escape')
    await sheet().waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('grid').focus()
    for (const key of ['g', 'c', '?', 'j']) await page.keyboard.press(key)
    await heading('API tokens')
    expect(await page.getByRole('grid').getAttribute('aria-activedescendant')).toBeNull()
    await page.keyboard.press('ArrowDown')
    await expect
      .poll(() => page.getByRole('grid').getAttribute('aria-activedescendant'))
      .toMatch(/row-0$/)
    await page.keyboard.press('Control+k')
    await palette().waitFor()
  })
})

describe('the command palette', () => {
  it('opens from inside a field, finds by any of the words, and gives the focus back', async () => {
    await page.getByRole('searchbox', { name: en('tokens.search') }).focus()
    await openPalette()
    expect(await axeFaults(page)).toEqual([])
    await takePicture(page, 'command-palette')
    await page.keyboard.type('settings pers go')
    await expect.poll(() => options().allInnerTexts()).toHaveLength(1)
    await page.keyboard.press('Escape')
    await palette().waitFor({ state: 'detached' })
    await expect.poll(focused).toBe('Search by token name')
  })

  it("lists the page's own actions, and does what is chosen", async () => {
    await openPalette()
    await options()
      .filter({ hasText: en('tokens.create') })
      .waitFor()
    await page.keyboard.type('dark')
    await page.keyboard.press('Enter')
    await palette().waitFor({ state: 'detached' })
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
    await openPalette()
    await page.keyboard.type('中文')
    await page.keyboard.press('Enter')
    await heading('API 令牌')
  })

  it('finds tokens and channels by name, and opens the list of what was chosen', async () => {
    await openPalette()
    await page.keyboard.type('DeepS')
    await options().filter({ hasText: 'DeepSeek' }).waitFor()
    await page.keyboard.press('Enter')
    await heading('Channels')
    expect(new URL(page.url()).searchParams.get('keyword')).toBe('DeepSeek')
  })

  it('says that nothing matches', async () => {
    await openPalette()
    await page.keyboard.type('zzzz')
    await palette().getByText(en('commands.nothing')).waitFor()
    await page.keyboard.press('Enter')
    await palette().waitFor()
  })
})
