import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LatestRelease } from '#read-api/contract/status.ts'
import { isNewer } from '#read-api/updates/latest-release.ts'
import { type SeededFixture, seededFixture } from '#test/write-api/write-fixture.ts'

let fixture: SeededFixture
let server: Server
let requestCount: number
let answer: { status: number; text: string }

beforeAll(async () => {
  fixture = await seededFixture()
  server = createServer((_, response) => {
    requestCount += 1
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(answer.text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  server.close()
  await fixture.close()
})
const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/latest`
const put = async (key: string, value: string) => {
  const { success } = await fixture.root.call('PUT', '/api/option/', { body: { key, value } })
  expect(success).toBe(true)
}
const check = (query = '', call = fixture.admin.call) =>
  call<LatestRelease>('GET', `/api/option/latest_release${query}`)

describe('the update check', () => {
  beforeEach(async () => {
    requestCount = 0
    answer = { status: 200, text: '{"tag_name":"v9.0.0","body":"Better."}' }
    await put('UpdateCheckUrl', address())
    await put('UpdateCheckEnabled', 'false')
  })

  it('requests the configured address each time the button starts it', async () => {
    const { data } = await check('?is_forced=true')
    expect(data).toMatchObject({ latest: 'v9.0.0', notes: 'Better.', is_newer: true })
    expect(data.checked_at).toBeGreaterThan(0)
    answer.text = '{"tag_name":"v0.0.1"}'
    expect((await check('?is_forced=true')).data).toMatchObject({ notes: '', is_newer: false })
    expect(requestCount).toBe(2)
  })

  it.each([
    [500, '{}'],
    [200, 'no json'],
    [200, 'null'],
    [200, '{"tag_name":7}'],
    [200, '{"tag_name":" "}'],
    [302, ''],
    [200, `{"tag_name":"v1","body":"${'x'.repeat(2_000_000)}"}`],
  ])('fails with the specified message if the address returns %i %.20s', async (status, text) => {
    answer = { status, text }
    const failed = await check('?is_forced=true')
    expect(failed).toMatchObject({ status: 200, success: false, code: 'UpdateCheckFailed' })
    expect(failed.message).toBe('检查更新失败，请稍后再试')
  })

  it.each(['http://169.254.169.254/latest', 'http://10.0.0.1/latest'])(
    'never reaches %s',
    async (url) => {
      await put('UpdateCheckUrl', url)
      expect(await check('?is_forced=true')).toMatchObject({ code: 'UpdateCheckFailed' })
    },
  )

  it('answers UpdateCheckUnset while no address is set', async () => {
    await put('UpdateCheckUrl', '')
    expect(await check('?is_forced=true')).toMatchObject({ code: 'UpdateCheckUnset' })
  })

  it('is for admins, but only the super admin may set its address', async () => {
    expect((await check('', fixture.user.call)).status).toBe(403)
    expect((await check('', fixture.anybody)).status).toBe(401)
    const body = { key: 'UpdateCheckUrl', value: 'https://a.example' }
    expect((await fixture.admin.call('PUT', '/api/option/', { body })).status).toBe(403)
    expect(await check('?is_forced=1')).toMatchObject({ status: 400, code: 'InvalidField' })
  })

  it('runs automatically only if it is enabled, and at most once a day', async () => {
    await put('UpdateCheckUrl', `${address()}?by-itself`)
    expect((await check()).data).toMatchObject({ latest: '', is_newer: false, checked_at: 0 })
    expect(requestCount).toBe(0)
    await put('UpdateCheckEnabled', 'true')
    for (let n = 0; n < 3; n += 1) expect((await check()).data.latest).toBe('v9.0.0')
    expect(requestCount).toBe(1)
    fixture.clock.ahead += 86_400_001
    const { call } = await fixture.logIn('admin1')
    for (let n = 0; n < 2; n += 1) await check('', call)
    expect(requestCount).toBe(2)
  })
})

it.each([
  ['v0.1.1', '0.1.0', true],
  ['0.10.0', '0.9.9', true],
  ['1.0', '0.9.9', true],
  ['0.1.0', '0.1.0', false],
  ['0.1.0', '0.1.0-rc.1', true],
  ['0.1.0-rc.1', '0.1.0', false],
  ['0.0.9', '0.1.0', false],
  ['nightly', '0.1.0', false],
])('%s is later than %s: %s', (latest, current, expected) => {
  expect(isNewer(latest, current)).toBe(expected)
})
