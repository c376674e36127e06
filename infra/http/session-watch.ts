import type { FastifyInstance } from 'fastify'
import { ACTIVE } from '#domain/shared/user-roles-and-statuses.ts'
import { reasonOf, warnThrottled } from '../telemetry/log.ts'
import type { AccessDeps } from './access-checks.ts'
import type { Principal } from './principal.ts'

/** An open response or socket that must be closed when the session of its user ends. */
export type WatchedSession = {
  readonly principal: Pick<Principal, 'userId' | 'authVersion' | 'sessionHash'>
  readonly endSession: () => void
}

export type SessionWatch = {
  /**
   * Starts the periodic checks, which end when no session is left. The caller must call this
   * function for each new session.
   */
  readonly start: () => void
  readonly check: () => void
  readonly stop: () => void
}

/**
 * Watches the sessions of open streams and sockets. Ends a stream or socket when its session ends,
 * or when its user is banned, deleted, or gets another role or password. One check takes two
 * queries, however many sessions there are. If these queries fail, all streams and sockets stay
 * open.
 */
export function watchSessions(
  app: FastifyInstance,
  everyMs: number,
  watched: () => Iterable<WatchedSession>,
): SessionWatch {
  let isChecking = false
  let timer: NodeJS.Timeout | null = null
  const stop = (): void => {
    if (timer !== null) clearInterval(timer)
    timer = null
  }
  const check = async (): Promise<void> => {
    const open = [...watched()]
    if (open.length === 0) return stop()
    if (isChecking) return
    isChecking = true
    try {
      const isValid = await validSessions(app.gate, open)
      for (const { principal, endSession } of open) if (!isValid(principal)) endSession()
    } catch (error) {
      const fields = { reason: reasonOf(error) }
      warnThrottled(app.log, fields, 'the sessions of open streams could not be checked')
    } finally {
      isChecking = false
    }
  }
  return {
    start: () => {
      timer ??= setInterval(check, everyMs).unref()
    },
    check: () => void check(),
    stop,
  }
}

async function validSessions(
  { sessions, findPrincipals }: Pick<AccessDeps, 'sessions' | 'findPrincipals'>,
  open: readonly WatchedSession[],
): Promise<(principal: WatchedSession['principal']) => boolean> {
  const principals = open.map(({ principal }) => principal)
  const [live, users] = await Promise.all([
    sessions.live(principals.map(({ sessionHash }) => sessionHash ?? '')),
    findPrincipals([...new Set(principals.map(({ userId }) => userId))]),
  ])
  const byId = new Map(users.map((user) => [user.id, user]))
  return ({ userId, authVersion, sessionHash }) => {
    const user = byId.get(userId)
    const isActive = user !== undefined && !user.isDeleted && user.status === ACTIVE
    return isActive && user.authVersion === authVersion && live.has(sessionHash ?? '')
  }
}
