import type { FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { WebSocket } from 'ws'
import { ADMIN } from '#domain/shared/user-roles-and-statuses.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { onlySocket, principalOf } from '#infra/http/access-checks.ts'
import { closeSocketOnException } from '#infra/http/close-socket-on-exception.ts'
import { HttpError, httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { languageOf } from '#infra/http/request-language.ts'
import { type WatchedSession, watchSessions } from '#infra/http/session-watch.ts'
import type { TaskProgress } from '#infra/task-progress/store-task-progress.ts'
import { openTaskOwners } from '#projections/tasks/query.ts'
import type { HealthCache } from '../channels/health/health-cache.ts'
import { statOf } from '../logs/get-log-stat.ts'
import type { App, ReadDeps } from '../read-dependencies-and-query-parameters.ts'
import { percentOf } from '../tasks/task-response.ts'
import { createHub, everySecond, type Hub, onDemand } from './live-item-hub.ts'
import { LiveSession } from './live-session.ts'
import { readRequest } from './parse-live-request.ts'

const ROWS_MAX = 1_000

/**
 * Sends the progress of tasks to the sockets that have subscribed to tasks. While there are no such
 * sockets, no progress is read. Returns a function that stops these messages.
 */
function feedProgress(
  { db, log }: Pick<Core, 'db' | 'log'>,
  progress: TaskProgress,
  sessions: () => Iterable<LiveSession>,
): () => void {
  let mark: number | null = null
  const push = async (): Promise<void> => {
    const receivers = [...sessions()].filter(({ receivesTasks }) => receivesTasks)
    // Progress from before the first subscription is not sent, because clients receive it with the
    // list of tasks.
    if (receivers.length === 0) mark = null
    else if (mark === null) mark = await progress.mark()
    else {
      const changed = await progress.changedAfter(mark, ROWS_MAX)
      mark = changed.at(-1)?.mark ?? mark
      if (changed.length === 0) return
      const texts = new Map(changed.map(({ id, text }) => [id, percentOf(text)]))
      const owners = await openTaskOwners(db, [...texts.keys()])
      const rows = owners.map(({ id, userId }) => ({ id, userId, progress: texts.get(id) ?? '0%' }))
      for (const session of receivers) session.pushProgress(rows)
    }
  }
  return everySecond(push, (err) => log.warn({ err }, 'reading the progress of tasks failed'))
}

const SOCKETS_MAX = 5_000
const SOCKETS_PER_USER_MAX = 5
const MESSAGES_PER_SECOND_MAX = 20
const PING_MS = 30_000
const SESSION_CHECK_MS = 400
const RETRY_SECONDS = 5

const SERVICE_RESTART = 1012
const TRY_AGAIN_LATER = 1013
const POLICY_VIOLATION = 1008

type OpenSocket = WatchedSession & {
  readonly socket: WebSocket
  readonly session: LiveSession
  isAlive: boolean
}

/** `GET /api/live`: a WebSocket that sends the changes of the data that the user may see. */
export function liveSocket(app: App, deps: ReadDeps): void {
  const hub = createHub(deps, (positions) => {
    if (positions.has('users')) sessions.check()
  })
  const open = new Set<OpenSocket>()
  const sessions = watchSessions(app, SESSION_CHECK_MS, () => open)
  // While there are no sockets, no timer runs.
  const feeds = onDemand(() => {
    const sessionsOfSockets = () => sessionsOf(open)
    const pinging = setInterval(() => ping(open), PING_MS).unref()
    const stops = [
      () => clearInterval(pinging),
      feedHealth(deps.health, deps.core.log, sessionsOfSockets),
      feedProgress(deps.core, deps.progress, sessionsOfSockets),
      feedStats(deps.core, sessionsOfSockets),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  })
  const closeForRestart = (): void => {
    for (const { socket } of open) socket.close(SERVICE_RESTART, 'restarting')
  }
  // Sockets are closed as soon as the process begins to stop. Clients can then reconnect to another
  // process. Calls to models may continue for some time.
  deps.draining.addEventListener('abort', closeForRestart, { once: true })
  app.addHook('preClose', async () => {
    feeds.stop()
    sessions.stop()
    hub.stop()
    closeForRestart()
    // The sockets were asked to close some seconds ago. Clients that have not answered yet would
    // delay the stop by half a minute.
    if (deps.draining.aborted) for (const { socket } of open) socket.terminate()
  })
  // NOTE: An earlier hook may have rejected the upgrade to a WebSocket. The connection of a
  // rejected upgrade must be closed here. Otherwise, the connection stays open as long as the
  // client wants, even after a shutdown.
  app.addHook('onResponse', async (request) => {
    if (request.headers.upgrade !== undefined) request.raw.socket.destroySoon()
  })
  app.get(
    '/api/live',
    {
      websocket: true,
      preValidation: [async () => assertNotDraining(deps.draining), onlySocket],
      schema: { hide: true },
    },
    (socket, request) =>
      closeSocketOnException(deps.core.log, socket, () => {
        accept(deps, hub, open, socket, request)
        socket.on('close', () => {
          if (open.size === 0) feeds.stop()
        })
        sessions.start()
        if (open.size > 0) feeds.start()
      }),
  )
}

const sessionsOf = (open: Iterable<OpenSocket>): LiveSession[] =>
  [...open].map(({ session }) => session)

/**
 * Rejects new sockets while the process is stopping. At this time, the port of the process is still
 * open, but clients must connect to another process.
 */
function assertNotDraining(draining: AbortSignal): void {
  if (draining.aborted) throw httpError('Draining', {}, RETRY_SECONDS)
}

function accept(
  deps: ReadDeps,
  hub: Hub,
  open: Set<OpenSocket>,
  socket: WebSocket,
  request: FastifyRequest,
): void {
  const principal = principalOf(request)
  // NOTE: An invalid or oversized frame causes an `error` event, after which the socket must be
  // closed.
  socket.on('error', () => socket.terminate())
  // If the process began to stop during the handshake, `closeForRestart` has not closed this
  // socket.
  if (deps.draining.aborted) {
    socket.close(SERVICE_RESTART, 'restarting')
    return
  }
  const ofUser = [...open].filter((other) => other.principal.userId === principal.userId)
  if (open.size >= SOCKETS_MAX || ofUser.length >= SOCKETS_PER_USER_MAX) {
    socket.close(TRY_AGAIN_LATER, 'too many sockets')
    return
  }
  const viewer = { isAdmin: principal.role >= ADMIN, language: languageOf(request) }
  const session = new LiveSession({ socket, deps, hub, principal, viewer })
  const entry: OpenSocket = {
    principal,
    socket,
    session,
    isAlive: true,
    endSession: () => socket.close(POLICY_VIOLATION, 'session ended'),
  }
  const leave = hub.join(principal.userId, () => session.pump())
  open.add(entry)
  socket.on('close', () => {
    open.delete(entry)
    leave()
  })
  socket.on('pong', () => {
    entry.isAlive = true
  })
  const isTooFast = rateGate()
  socket.on('message', (bytes) => {
    if (isTooFast()) return socket.close(POLICY_VIOLATION, 'too many messages')
    closeSocketOnException(deps.core.log, socket, () => respond(deps, session, String(bytes)))
  })
}

function respond({ core }: ReadDeps, session: LiveSession, text: string): void {
  try {
    const request = readRequest(text)
    if (request.type === 'ping') return session.send({ type: 'pong' })
    session.subscribe(request.topics, request.after ?? null).catch((error: unknown) => {
      core.log.warn({ err: error }, 'a live subscription failed')
      session.sendError(httpError('Unavailable'))
    })
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    session.sendError(error)
  }
}

function rateGate(): () => boolean {
  let second = 0
  let count = 0
  return () => {
    const now = Math.floor(performance.now() / 1_000)
    if (now !== second) {
      second = now
      count = 0
    }
    count += 1
    return count > MESSAGES_PER_SECOND_MAX
  }
}

/**
 * Closes each socket that has not answered the previous ping. Sends a ping to all other sockets.
 */
function ping(open: Iterable<OpenSocket>): void {
  for (const entry of open) {
    if (!entry.isAlive) entry.socket.terminate()
    else {
      entry.isAlive = false
      entry.socket.ping()
    }
  }
}

/**
 * Sends the health of channels to the sockets of admins that have subscribed to channels. While
 * there are no such sockets, no health is read. Returns a function that stops these messages.
 */
const feedHealth = (
  health: HealthCache,
  log: Logger,
  sessions: () => Iterable<LiveSession>,
): (() => void) =>
  everySecond(
    async () => {
      const receivers = [...sessions()].filter(({ receivesHealth }) => receivesHealth)
      if (receivers.length === 0) return
      await health.refresh()
      for (const session of receivers) session.pushHealth()
    },
    (err) => log.warn({ err }, 'reading the health of the channels failed'),
  )

/**
 * Sends the totals of the site to the sockets of admins that have subscribed to totals. While there
 * are no such sockets, no totals are read. Returns a function that stops these messages.
 */
const feedStats = (
  core: Pick<Core, 'db' | 'now' | 'log'>,
  sessions: () => Iterable<LiveSession>,
): (() => void) =>
  everySecond(
    async () => {
      const receivers = [...sessions()].filter(({ receivesStats }) => receivesStats)
      if (receivers.length === 0) return
      const totals = await statOf(core, {})
      for (const session of receivers) session.pushStats(totals)
    },
    (err) => core.log.warn({ err }, 'reading the totals of the site failed'),
  )
