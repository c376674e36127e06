import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { ROOT_USER } from './support/admin-site.ts'
import { siteFixture } from './support/console-fixture.ts'
import { ok, STATUS, startFakeSite } from './support/fake-site.ts'

const app = siteFixture(() => startFakeSite({ 'GET /api/status': () => ok(STATUS) }))

it.each([
  { path: '/login', kibMax: 200, user: null },
  { path: '/app/logs/api-usage', kibMax: 260, user: ROOT_USER },
])('$path loads at most $kibMax KiB of script, all of it needed', async (given) => {
  const { page, close } = await app.openPage({ isFirstVisit: true })
  const scripts: { url: string; bytes: Promise<number> }[] = []
  page.on('response', (response) => {
    if (!response.url().endsWith('.js')) return
    const bytes = response.body().then((body) => gzipSync(body, { level: 9 }).length)
    scripts.push({ url: response.url(), bytes })
  })
  await page.addInitScript((text) => {
    if (text !== 'null') localStorage.setItem('user', text)
  }, JSON.stringify(given.user))
  await page.goto(app.site.url + given.path, { waitUntil: 'networkidle' })
  await page.getByRole('heading', { level: 1 }).waitFor()
  const sizes = await Promise.all(scripts.map((script) => script.bytes))
  expect(scripts.length).toBeGreaterThan(3)
  expect(sizes.reduce((sum, size) => sum + size, 0) / 1024).toBeLessThanOrEqual(given.kibMax)
  // Icons of the UI kit and code for expanded rows are not loaded.
  expect(scripts.filter(({ url }) => /paths|log-details/i.test(url))).toEqual([])
  await close()
})
