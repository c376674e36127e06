import { userDecider } from '#domain/users/decide.ts'
import { userStream } from '#domain/users/events.ts'
import { type Caller, callerOf, type WriteFixture } from './write-fixture.ts'

/** More concurrent commands would exceed the database clients' time limit. */
const AT_ONCE = 50

type Needed = Pick<WriteFixture, 'core' | 'app' | 'freshness'>

/**
 * Creates `count` more users with sessions, without the cost of hashing passwords. Each user has a
 * separate IP address unless one is given.
 */
export async function manyUsers(
  { core, app, freshness }: Needed,
  count: number,
  firstId = 1_000,
  address?: string,
): Promise<{ readonly id: number; readonly call: Caller }[]> {
  const ids = Array.from({ length: count }, (_, n) => firstId + n)
  const create = async (userId: number): Promise<void> => {
    const name = await core.vault.seal(userId, `user${userId}`)
    const about = { username: name, displayName: name, role: 1, group: 'default' } as const
    const command = { type: 'CreateUser', userId, ...about } as const
    const context = { actor: 'system:test', cause: null, at: core.now() }
    const given = { ...command, passwordRef: null, inviterId: null }
    await core.actors.handle(userDecider, userStream(userId), given, context)
  }
  for (let from = 0; from < count; from += AT_ONCE) {
    await Promise.all(ids.slice(from, from + AT_ONCE).map(create))
  }
  await freshness.waitFor(['users'], await core.store.headPosition(), 10_000)
  return Promise.all(
    ids.map(async (id) => {
      const session = await app.gate.sessions.start(id, 1)
      const said = { cookie: `session=${session}`, 'user-id': String(id) }
      return { id, call: callerOf(app, said, address ?? `10.1.${id >> 8}.${id & 255}`) }
    }),
  )
}
