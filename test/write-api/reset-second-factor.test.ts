import { Secret, TOTP } from 'otpauth'
import { describe, expect, it } from 'vitest'
import { credentialsDecider } from '#domain/credentials/decide.ts'
import { credentialsStream } from '#domain/credentials/events.ts'
import type { User } from '#read-api/contract/users.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { entryFixture } from './entry-fixture.ts'
import { callerOf, fifty, PASSWORD } from './write-fixture.ts'

const fixture = startedOnce(entryFixture)

const PATH = '/api/user/reset_second_factor'
const reset = (id: number, call = fixture.root.call) => call('POST', PATH, { body: { id } })

const hasFactor = async (id: number) =>
  (await fixture.root.call<User>('GET', `/api/user/${id}`)).data.has_second_factor

/** Creates a user or an admin with an authenticator app and an access token. */
async function secured(username: string, isAdmin = false) {
  const { root } = fixture
  const body = { username, password: PASSWORD }
  const { id } = (await root.call<{ id: number }>('POST', '/api/user/', { body })).data
  const promote = { id, action: 'promote' }
  if (isAdmin) await root.call('POST', '/api/user/manage', { body: promote })
  const { call } = await fixture.logIn(username)
  const token = (await call<string>('GET', '/api/user/token')).data
  const proof = { body: { password: PASSWORD } }
  const begun = await call<{ secret: string }>('POST', '/api/user/totp/begin', proof)
  const timestamp = Date.now() + fixture.clock.ahead
  const code = new TOTP({ secret: Secret.fromBase32(begun.data.secret) }).generate({ timestamp })
  const on = await call('POST', '/api/user/totp', { body: { code } })
  expect(on.success).toBe(true)
  const headers = { authorization: `Bearer ${token}`, 'user-id': String(id) }
  return { id, call, byToken: callerOf(fixture.app, headers) }
}

const firstStep = (username: string) =>
  fixture.anybody('POST', '/api/user/login', { body: { username, password: PASSWORD } })

const secretsOf = async (id: number) => {
  const text = `select from vault.secrets where purpose = 'totp' and owner = $1`
  return (await fixture.core.pg.query(text, [`user:${id}`])).rowCount
}

describe('the reset of a second factor by an admin', () => {
  it('removes the secret and every login, with an event that names the admin', async () => {
    const { id, call, byToken } = await secured('lost1')
    expect((await firstStep('lost1')).data).toHaveProperty('second_factor')
    expect(await hasFactor(id)).toBe(true)
    expect(await reset(id, fixture.admin.call)).toMatchObject({ status: 200, success: true })
    expect(await hasFactor(id)).toBe(false)
    expect((await call('GET', '/api/user/self')).status).toBe(401)
    expect((await byToken('GET', '/api/user/self')).status).toBe(401)
    expect((await firstStep('lost1')).data).toMatchObject({ id, username: 'lost1' })
    const [event] = (await fixture.core.store.readStream(`credentials-${id}`)).slice(-1)
    expect(event).toMatchObject({ type: 'SecondFactorReset', meta: { actor: 'user:2' } })
    expect(await secretsOf(id)).toBe(0)
    expect(await fixture.isFold('credentials')).toBe(true)
    expect(await fixture.isFold('users')).toBe(true)
  })

  it('removes the secret that an interrupted reset left behind', async () => {
    const { id } = await secured('lost6')
    const command = { type: 'ResetSecondFactor', userId: id }
    const step = { decider: credentialsDecider, stream: credentialsStream(id), command }
    const context = { actor: 'user:1', cause: null, at: fixture.core.now() }
    await fixture.core.actors.handleTogether([step], context)
    expect(await secretsOf(id)).toBe(1)
    expect((await reset(id)).code).toBe('NoSecondFactor')
    expect(await secretsOf(id)).toBe(0)
  })

  it('is reported by mail to the user, if the user has an address', async () => {
    const { id, call } = await secured('lost2')
    const code = await fixture.codeFor('lost2@mail.example', call)
    const query = new URLSearchParams({ email: 'lost2@mail.example', code })
    expect((await call('GET', `/api/oauth/email/bind?${query}`)).success).toBe(true)
    const silent = await secured('lost3')
    const before = fixture.server.mails.length
    expect((await reset(silent.id)).success).toBe(true)
    expect((await reset(id)).success).toBe(true)
    const mail = await fixture.server.mailTo('lost2@mail.example')
    expect(mail.text).toMatch(/两步验证[\s\S]*two-step login/)
    expect(fixture.server.mails.length).toBe(before + 1)
  })

  it('succeeds once when fifty run at once', async () => {
    const { id } = await secured('lost4')
    const answers = await fifty(() => reset(id))
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    const rest = answers.filter(({ success }) => !success)
    expect(new Set(rest.map(({ code }) => code))).toEqual(new Set(['NoSecondFactor']))
  })

  it('needs an existing second factor of another user with a lower level', async () => {
    const peer = await secured('lost5', true)
    const head = await fixture.head()
    expect((await reset(peer.id, fixture.admin.call)).code).toBe('RoleTooHigh')
    expect((await reset(1, fixture.admin.call)).code).toBe('RoleTooHigh')
    expect((await reset(2, fixture.admin.call)).code).toBe('OwnSecondFactorElsewhere')
    expect((await reset(1)).code).toBe('OwnSecondFactorElsewhere')
    expect((await reset(3)).code).toBe('NoSecondFactor')
    expect((await reset(99_999)).status).toBe(404)
    expect(await fixture.head()).toBe(head)
    expect((await peer.call('GET', '/api/user/self')).status).toBe(200)
    expect((await reset(peer.id)).success).toBe(true)
  })
})
