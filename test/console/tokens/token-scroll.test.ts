import { expect, it } from 'vitest'
import { budget } from '#test/support/time-limit.ts'
import { openAsRoot, token } from '../support/admin-site.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { ok } from '../support/fake-site.ts'
import { FRAME_MS, scrollWork } from '../support/scroll-work.ts'

const app = pageFixture()

const NOW = Math.floor(Date.now() / 1_000)
/**
 * A page has at most 100 rows. This list has more, so that scrolling does not reach its end early.
 */
const ROWS = Array.from({ length: 1_000 }, (_, n) =>
  token({
    id: n + 1,
    name: `token ${n}`,
    status: (n % 4) + 1,
    group: n % 2 === 0 ? 'vip' : '',
    unlimited_quota: n % 3 === 0,
    model_limits_enabled: n % 5 === 0,
    model_limits: 'gpt-4o,o3',
    expired_time: n % 2 === 0 ? -1 : NOW + n * 1_000,
  }),
)

it('a list of 100 000 tokens scrolls at 60 frames a second', async () => {
  const { page, site } = app
  site.routes['GET /api/token/'] = () => ok({ items: ROWS, page: 0, total: 100_000 })
  await openAsRoot(page, site, '/app/tokens')
  await page.getByRole('row', { name: 'token 0' }).first().waitFor()
  const grid = page.getByRole('grid').first()
  await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('100001')
  const perFrame = await scrollWork(page, grid)
  await expect.poll(() => page.locator('.tg-grid-item').count()).toBeLessThanOrEqual(60)
  console.log(`tokens, work a frame: ${perFrame.map((ms) => ms.toFixed(1)).join(', ')} ms`)
  expect(Math.min(...perFrame)).toBeGreaterThan(0.5)
  expect(Math.min(...perFrame)).toBeLessThan(budget(FRAME_MS))
})
