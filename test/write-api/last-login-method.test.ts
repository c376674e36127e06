import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { credentialsDecider } from '#domain/credentials/decide.ts'
import { credentialsStream } from '#domain/credentials/events.ts'
import { userDecider } from '#domain/users/decide.ts'
import { userStream } from '#domain/users/events.ts'
import { bindSteps } from '#write-api/users/bind-and-unbind-identities.ts'
import {
  type Caller,
  callerOf,
  PASSWORD,
  type SeededFixture,
  seededFixture,
  type WriteFixture,
  writeFixture,
} from './write-fixture.ts'

const SITE = { origin: 'https://gate.example', host: 'gate.example' }

/** Two processes on one database, where password login is disabled. */
let here: SeededFixture
let there: WriteFixture
let id: number
/** Callers with the same session, one per process. */
let calls: { here: Caller; there: Caller }

beforeAll(async () => {
  here = await seededFixture()
  const { databaseUrl, secretKey } = here.core.config
  there = await writeFixture({ databaseUrl, secretKey })
  const session = { cookie: here.user.cookie, 'user-id': String(here.user.id) }
  id = here.user.id
  const at =
    (call: Caller): Caller =>
    (method, url, { body } = {}) =>
      call(method, url, { body, headers: SITE })
  calls = { here: at(callerOf(here.app, session)), there: at(callerOf(there.app, session)) }
  await put('PasswordLoginEnabled', 'false')
  await put('GitHubOAuthEnabled', 'true')
})
afterAll(async () => {
  await there.close()
  await here.close()
})

const put = (key: string, value: string) =>
  here.root.call('PUT', '/api/option/', { body: { key, value } })

const unbind = (call: Caller) => call('POST', '/api/user/unbind', { body: { provider: 'github' } })
const remove = (call: Caller, passkeyId: number) =>
  call('POST', '/api/user/passkeys/remove', { body: { id: passkeyId, password: PASSWORD } })

/** Returns the user's current login methods. */
async function loginMethods() {
  const { actors } = here.core
  const { user } = await actors.stateOf(userDecider, userStream(id))
  const { passkeys } = await actors.stateOf(credentialsDecider, credentialsStream(id))
  return { hasGitHub: user?.identities.github !== undefined, passkeys: [...passkeys.keys()] }
}

/**
 * Sets up GitHub, or removes it, and the given number of passkeys for logging in. Returns the ids
 * of the passkeys.
 */
async function given(target: { hasGitHub: boolean; passkeys: number }): Promise<number[]> {
  const { core } = here
  const context = { actor: `user:${id}`, cause: null, at: core.now() }
  const { hasGitHub, passkeys } = await loginMethods()
  if (target.hasGitHub && !hasGitHub) {
    const steps = await bindSteps({ core }, id, { provider: 'github', id: '7' }, null)
    expect((await core.actors.handleTogether(steps, context)).isDone).toBe(true)
  }
  for (let made = passkeys.length; made < target.passkeys; made += 1) await addPasskey()
  if (!target.hasGitHub && hasGitHub) expect((await unbind(calls.here)).success).toBe(true)
  return (await loginMethods()).passkeys
}

async function addPasskey(): Promise<void> {
  const { actors, vault, now } = here.core
  const key = crypto.randomUUID()
  const record = { id: key, publicKey: '', transports: [], site: 'gate.example' }
  const command = {
    type: 'AddPasskey',
    userId: id,
    name: await vault.seal(id, 'phone'),
    credential: await vault.seal(id, JSON.stringify({ ...record, isUnlockable: true })),
    credentialHash: key,
    counter: 0,
    codeHashes: [],
  } as const
  const context = { actor: `user:${id}`, cause: null, at: now() }
  await actors.handle(credentialsDecider, credentialsStream(id), command, context)
}

/** Runs two actions that both decide before either of them appends. */
async function atOnce<T>(one: () => Promise<T>, other: () => Promise<T>): Promise<T[]> {
  const bothThere = Promise.withResolvers<void>()
  let missing = 2
  const spies = [here, there].map(({ core: { store } }) => {
    const append = store.append.bind(store)
    return vi.spyOn(store, 'append').mockImplementation(async (streams) => {
      missing -= 1
      if (missing === 0) bothThere.resolve()
      await bothThere.promise
      return append(streams)
    })
  })
  const answers = await Promise.all([one(), other()])
  for (const spy of spies) spy.mockRestore()
  expect(missing).toBeLessThanOrEqual(0)
  return answers
}

describe('two processes that remove the last two login methods at once', () => {
  it('leave one method, in fifty rounds with an identity and a passkey', async () => {
    for (let round = 0; round < 50; round += 1) {
      const [passkey = 0] = await given({ hasGitHub: true, passkeys: 1 })
      const [one, other] = round % 2 === 0 ? [calls.here, calls.there] : [calls.there, calls.here]
      const answers = await atOnce(
        () => unbind(one),
        () => remove(other, passkey),
      )
      expect(answers.map(({ code }) => code ?? 'done').sort()).toEqual(['LastWayIn', 'done'])
      const { hasGitHub, passkeys } = await loginMethods()
      expect(Number(hasGitHub) + passkeys.length).toBe(1)
    }
  })

  it('leave one of two passkeys if the user has no other method', async () => {
    const [first = 0, second = 0] = await given({ hasGitHub: false, passkeys: 2 })
    const answers = await atOnce(
      () => remove(calls.here, first),
      () => remove(calls.there, second),
    )
    expect(answers.map(({ code }) => code ?? 'done').sort()).toEqual(['LastWayIn', 'done'])
    expect((await loginMethods()).passkeys).toHaveLength(1)
  })

  it('remove both if a third method remains, and neither must be retried', async () => {
    const [first = 0, second = 0] = await given({ hasGitHub: true, passkeys: 2 })
    const answers = await atOnce(
      () => remove(calls.here, first),
      () => remove(calls.there, second),
    )
    expect(answers.map(({ success }) => success)).toEqual([true, true])
    expect(await loginMethods()).toEqual({ hasGitHub: true, passkeys: [] })
  })

  it('leave one method if one of them is an admin’s reset of the passkeys', async () => {
    await given({ hasGitHub: true, passkeys: 1 })
    const body = { id }
    const answers = await atOnce(
      () => unbind(calls.there),
      () => here.root.call('POST', '/api/user/reset_second_factor', { body }),
    )
    const refused = answers.flatMap(({ code }) => code ?? [])
    expect(['LastWayIn', 'OnlyPasskeysLeft']).toContain(refused.join())
    const { hasGitHub, passkeys } = await loginMethods()
    expect(Number(hasGitHub) + passkeys.length).toBe(1)
  })
})
