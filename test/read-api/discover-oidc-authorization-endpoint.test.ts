import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Status } from '#read-api/contract/status.ts'
import { type SeededFixture, seededFixture } from '#test/write-api/write-fixture.ts'

let fixture: SeededFixture
let server: Server
let requestCount = 0
let answer: { status: number; text: string } | null = null

beforeAll(async () => {
  fixture = await seededFixture()
  server = createServer((_, response) => {
    requestCount += 1
    // null: it takes the question and never answers.
    if (answer === null) return
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await fixture.close()
})

const document = (endpoint: unknown) => ({
  status: 200,
  text: JSON.stringify({ authorization_endpoint: endpoint }),
})
const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const wellKnown = (site = '') => `${origin()}${site}/.well-known/openid-configuration`
const put = async (key: string, value: string) => {
  const { success } = await fixture.root.call('PUT', '/api/option/', { body: { key, value } })
  expect(success).toBe(true)
}
const endpoint = async () =>
  (await fixture.anybody<Status>('GET', '/api/status')).data.oidc_authorization_endpoint

it('the status has the discovered OIDC endpoint, and never waits for the provider', async () => {
  await put('oidc.well_known', wellKnown())
  await put('oidc.client_id', 'us')
  expect([await endpoint(), requestCount]).toEqual(['', 0])
  await put('oidc.enabled', 'true')
  // The provider is silent: answers come all the same, and it is asked once.
  for (let n = 0; n < 5; n += 1) expect(await endpoint()).toBe('')
  await expect.poll(() => requestCount).toBe(1)
  answer = document('https://id.example/authorize')
  await put('oidc.well_known', wellKnown('/other'))
  await expect.poll(endpoint).toBe('https://id.example/authorize')
  for (let n = 0; n < 5; n += 1) await endpoint()
  expect(requestCount).toBe(2)
})

it('the status keeps the known endpoint during an outage, and omits an invalid one', async () => {
  answer = { status: 500, text: '{}' }
  fixture.clock.ahead += 600_001
  const before = requestCount
  expect(await endpoint()).toBe('https://id.example/authorize')
  await expect.poll(() => requestCount).toBe(before + 1)
  expect(await endpoint()).toBe('https://id.example/authorize')
  answer = document('javascript:alert(1)')
  fixture.root = await fixture.logIn('root')
  await put('oidc.well_known', wellKnown('/hostile'))
  await endpoint()
  await expect.poll(() => requestCount).toBe(before + 2)
  expect(await endpoint()).toBe('')
  await put('oidc.authorization_endpoint', 'https://ours.example/authorize')
  expect(await endpoint()).toBe('https://ours.example/authorize')
})
