import { expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { PASSWORD, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)

const setDemo = (value: string) =>
  fixture.root.call('PUT', '/api/option/', { body: { key: 'DemoSiteEnabled', value } })

it('a demo site answers 405 to writes, except logins, logouts and the super admin’s', async () => {
  const token = { body: { name: 't', remain_quota: 1 } }
  await setDemo('true')
  const head = await fixture.head()
  const refused = await Promise.all([
    fixture.user.call('POST', '/api/token/', token),
    fixture.user.call('PUT', '/api/user/self', { body: { display_name: 'Other' } }),
    fixture.admin.call('PUT', '/api/option/', { body: { key: 'Notice', value: 'x' } }),
    fixture.admin.call('DELETE', '/api/channel/disabled'),
  ])
  for (const answer of refused) {
    expect(answer).toMatchObject({ status: 405, message: '本站仅作演示之用，无服务端！' })
  }
  expect(await fixture.head()).toBe(head)
  expect((await fixture.anybody('PUT', '/api/user/self', token)).status).toBe(401)
  expect((await fixture.user.call('GET', '/api/token/')).success).toBe(true)
  const price = await fixture.user.call('POST', '/api/user/amount', { body: { amount: 10 } })
  expect(price.status).toBe(200)
  expect(await fixture.head()).toBe(head)
  const session = await fixture.logIn('user1')
  expect((await session.call('GET', '/api/user/logout')).success).toBe(true)
  expect((await setDemo('false')).success).toBe(true)
  expect((await fixture.user.call('POST', '/api/token/', token)).success).toBe(true)
})

it('a demo site allows all steps of a login, but creates no account', async () => {
  await setDemo('true')
  const { anybody } = fixture
  const open = [
    ['/api/user/login/second', { ticket: 'none', code: '000000' }, 'LoginTicketOver'],
    ['/api/user/login/second/begin', { ticket: 'none' }, 'LoginTicketOver'],
    ['/api/user/login/passkey/begin', {}, undefined],
  ] as const
  for (const [path, body, code] of open) {
    const headers = { origin: 'https://gate.example', host: 'gate.example' }
    const answer = await anybody('POST', path, { body, headers })
    expect([path, answer.status, answer.code]).toEqual([path, 200, code])
  }
  const account = { username: 'newcomer', password: PASSWORD, password2: PASSWORD }
  expect((await anybody('POST', '/api/user/register', { body: account })).status).toBe(405)
  const query = '?type=github&intent=login'
  expect((await anybody('GET', `/api/oauth/authorize${query}`)).status).toBe(405)
  expect((await anybody('GET', '/api/verification?email=a@example.com')).status).toBe(405)
  await setDemo('false')
})

it('anybody can read the current pages of the operator', async () => {
  const pages = [
    ['Notice', '/api/notice', 'Back at **noon**'],
    ['About', '/api/about', '<h2>Us</h2>'],
    ['HomePageContent', '/api/home_page_content', '# Welcome'],
  ] as const
  for (const [key, path, value] of pages) {
    expect((await fixture.anybody('GET', path)).data).toBe('')
    await fixture.root.call('PUT', '/api/option/', { body: { key, value } })
    expect((await fixture.anybody('GET', path)).data).toBe(value)
  }
})
