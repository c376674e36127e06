import { Pool } from 'pg'
import { pino } from 'pino'
import Type from 'typebox'
import type { Core } from '#infra/core-dependencies.ts'
import { onlyAdmin, onlyRoot, onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { createHttpApp } from '#infra/http/app.ts'
import type { SessionAccount } from '#infra/http/principal.ts'
import { success } from '#infra/http/response-envelope.ts'
import { setSessionCookie } from '#infra/http/session-and-device-cookies.ts'
import { testDatabase } from '#test/support/test-database.ts'

const Body = Type.Object({
  name: Type.String({ maxLength: 10 }),
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 9007199254740991 })),
  mark: Type.Optional(Type.String({ maxLength: 1 })),
  ids: Type.Optional(Type.Array(Type.Integer({ minimum: 1 }))),
  mode: Type.Optional(Type.Union([Type.Literal('fast'), Type.Literal('slow')])),
  order: Type.Optional(Type.Union(['', 'id', 'name'].map((name) => Type.Literal(name)))),
})

/** Creates an app with a route of each kind. Tests can set its clock and change its users. */
export async function httpFixture(trustProxy: readonly string[] = []) {
  const database = await testDatabase()
  const pg = new Pool({ connectionString: database.url, max: 4 })
  const users = new Map<number, SessionAccount>()
  const clock = { now: Date.now() }
  const logged: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) })
  const core = { pg, log, now: () => clock.now, config: { trustProxy } } as unknown as Core
  const drain = { isDraining: false }
  const app = await createHttpApp(core, {
    findPrincipals: async (ids) => ids.flatMap((id) => users.get(id) ?? []),
    isDraining: () => drain.isDraining,
  })

  app.post('/api/echo', { schema: { body: Body } }, async (request) => success(request.body))
  app.get('/api/open', async () => success('open'))
  app.get('/api/long', async () => success('x'.repeat(10_000)))
  app.get('/api/stream', async (_request, reply) =>
    reply.type('text/event-stream').send(`data: ${'x'.repeat(10_000)}\n\n`),
  )
  app.get('/api/fails', async () => {
    throw new Error('secret-in-an-error')
  })
  app.get('/api/mine', { onRequest: onlyUser }, async (request) => success(principalOf(request)))
  app.get('/api/admins', { onRequest: onlyAdmin }, async () => success('admins'))
  app.post('/api/admins', { onRequest: onlyAdmin }, async () => success('changed'))
  app.get('/api/roots', { onRequest: onlyRoot }, async () => success('roots'))
  app.get('/page', async (_request, reply) => reply.type('text/html').send('<p>page</p>'))
  app.post('/api/enter/:id', async (request, reply) => {
    const { id } = request.params as { id: string }
    const user = users.get(Number(id))
    if (user === undefined) throw new Error('no such user in this test')
    setSessionCookie(reply, await app.gate.sessions.start(user.id, user.authVersion))
    return success(null)
  })

  const addUser = (id: number, role = 1): void => {
    users.set(id, {
      id,
      username: `user${id}`,
      displayName: '',
      role,
      status: 1,
      group: 'default',
      authVersion: 0,
      isDeleted: false,
    })
  }
  /** Starts a session of this user and returns its request headers. */
  const enter = async (id: number): Promise<Record<string, string>> => {
    const answer = await app.inject({ method: 'POST', url: `/api/enter/${id}` })
    const [cookie] = answer.cookies
    return { cookie: `session=${cookie?.value}`, 'user-id': String(id) }
  }
  return {
    app,
    pg,
    users,
    clock,
    drain,
    logged,
    addUser,
    enter,
    close: async () => {
      await app.close()
      await pg.end()
      await database.drop()
    },
  }
}

export type HttpFixture = Awaited<ReturnType<typeof httpFixture>>
