import { beforeEach, expect, it } from 'vitest'
import { zh } from '#test/support/console-texts.ts'
import { token } from '../support/admin-site.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { type FakeLive, fakeLive } from '../support/fake-live-socket.ts'
import { ok } from '../support/fake-site.ts'

const app = pageFixture({ language: 'zh' })
let live: FakeLive
beforeEach(async () => {
  live = await fakeLive(app.page)
})

const row = (name: string) => app.page.getByRole('row').filter({ hasText: name })
const tell = (position: number, data: object) => live.send('tokens', position, data)

const spent = {
  ...{ id: 1, name: 'production', status: 4, remain_quota: 0, used_quota: 5_000_000 },
  ...{ unlimited_quota: false, expired_time: -1, accessed_time: 1 },
}

/** Opens the list and waits until it shows its latest read, so that no read is in flight. */
async function openList(): Promise<void> {
  let reads = 0
  app.site.routes['GET /api/token/'] = () => {
    reads += 1
    return ok({ items: [token({ used_quota: reads * 500_000 })], page: 0, total: 1 })
  }
  await app.openAsRoot('/app/tokens')
  await row('production').waitFor()
  await expect.poll(live.connections).toBe(1)
  const readsBefore = reads
  live.resync('tokens')
  await expect.poll(() => reads).toBeGreaterThan(readsBefore)
  const shown = () => row('production').getByText(zh('tokens.used', { amount: `$${reads}.00` }))
  await expect.poll(() => shown().count()).toBe(1)
}

it('the list shows at once that a token is exhausted, disabled or deleted elsewhere', async () => {
  await openList()
  tell(7, spent)
  await row('production').getByText(zh('shared.state.exhausted')).waitFor()
  await row('production')
    .getByText(zh('tokens.used', { amount: '$10.00' }))
    .waitFor()
  tell(8, { ...spent, status: 2 })
  await row('production').getByText(zh('shared.state.disabled')).waitFor()
  app.site.routes['GET /api/token/'] = () => ok({ items: [], page: 0, total: 0 })
  tell(9, { id: 1, deleted: true })
  await app.page.getByText(zh('tokens.noneTitle')).waitFor()
})

it('a response that was read before an event does not undo the event', async () => {
  await openList()
  const late = Promise.withResolvers<void>()
  const page = (status: number) => ok({ items: [token({ status })], page: 0, total: 1 })
  app.site.routes['GET /api/token/'] = async () => {
    app.site.routes['GET /api/token/'] = () => page(4)
    await late.promise
    return page(1)
  }
  const reads = app.calls('GET /api/token/').length
  live.resync('tokens')
  await expect.poll(() => app.calls('GET /api/token/').length).toBe(reads + 1)
  tell(7, spent)
  await row('production').getByText(zh('shared.state.exhausted')).waitFor()
  late.resolve()
  await expect.poll(() => app.calls('GET /api/token/').length).toBe(reads + 2)
  await row('production').getByText(zh('shared.state.exhausted')).waitFor()
})

it('a token expires at its time without an event from the server', async () => {
  const end = Math.floor(Date.now() / 1_000) + 3_600
  app.site.routes['GET /api/token/'] = () =>
    ok({ items: [token({ expired_time: end })], page: 0, total: 1 })
  await app.page.clock.install()
  await app.openAsRoot('/app/tokens')
  await row('production').getByText(zh('shared.state.enabled')).waitFor()
  await app.page.clock.runFor(3_620_000)
  await row('production').getByText(zh('shared.state.expired')).waitFor()
  await expect
    .poll(() =>
      app.page
        .getByRole('switch', { name: zh('shared.enableNamed', { name: 'production' }) })
        .isDisabled(),
    )
    .toBe(true)
})

it('a list of a thousand tokens draws at most 60 rows while it scrolls', async () => {
  const items = Array.from({ length: 1_000 }, (_, n) => token({ id: n + 1, name: `token ${n}` }))
  app.site.routes['GET /api/token/'] = () => ok({ items, page: 0, total: 1_000 })
  await app.openAsRoot('/app/tokens')
  await row('token 0').first().waitFor()
  const grid = app.page.getByRole('grid').first()
  const drawn = await grid.evaluate(async (element) => {
    let most = 0
    for (let frame = 0; frame < 40; frame += 1) {
      element.scrollTop += 400
      await new Promise((done) => requestAnimationFrame(done))
      most = Math.max(most, element.querySelectorAll('[role="row"]').length)
    }
    return most
  })
  await expect.poll(() => grid.evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(10_000)
  expect(drawn).toBeLessThanOrEqual(60)
})
