import type { FastifyInstance } from 'fastify'
import type { Principal } from '#infra/http/principal.ts'
import { usersByIds } from '#projections/users/query.ts'
import type { ReadDeps } from '../read-route.ts'

const CHECK_MS = 400

/** The members of an open socket that `watchSessions` needs. */
export type WatchedSocket = { readonly principal: Principal; readonly endSession: () => void }

/**
 * Closes sockets whose session ended, or whose user was banned, deleted, or got another role or
 * password. The check runs several times a second and whenever users change, with two queries for
 * all sockets.
 */
export function watchSessions(
  app: FastifyInstance,
  { core, freshness }: ReadDeps,
  sockets: () => readonly WatchedSocket[],
): () => void {
  let isChecking = false
  const check = async (): Promise<void> => {
    const open = sockets()
    if (open.length === 0 || isChecking) return
    isChecking = true
    try {
      const valid = await validSessions(app, core, open)
      for (const socket of open) if (!valid(socket.principal)) socket.endSession()
    } catch (error) {
      core.log.warn({ err: error }, 'checking the sessions of open sockets failed')
    } finally {
      isChecking = false
    }
  }
  const timer = setInterval(check, CHECK_MS).unref()
  const stopListening = freshness.onAdvance((positions) => {
    if (positions.has('users')) void check()
  })
  return () => {
    clearInterval(timer)
    stopListening()
  }
}

async function validSessions(
  app: FastifyInstance,
  core: ReadDeps['core'],
  open: readonly WatchedSocket[],
): Promise<(principal: Principal) => boolean> {
  const principals = open.map(({ principal }) => principal)
  const userIds = [...new Set(principals.map(({ userId }) => userId))]
  const [live, users] = await Promise.all([
    app.gate.sessions.live(principals.map(({ sessionHash }) => sessionHash ?? '')),
    usersByIds(core.db, userIds),
  ])
  const byId = new Map(users.map((user) => [user.id, user]))
  return ({ userId, authVersion, sessionHash }) => {
    const user = byId.get(userId)
    const isActive = user !== undefined && !user.isDeleted && user.status === 1
    return isActive && user.authVersion === authVersion && live.has(sessionHash ?? '')
  }
}
