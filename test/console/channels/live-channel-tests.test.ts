import { expect, it } from 'vitest'
import { zh } from '#test/support/console-texts.ts'
import { openAsRoot } from '../support/admin-site.ts'
import { channel } from '../support/channel-routes.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { fakeLive } from '../support/fake-live-socket.ts'
import { ok } from '../support/fake-site.ts'

const app = pageFixture({ language: 'zh' })

it('the live stream updates the progress of a test of all channels without polling', async () => {
  const { page, site } = app
  const live = await fakeLive(page)
  const run = { run: 'r1', total: 4, started_time: 1, ended_time: 0, is_running: true }
  site.routes['GET /api/channel/test/progress'] = () => ok({ ...run, tested: 0, failed: 0 })
  await openAsRoot(page, site, '/admin/channels')
  await page.getByText(zh('channelTests.progress', { tested: 0, total: 4, failed: 0 })).waitFor()
  await expect.poll(live.connections).toBe(1)
  const progressReads = () =>
    site.calls.filter(({ path }) => path === '/api/channel/test/progress').length
  const tell = (position: number, tested: number, failed: number, ended_time = 0) =>
    live.send('channels', position, {
      kind: 'test',
      channels: [
        {
          ...{ id: 2, response_time: 400 + tested, test_time: 1, balance: 41.5 },
          ...{ balance_updated_time: 1, model: 'm', is_success: true, reason: '' },
        },
      ],
      run: { ...run, tested, failed, ended_time, is_running: ended_time === 0 },
    })
  await page.getByRole('row', { name: 'DeepSeek' }).waitFor()
  // The page reads the progress again once the live stream is ready.
  await page.waitForLoadState('networkidle')
  const before = progressReads()
  tell(5, 1, 0)
  await page.getByText(zh('channelTests.progress', { tested: 1, total: 4, failed: 0 })).waitFor()
  await page
    .getByRole('row', { name: 'DeepSeek' })
    .getByText(zh('channels.seconds', { seconds: '0.40' }))
    .waitFor()
  tell(6, 3, 1)
  await page.getByText(zh('channelTests.progress', { tested: 3, total: 4, failed: 1 })).waitFor()
  expect(progressReads()).toBe(before)
  tell(7, 4, 1, 9)
  await page.getByText(zh('channelTests.allDone', { tested: 4, failed: 1 })).waitFor()
  await page
    .getByRole('progressbar', { name: zh('channelTests.progressLabel') })
    .waitFor({ state: 'detached' })
})

it('all changes of channels within a second cause only one new read of the tags', async () => {
  const { page, site } = app
  const live = await fakeLive(page)
  await openAsRoot(page, site, '/admin/channels')
  await page.getByRole('button', { name: zh('channels.tagMode') }).click()
  await page.getByText(zh('channels.tagEnabled', { count: 2, total: 2 })).waitFor()
  await expect.poll(live.connections).toBe(1)
  const reads = () => site.calls.filter(({ query }) => query.get('tag_mode') === 'true').length
  const before = reads()
  await page.clock.install()
  await page.clock.pauseAt(Date.now() + 60_000)
  for (let position = 1; position <= 12; position += 1) {
    const data = channel({ used_quota: position })
    live.send('channels', position, data)
    await page.clock.runFor(50)
  }
  expect(reads()).toBe(before)
  await page.clock.runFor(1_000)
  await expect.poll(reads).toBe(before + 1)
})
