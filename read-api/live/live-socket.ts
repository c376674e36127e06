import type { FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { WebSocket } from 'ws'
import type { Core } from '#infra/core.ts'
import { onlyOwnSocket, principalOf } from '#infra/http/access.ts'
import { HttpError, httpError } from '#infra/http/http-errors.ts'
import { languageOf } from '#infra/http/language.ts'
import type { Progress } from '#infra/progress/progress.ts'
import { openTaskOwners } from '#projections/tasks/query.ts'
import type { HealthBoard } from '../channels/health/health-board.ts'
import { statOf } from '../logs/log-stat.ts'
import type { App, ReadDeps } from '../question.ts'
import { percentOf } from '../tasks/task-answer.ts'
import { createHub, type Hub, onceASecond } from './hub.ts'
import { readRequest } from './live-request.ts'
import { LiveSession } from './session.ts'
import { type Watched, watchSessions } from './session-watch.ts'

const ROWS_MAX = 1_000

/** Passes on how far tasks are, as long as somebody may see it. Answers how to stop. */
function feedProgress(
  { db, log }: Pick<Core, 'db' | 'log'>,
  progress: Progress,
  sessions: () => Iterable<LiveSession>,
): () => void {
  let mark: number | null = null
  const pass = async (): Promise<void> => {
    const watching = [...sessions()].filter(({ wantsTasks }) => wantsTasks)
    // What was before somebody looked is read with the lists.
    if (watching.length === 0) mark = null
    else if (mark === null) mark = await progress.mark()
    else {
      const changed = await progress.changedAfter(mark, ROWS_MAX)
      mark = changed.at(-1)?.mark ?? mark
      if (changed.length === 0) return
      const texts = new Map(changed.map(({ id, text }) => [id, percentOf(text)]))
      const owners = await openTaskOwners(db, [...texts.keys()])
      const rows = owners.map(({ id, userId }) => ({ id, userId, progress: texts.get(id) ?? '0%' }))
      for (const session of watching) session.passProgress(rows)
    }
  }
  return onceASecond(pass, (err) => log.warn({ err }, 'no progress of tasks could be read'))
}

const SOCKETS_MAX = 5_000
const SOCKETS_PER_USER_MAX = 5
const MESSAGES_PER_SECOND_MAX = 20
const PING_MS = 30_000
const RETRY_SECONDS = 5

const SERVICE_RESTART = 1012
const TRY_AGAIN_LATER = 1013
const POLICY_VIOLATION = 1008

type Open = Watched & {
  readonly socket: WebSocket
  readonly session: LiveSession
  isAlive: boolean
}

/** `GET /api/live`: what happens, as it happens, cut to what the session may see. */
export function liveSocket(app: App, deps: ReadDeps): void {
  const hub = createHub(deps)
  const open = new Set<Open>()
  const stopWatching = watchSessions(app, deps, () => [...open])
  const feeds = [
    feedHealth(deps.health, deps.core.log, () => sessionsOf(open)),
    feedProgress(deps.core, deps.progress, () => sessionsOf(open)),
    feedStats(deps.core, () => sessionsOf(open)),
  ]
  const pinging = setInterval(() => ping(open), PING_MS).unref()
  const sendElsewhere = (): void => {
    for (const { socket } of open) socket.close(SERVICE_RESTART, 'restarting')
  }
  // At once, not when the last stream has ended: a reader must not be served by what is leaving.
  deps.draining.addEventListener('abort', sendElsewhere, { once: true })
  app.addHook('preClose', async () => {
    clearInterval(pinging)
    for (const stopFeeding of feeds) stopFeeding()
    stopWatching()
    hub.stop()
    sendElsewhere()
    // Told seconds ago: whoever has not answered would keep the process for half a minute.
    if (deps.draining.aborted) for (const { socket } of open) socket.terminate()
  })
  // NOTE: a connection that asked for an upgrade and was refused (by a hook before the plugin's
  // own) is nobody's any more: it would stay open as long as its other end likes, past a shutdown.
  app.addHook('onResponse', async (request) => {
    if (request.headers.upgrade !== undefined) request.raw.socket.destroySoon()
  })
  app.get(
    '/api/live',
    {
      websocket: true,
      preValidation: [async () => refuseWhile(deps.draining), onlyOwnSocket],
      schema: { hide: true },
    },
    (socket, request) => accept(deps, hub, open, socket, request),
  )
}

const sessionsOf = (open: Iterable<Open>): LiveSession[] => [...open].map(({ session }) => session)

/** The port listens on for a while: who was sent elsewhere must not come back to this process. */
function refuseWhile(draining: AbortSignal): void {
  if (draining.aborted) throw httpError('Draining', {}, RETRY_SECONDS)
}

function accept(
  deps: ReadDeps,
  hub: Hub,
  open: Set<Open>,
  socket: WebSocket,
  request: FastifyRequest,
): void {
  const principal = principalOf(request)
  // NOTE: without a listener an oversized frame would be an uncaught error.
  socket.on('error', () => socket.terminate())
  // Between the refusal and here the handshake took its time: the others were sent elsewhere.
  if (deps.draining.aborted) {
    socket.close(SERVICE_RESTART, 'restarting')
    return
  }
  const own = [...open].filter((other) => other.principal.userId === principal.userId)
  if (open.size >= SOCKETS_MAX || own.length >= SOCKETS_PER_USER_MAX) {
    socket.close(TRY_AGAIN_LATER, 'too many sockets')
    return
  }
  const viewer = { isAdmin: principal.role >= 10, language: languageOf(request) }
  const session = new LiveSession({ socket, deps, hub, principal, viewer })
  const entry: Open = {
    principal,
    socket,
    session,
    isAlive: true,
    endSession: () => socket.close(POLICY_VIOLATION, 'session ended'),
  }
  open.add(entry)
  const leave = hub.join(principal.userId, () => session.pump())
  socket.on('close', () => {
    open.delete(entry)
    leave()
  })
  socket.on('pong', () => {
    entry.isAlive = true
  })
  const isTooFast = rateGate()
  socket.on('message', (bytes) => {
    if (isTooFast()) socket.close(POLICY_VIOLATION, 'too many messages')
    else answer(deps, session, String(bytes))
  })
}

function answer({ core }: ReadDeps, session: LiveSession, text: string): void {
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

/** A reader that has not answered the last ping is gone. */
function ping(open: Iterable<Open>): void {
  for (const entry of open) {
    if (!entry.isAlive) entry.socket.terminate()
    else {
      entry.isAlive = false
      entry.socket.ping()
    }
  }
}

/** Passes on how the channels do, as long as somebody may see it. Answers how to stop. */
const feedHealth = (
  board: HealthBoard,
  log: Logger,
  sessions: () => Iterable<LiveSession>,
): (() => void) =>
  onceASecond(
    async () => {
      const watching = [...sessions()].filter(({ wantsHealth }) => wantsHealth)
      if (watching.length === 0) return
      await board.refresh()
      for (const session of watching) session.passHealth()
    },
    (err) => log.warn({ err }, 'the health of the channels could not be read'),
  )

/** Passes on the site's totals, as long as somebody may see them. Answers how to stop. */
const feedStats = (
  core: Pick<Core, 'db' | 'now' | 'log'>,
  sessions: () => Iterable<LiveSession>,
): (() => void) =>
  onceASecond(
    async () => {
      const watching = [...sessions()].filter(({ wantsStats }) => wantsStats)
      if (watching.length === 0) return
      const totals = await statOf(core, {})
      for (const session of watching) session.passStats(totals)
    },
    (err) => core.log.warn({ err }, 'the totals of the site could not be read'),
  )
