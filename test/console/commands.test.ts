import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { en, zh } from '#test/support/console-texts.ts'
import { axeFaults } from './support/axe.ts'
import { pageFixture } from './support/console-fixture.ts'
import { ok } from './support/fake-site.ts'
import { takePicture } from './support/open-page.ts'

const app = pageFixture({ isSiteShared: true })

beforeAll(async () => {
  app.site.routes['GET /api/user/logout'] = () => ok(null)
})
beforeEach(async () => {
  await app.openAsRoot('/app/tokens')
  // The list is there before its rows are, and keys that move between rows need a row.
  await app.page.getByRole('gridcell').first().waitFor()
})

const heading = (name: string) => app.page.getByRole('heading', { level: 1, name }).waitFor()
const palette = () => app.page.getByRole('dialog', { name: en('commands.palette') })
const sheet = () => app.page.getByRole('dialog', { name: en('commands.sheet') })
const options = () => palette().getByRole('option')
const focused = () => app.page.evaluate(() => document.activeElement?.getAttribute('aria-label'))

async function openPalette(): Promise<void> {
  await app.page.keyboard.press('Control+k')
  await palette().getByRole('combobox').waitFor()
  await expect.poll(focused).toBe(en('commands.search'))
}

describe('keyboard shortcuts', () => {
  it('open each page on g and a letter, and only when both are pressed', async () => {
    for (const [key, name] of [
      ['c', en('shell.channels')],
      ['s', en('shell.settings')],
      ['l', en('shell.usageLog')],
      ['d', en('shell.dashboard')],
      ['t', en('shell.tokens')],
    ] as const) {
      await app.page.keyboard.press('g')
      await app.page.keyboard.press(key)
      await heading(name)
    }
    await app.page.keyboard.press('d')
    await heading(en('shell.tokens'))
  })

  it('focus the search on /, and count as plain letters while the user types in it', async () => {
    await app.page.keyboard.press('/')
    await app.page.keyboard.type('gc?/')
    await expect
      .poll(() => app.page.getByRole('searchbox', { name: en('tokens.search') }).inputValue())
      .toBe('gc?/')
    await heading(en('shell.tokens'))
    await expect.poll(() => sheet().count()).toBe(0)
  })

  it('move the active row of the list wherever the focus is', async () => {
    await app.page.keyboard.press('j')
    await app.page.keyboard.press('j')
    const active = () =>
      app.page.getByRole('grid').evaluate((grid) => grid.getAttribute('aria-activedescendant'))
    await expect.poll(active).toMatch(/row-1$/)
    await app.page.keyboard.press('k')
    await expect.poll(active).toMatch(/row-0$/)
  })

  it('are listed in the sheet of their page, and a switch turns them off permanently', async () => {
    await app.page.keyboard.press('?')
    await sheet().getByText(en('commands.selectRow')).waitFor()
    await sheet()
      .getByText(en('commands.goTo', { page: en('shell.channels') }))
      .waitFor()
    await expect.poll(() => sheet().getByText(en('usageLog.pause')).count()).toBe(0)
    expect(await axeFaults(app.page)).toEqual([])
    await takePicture(app.page, 'shortcut-sheet')
    await sheet()
      .getByRole('switch', { name: en('commands.singleKeys') })
      .click()
    await app.page.keyboard.press('Escape')
    await sheet().waitFor({ state: 'detached' })
    await app.page.reload()
    await app.page.getByRole('row').nth(1).waitFor()
    await app.page.getByRole('grid').focus()
    for (const key of ['g', 'c', '?', 'j']) await app.page.keyboard.press(key)
    await heading(en('shell.tokens'))
    await expect
      .poll(() => app.page.getByRole('grid').getAttribute('aria-activedescendant'))
      .toBeNull()
    await app.page.keyboard.press('ArrowDown')
    await expect
      .poll(() => app.page.getByRole('grid').getAttribute('aria-activedescendant'))
      .toMatch(/row-0$/)
    await app.page.keyboard.press('Control+k')
    await palette().waitFor()
  })
})

describe('the command palette', () => {
  it('opens from a field, matches any of the typed words, and returns the focus', async () => {
    await app.page.getByRole('searchbox', { name: en('tokens.search') }).focus()
    await openPalette()
    expect(await axeFaults(app.page)).toEqual([])
    await takePicture(app.page, 'command-palette')
    await app.page.keyboard.type('settings pers go')
    await expect.poll(() => options().allInnerTexts()).toHaveLength(1)
    await app.page.keyboard.press('Escape')
    await palette().waitFor({ state: 'detached' })
    await expect.poll(focused).toBe(en('tokens.search'))
  })

  it('lists the actions of the page, and performs the selected one', async () => {
    await openPalette()
    await options()
      .filter({ hasText: en('tokens.create') })
      .waitFor()
    await app.page.keyboard.type('dark')
    await app.page.keyboard.press('Enter')
    await palette().waitFor({ state: 'detached' })
    await expect.poll(() => app.page.locator('html').getAttribute('data-theme')).toBe('dark')
    await openPalette()
    await app.page.keyboard.type('中文')
    await app.page.keyboard.press('Enter')
    await heading(zh('shell.tokens'))
  })

  it('finds tokens and channels by name, and opens the list of the selected one', async () => {
    await openPalette()
    await app.page.keyboard.type('DeepS')
    await options().filter({ hasText: 'DeepSeek' }).waitFor()
    await app.page.keyboard.press('Enter')
    await heading(en('shell.channels'))
    expect(new URL(app.page.url()).searchParams.get('keyword')).toBe('DeepSeek')
  })

  it('finds a page by words for what it contains', async () => {
    await openPalette()
    const search = palette().getByRole('combobox')
    const all = await options().count()
    for (const [query, page] of [
      ['price', 'shell.settings'],
      ['smtp', 'shell.settings'],
      ['retry', 'shell.settings'],
      ['2fa', 'shell.me'],
      ['password', 'shell.me'],
      ['new token', 'shell.tokens'],
    ] as const) {
      await search.fill(query)
      const place = en('commands.goTo', { page: en(page) })
      const isFound = async () => {
        const titles = await options().allInnerTexts()
        return titles.length < all && titles.some((title) => title.includes(place))
      }
      await expect.poll(isFound, { message: query }).toBe(true)
      await search.fill('')
      await expect.poll(() => options().count()).toBe(all)
    }
  })

  it('says that nothing matches', async () => {
    await openPalette()
    await app.page.keyboard.type('zzzz')
    await palette().getByText(en('commands.nothing')).waitFor()
    await app.page.keyboard.press('Enter')
    await palette().waitFor()
  })
})
