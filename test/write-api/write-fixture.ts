import type { FastifyInstance, InjectOptions } from 'fastify'
import type { Config } from '#infra/config/config-types.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { createHttpApp } from '#infra/http/app.ts'
import { createMemoryLimits } from '#infra/limits/memory-limits.ts'
import { createMemoryShortLived } from '#infra/limits/short-lived-values.ts'
import { findAccessToken } from '#projections/credentials/query.ts'
import type { ProjectionName } from '#projections/projection-names.ts'
import { createFreshness } from '#projections/read-model-freshness/query.ts'
import { startProjections } from '#projections/runner/start-projections.ts'
import { usersByIds } from '#projections/users/query.ts'
import { registerReadApi } from '#read-api/register-read-api.ts'
import {
  CHAT_TYPES,
  SERVED_TYPES,
  takesBatches,
  videoPricingAt,
} from '#relay/served-channel-types.ts'
import { testCore } from '#test/support/test-core.ts'
import { registerWriteApi } from '#write-api/register-write-api-and-start-jobs.ts'

export const PASSWORD = 'correct horse'

export type Answer<T = unknown> = {
  readonly status: number
  readonly success: boolean
  readonly message: string
  readonly code?: string
  readonly data: T
  readonly headers: Record<string, unknown>
}

type Sent = { readonly body?: unknown; readonly headers?: Record<string, string> }

/** Sends requests to the API, with or without a session. */
export type Caller = <T = unknown>(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  sent?: Sent,
) => Promise<Answer<T>>

/**
 * The management API on the real components, before the setup. `clock.ahead` (ms) moves its time.
 */
export async function writeFixture(overrides: Partial<Config> = {}) {
  const { core: real, close } = await testCore(overrides)
  const clock = { ahead: 0 }
  const now = () => Date.now() + clock.ahead
  const limits = createMemoryLimits(now)
  const shortLived = createMemoryShortLived(now)
  const core: Core = { ...real, now, limits, callLimits: limits, shortLived }
  const projections = await startProjections(core)
  const freshness = createFreshness(core)
  const app = await createHttpApp(core, {
    findPrincipals: (ids) => usersByIds(core.db, ids),
    findAccessToken: (token) =>
      findAccessToken(core.db, core.vault.keyedHash('access-token', token)),
  })
  const routes: { method: string; url: string }[] = []
  app.addHook('onRoute', ({ method, url }) => {
    for (const name of [method].flat()) if (name !== 'HEAD') routes.push({ method: name, url })
  })
  const printedLines: string[] = []
  const servedTypes = SERVED_TYPES
  await registerWriteApi(app, {
    core,
    freshness,
    servedTypes,
    printLine: (line) => printedLines.push(line),
  })
  const writeRoutes = [...routes]
  const { signal: draining } = new AbortController()
  const types = { servedTypes: [...servedTypes.keys()], chatTypes: CHAT_TYPES, videoPricingAt }
  await registerReadApi(app, { core, freshness, draining, takesBatches, ...types })
  const readRoutes = routes.slice(writeRoutes.length)
  await app.ready()

  const anybody = callerOf(app, {})
  return {
    core,
    app,
    clock,
    printedLines,
    writeRoutes,
    readRoutes,
    freshness,
    /** Returns whether the read model equals a new fold of its events. */
    isFold: async (name: ProjectionName) =>
      (await projections.verify(name)).every(({ isEqual }) => isEqual),
    anybody,
    setUp: (body: object = {}) =>
      anybody('POST', '/api/setup', {
        body: { username: 'root', password: PASSWORD, confirmPassword: PASSWORD, ...body },
      }),
    logIn: (username: string, password = PASSWORD) => logIn(app, username, password),
    head: () => core.store.headPosition(),
    /** Runs `work` while the read model of users lags behind. */
    whileUsersLag: async (work: () => Promise<void>) => {
      const client = await core.pg.connect()
      await client.query('begin; lock table read_users.users in exclusive mode')
      try {
        await work()
      } finally {
        await client.query('rollback')
        client.release()
      }
    },
    close: async () => {
      await app.close()
      await projections.stop()
      limits.close()
      await close()
    },
  }
}

export type WriteFixture = Awaited<ReturnType<typeof writeFixture>>

export const callerOf =
  (app: FastifyInstance, session: Record<string, string>, remoteAddress = '127.0.0.1'): Caller =>
  async <T>(method: InjectOptions['method'], url: string, { body, headers = {} }: Sent = {}) => {
    const answer = await app.inject({
      method: method ?? 'GET',
      url,
      remoteAddress,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...session,
        ...headers,
      },
      ...(body === undefined ? {} : { payload: textOf(body) }),
    })
    return {
      status: answer.statusCode,
      ...((isFile(answer.headers) ? FILE : answer.json()) as Said<T>),
      headers: answer.headers,
    }
  }

type Said<T> = Omit<Answer<T>, 'status' | 'headers'>

/** The result of a download, which has no envelope. The caller was therefore allowed. */
const FILE = { success: true, message: '', data: null }
const isFile = (headers: Record<string, unknown>): boolean =>
  String(headers['content-disposition']).startsWith('attachment')

const textOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body))

export type LoggedIn = { readonly id: number; readonly call: Caller; readonly cookie: string }

async function logIn(app: FastifyInstance, username: string, password: string): Promise<LoggedIn> {
  const answer = await app.inject({
    method: 'POST',
    url: '/api/user/login',
    payload: { username, password },
  })
  const { success, message, data } = answer.json()
  if (!success) throw new Error(`${username} can't log in: ${message}`)
  const cookie = `session=${answer.cookies[0]?.value}`
  return { id: data.id, cookie, call: callerOf(app, { cookie, 'user-id': String(data.id) }) }
}

/** A site that is set up, with root, an admin (`admin1`) and a user (`user1`). */
export async function seededFixture(overrides: Partial<Config> = {}) {
  const fixture = await writeFixture(overrides)
  await fixture.setUp()
  const root = await fixture.logIn('root')
  for (const username of ['admin1', 'user1']) {
    await root.call('POST', '/api/user/', { body: { username, password: PASSWORD } })
  }
  await root.call('POST', '/api/user/manage', { body: { id: 2, action: 'promote' } })
  const admin = await fixture.logIn('admin1')
  const user = await fixture.logIn('user1')
  return { ...fixture, root, admin, user }
}

export type SeededFixture = Awaited<ReturnType<typeof seededFixture>>

export const fifty = <T>(work: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: 50 }, (_, n) => work(n)))
