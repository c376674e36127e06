import { beforeAll, expect, it } from 'vitest'
import type { RelayError } from '#relay/canonical/relay-error.ts'
import { RELAY_ERRORS } from '#relay/canonical/relay-error-catalogue.ts'
import { addPlayground } from '#relay/playground/playground-route.ts'
import { httpFixture } from '#test/infra/http/http-fixture.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'

const fixture = startedOnce(httpFixture)

beforeAll(async () => {
  addPlayground(fixture.app, {
    call: (_request, response, { userId }) => void response.end(JSON.stringify({ userId })),
    reject: (_request, response, error: RelayError) => void response.end(JSON.stringify(error)),
  })
  fixture.addUser(7)
})

it('a temporary password is to be changed first: a refusal, no fault of the gateway', async () => {
  const play = async (isByTemporaryPassword: boolean): Promise<unknown> => {
    const from = { ip: '', userAgent: '', isByTemporaryPassword }
    const id = await fixture.app.gate.sessions.start(7, 0, from)
    const headers = { cookie: `session=${id}`, 'user-id': '7' }
    const url = '/pg/chat/completions'
    return JSON.parse((await fixture.app.inject({ method: 'POST', url, headers })).body)
  }
  expect(await play(false)).toEqual({ userId: 7 })
  expect(await play(true)).toMatchObject({ code: 'password_not_own', params: {} })
  expect(RELAY_ERRORS.password_not_own.status).toBe(403)
  expect(fixture.logged.filter((line) => line.includes('could not be identified'))).toEqual([])
})
