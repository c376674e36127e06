import type { Locator } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { en, TEXTS, textPattern, zh } from '#test/support/console-texts.ts'
import { LANGUAGES } from './support/accessibility-faults.ts'
import { openAsRoot, TOKENS } from './support/admin-site.ts'
import { siteFixture } from './support/console-fixture.ts'
import { ok } from './support/fake-site.ts'
import { takePicture } from './support/open-page.ts'
import { cutAmong } from './support/truncated-texts.ts'

const app = siteFixture()

describe.each(LANGUAGES)('lists at 1280 pixels, in %s', (language) => {
  it('the token list shows every column, and no cell is cut off', async () => {
    const [first] = TOKENS
    const now = Math.floor(Date.now() / 1_000)
    const odd = [
      { ...first, expired_time: now - 320, accessed_time: 1, remain_quota: 430, used_quota: 270 },
      { ...first, id: 99, status: 3, expired_time: 1 },
      { ...first, id: 98, name: 'nightly exporter-aB3dE9', remain_quota: 1, used_quota: 3 },
    ]
    const items = [...TOKENS, ...odd]
    app.site.routes['GET /api/token/'] = () => ok({ items, page: 0, total: items.length })
    const { page, faults, close } = await app.openPage({ language })
    await page.setViewportSize({ width: 1280, height: 860 })
    await openAsRoot(page, app.site, '/app/tokens')
    await page.getByText('$0.0009').first().waitFor()
    await expect.poll(() => cutAmong(page, '.tg-grid')).toEqual([])
    await expect
      .poll(() => cutAmong(page, '.tg-grid-body :is(.tg-grid-cell, .tg-tag, code)'))
      .toEqual([])
    // In a narrow cell, the used amount moves below the line as a whole, and a name is shortened in
    // the middle.
    await expect.poll(() => page.getByText('$0.000002').first().isVisible()).toBe(true)
    const tails = page.locator('.tg-middle-text > :last-child:not(:only-child)')
    await expect.poll(() => tails.allTextContents()).toEqual(['-aB3dE9'])
    await expect.poll(() => cutAmong(page, '.tg-middle-text > :last-child')).toEqual([])
    await takePicture(page, `tokens-fit-${language}`)
    expect(faults).toEqual([])
    await close()
  })

  it('the channel list shows every column', async () => {
    const { page, faults, close } = await app.openPage({ language })
    await openAsRoot(page, app.site, '/admin/channels')
    await page.getByText('$0.00008').waitFor()
    await expect.poll(() => cutAmong(page, '.tg-grid')).toEqual([])
    await expect.poll(() => cutAmong(page, '.tg-grid-head .tg-grid-title')).toEqual([])
    await expect.poll(() => cutAmong(page, '.tg-balance, .tg-balance > *')).toEqual([])
    await expect.poll(() => cutAmong(page, '.tg-grid-body .tg-tag')).toEqual([])
    await page
      .getByRole('button', { name: TEXTS[language]('channels.bulkMode'), exact: true })
      .click()
    await page.getByRole('checkbox').first().waitFor()
    await expect.poll(() => cutAmong(page, '.tg-grid')).toEqual([])
    await expect.poll(() => cutAmong(page, '.tg-grid-cell:has(.tg-bare)')).toEqual([])
    await takePicture(page, `channels-fit-${language}`)
    expect(faults).toEqual([])
    await close()
  })

  it('the name of a channel tag is shown in full', async () => {
    const { page, faults, close } = await app.openPage({ language })
    await page.setViewportSize({ width: 1280, height: 860 })
    await openAsRoot(page, app.site, '/admin/channels')
    await page.getByRole('button', { name: TEXTS[language]('channels.tagMode') }).click()
    await page.locator('.tg-tag-name').first().waitFor()
    await expect.poll(() => cutAmong(page, '.tg-tag-name .tg-cell-strong')).toEqual([])
    await expect.poll(() => cutAmong(page, '.tg-grid-body .tg-tag')).toEqual([])
    await takePicture(page, `tags-fit-${language}`)
    expect(faults).toEqual([])
    await close()
  })
})

describe('lists on a phone', () => {
  it('a long address fits its drawer, and the editor of a tag shows its buttons', async () => {
    const { page, faults, close } = await app.openPage({ language: 'en', width: 390 })
    await openAsRoot(page, app.site, '/channel/add')
    await page
      .getByRole('textbox', { name: en('shared.baseUrl') })
      .fill(`https://${'a'.repeat(63)}.example`)
    await page
      .getByText(textPattern('en', 'channelForm.baseUrlHint', { address: /https:.*/ }))
      .waitFor()
    await expect.poll(() => cutAmong(page, '.tg-drawer-body')).toEqual([])
    await openAsRoot(page, app.site, '/admin/channels')
    await page.getByRole('button', { name: en('channels.tagMode') }).click()
    await page
      .getByRole('button', { name: en('shared.moreActions', { name: 'the tag' }) })
      .first()
      .click()
    await page.getByRole('menuitem', { name: en('channels.editTag') }).click()
    const bottom = async (place: Locator) => {
      const box = await place.boundingBox()
      return box === null ? Number.NaN : box.y + box.height
    }
    const save = page.getByRole('button', { name: en('shared.saveChanges') })
    const isInside = async () => (await bottom(save)) < (await bottom(page.getByRole('dialog')))
    await expect.poll(isInside).toBe(true)
    expect(faults).toEqual([])
    await close()
  })

  it('the channel list folds its filters, and the card of a tag has no empty lines', async () => {
    const { page, faults, close } = await app.openPage({ language: 'zh', width: 390 })
    await openAsRoot(page, app.site, '/admin/channels')
    const model = page.getByRole('searchbox', { name: zh('ui.model') })
    const more = page.getByRole('button', { name: zh('ui.filters'), exact: true })
    await more.waitFor()
    await expect.poll(() => model.isVisible()).toBe(false)
    await more.click()
    await page.getByRole('combobox', { name: zh('shared.status') }).selectOption('3')
    await page.getByRole('button', { name: zh('shared.filtersCount', { count: 1 }) }).waitFor()
    expect(new URL(page.url()).searchParams.get('status')).toBe('3')
    await takePicture(page, 'channels-filters-390')
    await page.getByRole('button', { name: zh('ui.clearFilters') }).click()
    await page.getByRole('button', { name: zh('channels.tagMode') }).click()
    const card = page.locator('.tg-card', { hasText: 'primary' })
    await card.waitFor()
    const empty = await card
      .locator('dd')
      .evaluateAll((cells) =>
        cells.filter((cell) => cell.textContent === '' && !cell.querySelector('input, button')),
      )
    expect(empty).toEqual([])
    await expect.poll(() => card.getByText(zh('shared.balance')).count()).toBe(0)
    expect(faults).toEqual([])
    await close()
  })
})
