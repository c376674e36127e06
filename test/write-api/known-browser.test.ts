import { beforeEach, expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { PASSWORD, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
beforeEach(() => {
  fixture.clock.ahead += 3_600_000
})

const logIn = async (username: string, password = PASSWORD, cookie = '') => {
  const payload = { username, password }
  const headers = cookie === '' ? {} : { cookie }
  const answer = await fixture.app.inject({
    ...{ method: 'POST', url: '/api/user/login', headers, payload },
  })
  const device = answer.cookies.find(({ name }) => name.startsWith('device_'))
  return { status: answer.statusCode, device, user: answer.json().data }
}

/** Sends wrong passwords from the IP address that all callers of this test share. */
const guess = async (username: string) => {
  for (let n = 0; n < 12; n += 1) await logIn(username, 'wrong password')
}

it('a known browser can log in while guesses at the account block other browsers', async () => {
  const { device } = await logIn('user1')
  expect(device).toMatchObject({ name: 'device_3', httpOnly: true, path: '/api/user' })
  expect(device?.maxAge).toBe(180 * 86_400)
  await fixture.user.call('POST', '/api/user/logout')
  await guess('user1')
  expect((await logIn('user1')).status).toBe(429)
  const known = await logIn('user1', PASSWORD, `device_3=${device?.value}`)
  expect([known.status, known.user.id]).toEqual([200, 3])
  expect(known.device?.value).toBe(device?.value)
})

it('a known browser is known for one account until the password changes', async () => {
  const { device } = await logIn('user1')
  const { device: admins } = await logIn('admin1')
  await guess('user1')
  const [id] = String(device?.value).split('.')
  for (const cookie of [
    `device_3=${admins?.value}`,
    `device_2=${device?.value}`,
    `device_3=${id}.${'0'.repeat(64)}`,
    `device_3=${id}`,
    'device_3=',
  ]) {
    expect((await logIn('user1', PASSWORD, cookie)).status, cookie).toBe(429)
  }
  const password = 'another password'
  await fixture.root.call('PUT', '/api/user/', { body: { id: 3, password } })
  await guess('user1')
  expect((await logIn('user1', password, `device_3=${device?.value}`)).status).toBe(429)
})

it('the cookie of a known browser is no login, and its wrong passwords are limited', async () => {
  const { device } = await logIn('admin1')
  const cookie = `device_2=${device?.value}`
  expect((await fixture.anybody('GET', '/api/user/self', { headers: { cookie } })).status).toBe(401)
  const tries: number[] = []
  for (let n = 0; n < 7; n += 1)
    tries.push((await logIn('admin1', 'wrong password', cookie)).status)
  expect(tries.filter((status) => status === 429).length).toBeGreaterThan(0)
})
