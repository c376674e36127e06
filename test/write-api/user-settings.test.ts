import { afterAll, beforeAll, expect, it } from 'vitest'
import type { User } from '#read-api/contract/user.ts'
import { type FurnishedFixture, fifty, furnishedFixture } from './write-fixture.ts'

let fixture: FurnishedFixture
beforeAll(async () => {
  fixture = await furnishedFixture()
})
afterAll(() => fixture.close())

const put = (body: unknown) => fixture.user.call('PUT', '/api/user/setting', { body })
const settings = async (): Promise<unknown> => {
  const { data } = await fixture.user.call<User>('GET', '/api/user/self')
  return JSON.parse(data.setting)
}

it('a user says for itself what it accepts; what is left out stays', async () => {
  expect(await settings()).toEqual({
    accept_unset_model_ratio_model: false,
    show_ip_in_logs: false,
  })
  expect((await put({ accept_unset_model_ratio_model: true })).success).toBe(true)
  expect((await put({ show_ip_in_logs: true })).success).toBe(true)
  expect(await settings()).toEqual({ accept_unset_model_ratio_model: true, show_ip_in_logs: true })
  const head = await fixture.head()
  expect((await put({})).success).toBe(true)
  expect(await fixture.head()).toBe(head)
})

it('fifty at once leave both as somebody said', async () => {
  await fifty((n) =>
    put(n % 2 === 0 ? { accept_unset_model_ratio_model: false } : { show_ip_in_logs: false }),
  )
  expect(await settings()).toEqual({
    accept_unset_model_ratio_model: false,
    show_ip_in_logs: false,
  })
})

it.each([
  { accept_unset_model_ratio_model: 'true' },
  { accept_unset_model_ratio_model: 1 },
  { show_ip_in_logs: null },
  [],
  'x',
])('refuses %j, and writes nothing', async (body) => {
  const head = await fixture.head()
  const answer = await put(body)
  expect([answer.success, answer.status]).toEqual([false, 400])
  expect(await fixture.head()).toBe(head)
})
