import { expect, it } from 'vitest'
import type { User } from '#read-api/contract/users.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { fifty, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
const DAY_MS = 86_400_000

const set = (key: string, value: string) =>
  fixture.root.call('PUT', '/api/option/', { body: { key, value } })
const checkIn = () => fixture.user.call<{ quota: number }>('POST', '/api/user/check_in')
const fresh = async () => ({ headers: { 'x-after-position': String(await fixture.head()) } })
const isOpen = async () =>
  (await fixture.user.call<object>('GET', '/api/user/check_in_status', await fresh())).data
const quota = async () =>
  (await fixture.user.call<User>('GET', '/api/user/self', await fresh())).data.quota

it('a check-in is refused while the site has check-ins disabled', async () => {
  expect(await isOpen()).toEqual({ can_check_in: false })
  expect(await checkIn()).toMatchObject({ status: 200, code: 'CheckInDisabled' })
})

it('fifty check-ins at once reward once, between the minimum and the maximum', async () => {
  await set('CheckInEnabled', 'true')
  await set('CheckInQuota', '1000')
  await set('CheckInMaxQuota', '3000')
  expect(await isOpen()).toEqual({ can_check_in: true })
  const answers = await fifty(checkIn)
  const [rewarded, ...others] = answers.filter(({ success }) => success)
  expect(others).toEqual([])
  const refused = answers.filter(({ success }) => !success)
  expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['CheckedInAlready']))
  expect(rewarded?.data.quota).toBeGreaterThanOrEqual(1_000)
  expect(rewarded?.data.quota).toBeLessThanOrEqual(3_000)
  expect(await quota()).toBe(rewarded?.data.quota)
  expect(await isOpen()).toEqual({ can_check_in: false })
})

it('a check-in is possible again the next day, but not if the clock goes back', async () => {
  await set('CheckInMaxQuota', '0')
  const before = await quota()
  fixture.clock.ahead = -DAY_MS
  expect(await checkIn()).toMatchObject({ success: false, code: 'CheckedInAlready' })
  fixture.clock.ahead = DAY_MS
  fixture.user = await fixture.logIn('user1')
  expect(await isOpen()).toEqual({ can_check_in: true })
  expect(await checkIn()).toMatchObject({ success: true, data: { quota: 1_000 } })
  expect(await quota()).toBe(before + 1_000)
  fixture.clock.ahead = 0
})
