import { describe, expect, it } from 'vitest'
import { readViews, searchOf, withView } from '#console/features/usage-log/saved-views-button.tsx'
import { en } from '#test/support/console-texts.ts'
import { axeFaults } from '../support/axe.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { startFakeSite } from '../support/fake-site.ts'
import { takePicture } from '../support/open-page.ts'
import { enter, logRoutes, manyRows } from './fake-usage-log.ts'

const PATH = '/app/logs/api-usage'

describe('the list of saved views', () => {
  const view = (name: string, search = 'type=6') => ({ name, search })

  it('is sorted by name, and contains each name once', () => {
    const views = withView(withView([view('b')], view('a')), view('b', 'model=o3'))
    expect(views).toEqual([view('a'), view('b', 'model=o3')])
  })

  it('ignores stored values that are not views', () => {
    const stored = [view('a'), { name: '' }, { name: 'x', search: 1 }, null, 'view']
    expect(readViews(stored)).toEqual([view('a')])
    expect(readViews('views')).toBe(null)
  })

  it('stores the query of a URL without the page number', () => {
    expect(searchOf('https://a.example/app/logs?p=3&type=6&model=o3')).toBe('model=o3&type=6')
  })
})

describe('the saved views of the usage log', () => {
  const rows = manyRows(30)
  const app = pageFixture({ startSite: () => startFakeSite(logRoutes(() => rows)) })

  it('are saved by name, appear in the URL when opened, and can be deleted', async () => {
    const { page, site } = app
    await enter(page, `${site.url}${PATH}?type=6&p=1`, { language: 'en' })
    const opener = page.getByRole('button', { name: en('usageLog.views.title') })
    await opener.click()
    await page.getByRole('textbox', { name: en('usageLog.views.name') }).fill('Failures')
    await page.keyboard.press('Enter')
    const saved = page.getByRole('button', { name: 'Failures', exact: true })
    await saved.waitFor()
    // Only the panel is checked, because it temporarily covers parts of other elements.
    expect(await axeFaults(page, '.tg-popover')).toEqual([])
    await takePicture(page, 'log-views')
    await page.goto(site.url + PATH)
    await opener.click()
    await saved.click()
    await page.waitForURL(/type=6/)
    expect(new URL(page.url()).searchParams.get('columns')).toMatch(/^time,username,token/)
    expect(new URL(page.url()).searchParams.has('p')).toBe(false)
    const type = page.getByRole('combobox', { name: en('usageLog.typeFilter') })
    await expect.poll(() => type.inputValue()).toBe('6')
    await page.goBack()
    await page.waitForURL((url) => !url.search.includes('type'))
    await opener.click()
    await page
      .getByRole('button', { name: en('usageLog.views.delete', { name: 'Failures' }) })
      .click()
    await saved.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: en('shared.undo') }).click()
    await opener.click()
    await saved.waitFor()
  })
})
