import { expect, it } from 'vitest'
import { en } from '#test/support/console-texts.ts'
import { budget } from '#test/support/time-limit.ts'
import { openAsRoot } from '../support/admin-site.ts'
import { channelHealth, circuit, figures } from '../support/channel-health-samples.ts'
import { channel, channelRoutes } from '../support/channel-routes.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { ok } from '../support/fake-site.ts'
import { FRAME_MS, scrollWork } from '../support/scroll-work.ts'

// A new process has no garbage of earlier pages, which would distort the measurement.
const app = pageFixture({ language: 'en', isFirstVisit: true })

const CHANNELS = Array.from({ length: 1_000 }, (_, index) =>
  channel({
    id: index + 1,
    name: `channel-${index + 1}`,
    tag: 'fleet',
    status: (index % 3) + 1,
    response_time: (index * 37) % 9_000,
    priority: index % 7,
  }),
)

it('1 000 channels under one tag scroll at 60 frames a second', async () => {
  const { page, site } = app
  Object.assign(site.routes, channelRoutes(CHANNELS))
  await page.addInitScript(() => localStorage.setItem('enable-tag-mode', 'true'))
  await openAsRoot(page, site, '/admin/channels')
  await page.getByRole('button', { name: en('channels.showChildren', { tag: 'fleet' }) }).click()
  await page.getByRole('row', { name: 'channel-1 ' }).first().waitFor()
  await expect.poll(() => page.locator('.tg-grid-item').count()).toBeLessThanOrEqual(60)
  const perFrame = await scrollWork(page, page.getByRole('treegrid'))
  console.log(`channels, work a frame: ${perFrame.map((ms) => ms.toFixed(1)).join(', ')} ms`)
  expect(Math.min(...perFrame)).toBeGreaterThan(0.5)
  expect(Math.min(...perFrame)).toBeLessThan(budget(FRAME_MS))
  await page.getByRole('treegrid').evaluate((grid) => grid.scrollTo({ top: grid.scrollHeight }))
  await page.getByRole('row', { name: 'channel-1000' }).waitFor()
})

/** Half of the channels have problems, so that their rows show as much as possible. */
const BOARD = Array.from({ length: 1_015 }, (_, index) =>
  channelHealth({
    id: index + 1,
    name: `channel-${index + 1}`,
    tag: 'fleet',
    balance: index,
    circuits: index % 2 === 0 ? [circuit({ until: Date.now() + 600_000 })] : [],
    figures: { m5: figures({}), h1: figures({}), d1: figures({}) },
    minutes: Array.from({ length: 60 }, (_, n) => [
      Math.floor(Date.now() / 60_000) * 60 - n * 60,
      (index + n) % 9,
      n % 3,
    ]),
  }),
)

it('the health board with 1 015 channels scrolls at 60 frames a second', async () => {
  const { page, site } = app
  site.routes['GET /api/channel/health'] = () => ok({ at: Date.now(), channels: BOARD })
  await openAsRoot(page, site, '/admin/health')
  const board = page.getByRole('grid', { name: en('shell.health') })
  await board.getByRole('row', { name: 'channel-1 ' }).first().waitFor()
  await expect.poll(() => page.locator('.tg-grid-item').count()).toBeLessThanOrEqual(60)
  const perFrame = await scrollWork(page, board)
  console.log(`board, work a frame: ${perFrame.map((ms) => ms.toFixed(1)).join(', ')} ms`)
  expect(Math.min(...perFrame)).toBeGreaterThan(0.5)
  expect(Math.min(...perFrame)).toBeLessThan(budget(FRAME_MS))
})
