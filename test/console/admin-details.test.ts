import { expect, it } from 'vitest'
import { en } from '#test/support/console-texts.ts'
import { openAsRoot } from './support/admin-site.ts'
import { channel, channelRoutes } from './support/channel-routes.ts'
import { pageFixture } from './support/console-fixture.ts'
import { fakeLive } from './support/fake-live-socket.ts'
import { ok } from './support/fake-site.ts'

const app = pageFixture()

const reads = () => app.site.calls.filter(({ path }) => path === '/api/channel/').length

it('a live event updates the row of a channel; only a new or deleted one is fetched', async () => {
  const { page, site } = app
  const live = await fakeLive(page)
  const later = channelRoutes([
    channel({ id: 2, name: 'DeepSeek West', type: 43 }),
    channel({ id: 4, name: 'Local', type: 8 }),
  ])
  const routes = { ...site.routes }
  site.routes['GET /api/channel/'] = (call) => {
    const answer = (reads() === 1 ? routes : later)['GET /api/channel/']
    return answer?.(call) ?? ok([])
  }
  await openAsRoot(page, site, '/admin/channels')
  await expect.poll(() => live.connections()).toBe(1)
  // The first connection asks for what it may have missed. That answer must be on the page before
  // the live event, because it would otherwise replace the row of the event.
  await page.getByRole('link', { name: 'DeepSeek West' }).waitFor()
  expect(reads()).toBe(2)
  live.send('channels', 5, channel({ id: 2, name: 'DeepSeek East', type: 43 }))
  await page.getByRole('link', { name: 'DeepSeek East' }).waitFor()
  expect(reads()).toBe(2)
  live.send('channels', 6, { id: 4, deleted: true })
  await expect.poll(reads).toBe(3)
})

it('a dialog shows the text for manual copying when the clipboard is unavailable', async () => {
  const { page, site } = app
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'clipboard', { value: undefined })
    document.execCommand = () => false
  })
  await openAsRoot(page, site, '/app/tokens')
  await page.getByRole('grid').waitFor()
  await page.keyboard.press('c')
  const dialog = page.getByRole('dialog', { name: en('ui.copyFailed') })
  await dialog.waitFor()
  await expect.poll(() => dialog.getByRole('textbox').inputValue()).toBe(`${site.url}/app/tokens`)
  await page.getByRole('alert').getByText(en('ui.copyFailed')).waitFor()
})

it('the page copies with execCommand in browsers without a clipboard API', async () => {
  const { page, site } = app
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'clipboard', { value: undefined })
    document.execCommand = () => {
      const area = document.activeElement
      Object.assign(window, { copied: area instanceof HTMLTextAreaElement ? area.value : null })
      return true
    }
  })
  await openAsRoot(page, site, '/app/tokens')
  await page.getByRole('grid').waitFor()
  await page.keyboard.press('c')
  await page.getByText(en('commands.linkCopied')).waitFor()
  await expect
    .poll(() => page.evaluate(() => (window as unknown as { copied: string }).copied))
    .toBe(`${site.url}/app/tokens`)
})

it('the settings review shows the old and the new lines of each option before a save', async () => {
  const { page, site } = app
  await openAsRoot(page, site, '/admin/settings?tab=models')
  const option = en('options.label.RetryTimes')
  await page.getByLabel(option).fill('7')
  await page.getByRole('button', { name: en('settings.review') }).click()
  const drawer = page.getByRole('dialog', { name: en('settings.reviewTitle') })
  await drawer.getByRole('heading', { name: option }).waitFor()
  await expect.poll(() => drawer.locator('.tg-diff-removed code').allInnerTexts()).toEqual(['0'])
  await expect.poll(() => drawer.locator('.tg-diff-added code').allInnerTexts()).toEqual(['7'])
  expect(site.calls.some(({ method }) => method === 'PUT')).toBe(false)
})
