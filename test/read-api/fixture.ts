import type { FastifyInstance } from 'fastify'
import { createHttpApp } from '#infra/http/app.ts'
import { createMemoryLimits } from '#infra/limits/memory-limits.ts'
import { findAccessToken } from '#projections/credentials/query.ts'
import { startProjections } from '#projections/runner/start-projections.ts'
import { findUser, usersByIds } from '#projections/users/query.ts'
import { registerReadApi } from '#read-api/register-read-api.ts'
import { videoPricingAt } from '#relay/served-channel-types.ts'
import { type Fixture, projectionFixture, sealed, userCreated } from '#test/projections/fixture.ts'

export type Answer<T = Record<string, unknown>> = {
  readonly status: number
  readonly body: { success: boolean; message: string; code?: string; data: T }
  readonly headers: Record<string, unknown>
}

export type Api = Fixture & {
  readonly app: FastifyInstance
  /** As a stop begins. */
  readonly drain: () => void
  /** A session's headers. */
  readonly logIn: (
    userId: number,
    isByTemporaryPassword?: boolean,
  ) => Promise<Record<string, string>>
  readonly get: <T>(path: string, headers?: Record<string, string>) => Promise<Answer<T>>
}

export const ROOT = 1
export const ADMIN = 2
export const ALICE = 3
export const BOB = 4

/** The read API on read models of four users: root, an admin, and two who own things. */
export async function apiFixture(): Promise<Api> {
  const fixture = await projectionFixture()
  const { core } = fixture
  const limits = createMemoryLimits(core.now)
  Object.assign(core, { config: { trustProxy: [] }, limits })
  Object.assign(core.vault, {
    getSecrets: async (_purpose: string, refs: readonly { owner: string; ref: string }[]) =>
      new Map(refs.map(({ owner, ref }) => [ref, `secret of ${owner}`])),
    seal: async (_userId: number, text: string) => sealed(text),
    keyedHash: (_purpose: string, text: string) => `lookup-${text}`,
  })
  const runner = await startProjections(core)
  const app = await createHttpApp(core, {
    findPrincipals: (ids) => usersByIds(core.db, ids),
    findAccessToken: (token) =>
      findAccessToken(core.db, core.vault.keyedHash('access-token', token)),
  })
  const drain = new AbortController()
  await registerReadApi(app, {
    core,
    freshness: fixture.freshness,
    draining: drain.signal,
    servedTypes: [1, 2, 14, 35],
    chatTypes: [1, 14, 35],
    videoPricingAt,
    isNamedLikeChatModel: (model) => !model.startsWith('image-'),
  })
  await app.ready()
  await fixture.settled(
    await fixture.append([
      userCreated(ROOT, 'root', 100),
      userCreated(ADMIN, 'admin', 10),
      userCreated(ALICE, 'alice'),
      userCreated(BOB, 'bob'),
    ]),
  )
  return {
    ...fixture,
    app,
    drain: () => drain.abort(),
    logIn: async (userId, isByTemporaryPassword = false) => {
      const user = await findUser(core.db, userId)
      const from = { ip: '', userAgent: '', isByTemporaryPassword }
      const id = await app.gate.sessions.start(userId, user?.authVersion ?? 0, from)
      return { cookie: `session=${id}`, 'user-id': String(userId), 'accept-language': 'en' }
    },
    get: async <T>(path: string, headers: Record<string, string> = {}) => {
      const response = await app.inject({ method: 'GET', url: path, headers })
      return {
        status: response.statusCode,
        body: response.json() as Answer<T>['body'],
        headers: response.headers,
      }
    },
    close: async () => {
      await app.close()
      limits.close()
      await runner.stop()
      await fixture.close()
    },
  }
}
