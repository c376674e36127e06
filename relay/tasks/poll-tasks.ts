import { setTimeout as delay } from 'node:timers/promises'
import type { Core } from '#infra/core.ts'
import { warnSeldom } from '#infra/telemetry/seldom.ts'
import { type OpenTask, openTasks } from '#projections/open-tasks/query.ts'
import { inParallel } from '#relay/channel-acts/in-parallel.ts'
import type { RelayChannel, RelayKey } from '#relay/views/channel-view.ts'
import { askUpstream } from './ask-upstream.ts'
import { type Told, toldIn } from './provider-words.ts'
import { takeReport } from './take-report.ts'
import type { TaskParts } from './task-parts.ts'

/** A page of what has not ended, oldest first; a seam for tests without read models. */
export type FindOpenTasks = (
  after: { readonly submittedAt: number; readonly task: string },
  limit: number,
) => Promise<readonly OpenTask[]>

export type Poller = { readonly stop: () => Promise<void> }

export type PollTimes = {
  readonly everyMs: number
  /** From then on a task is asked whether it is over without its provider. */
  readonly staleMs: number
}

export const POLL_TIMES: PollTimes = { everyMs: 5_000, staleMs: 600_000 }

const LEASE = 'task-poller'
const PAGE = 1_000
const ASKED_AT_ONCE = 25
const PROVIDERS_AT_ONCE = 4
const ANSWER_MS = 20_000

/** A pass every few seconds, in one process of all that run a relay: whoever holds the lease. */
export function startPoller(
  core: Pick<Core, 'db' | 'leases' | 'log'>,
  parts: TaskParts,
  { find, times = POLL_TIMES }: { find?: FindOpenTasks | undefined; times?: PollTimes | undefined },
): Poller {
  const pages: FindOpenTasks = find ?? ((after, limit) => openTasks(core.db, after, limit))
  return core.leases.hold(LEASE, async (_lease, lost) => {
    while (!lost.aborted) {
      await pollTasks(parts, pages, times.staleMs, lost).catch((err: unknown) => {
        if (!lost.aborted) core.log.warn({ err }, 'tasks could not be looked after just now')
      })
      await delay(times.everyMs, undefined, { signal: lost, ref: false }).catch(() => {})
    }
  })
}

/**
 * Asks each provider about its tasks, and ends those that nobody reports on any more. Whoever wakes
 * without the lease does no harm: each task decides for itself, once.
 */
export async function pollTasks(
  parts: TaskParts,
  find: FindOpenTasks,
  staleMs: number,
  lost: AbortSignal,
): Promise<void> {
  let after = { submittedAt: 0, task: '' }
  while (!lost.aborted) {
    const page = await find(after, PAGE)
    const askings = askingsOf(parts, page)
    await inParallel(askings, PROVIDERS_AT_ONCE, lost, (asking) => ask(parts, asking, lost))
    for (const { task, submittedAt } of page) {
      if (parts.now() - submittedAt > staleMs && !lost.aborted) await expire(parts, task)
    }
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) break
    after = { submittedAt: last.submittedAt, task: last.task }
  }
  if (!lost.aborted) await parts.progress.sweep()
}

type Asking = {
  readonly channel: RelayChannel
  readonly key: RelayKey
  readonly kind: OpenTask['kind']
  readonly tasks: readonly OpenTask[]
}

/** By channel and key, so many at a time. */
function askingsOf({ views }: TaskParts, page: readonly OpenTask[]): readonly Asking[] {
  const groups = Map.groupBy(
    page,
    ({ channelId, keyRef, kind }) => `${channelId}|${keyRef}|${kind}`,
  )
  return [...groups.values()].flatMap((tasks) => {
    const [first] = tasks
    const channel = views.channels.find(first?.channelId ?? -1)
    const key = channel?.allKeys.find(({ keyRef }) => keyRef === first?.keyRef)
    if (first === undefined || channel === undefined || key === undefined) return []
    const pieces: Asking[] = []
    for (let from = 0; from < tasks.length; from += ASKED_AT_ONCE) {
      const piece = tasks.slice(from, from + ASKED_AT_ONCE)
      pieces.push({ channel, key, kind: first.kind, tasks: piece })
    }
    return pieces
  })
}

const PATHS = { drawing: '/mj/task/list-by-condition', music: '/suno/fetch' } as const

async function ask(parts: TaskParts, asking: Asking, lost: AbortSignal): Promise<void> {
  const { channel, key, kind, tasks } = asking
  const ids = tasks.map(({ upstreamId }) => upstreamId)
  const end = await askUpstream(
    parts.side,
    key.target,
    { method: 'POST', path: PATHS[kind], body: Buffer.from(JSON.stringify({ ids })) },
    AbortSignal.any([lost, AbortSignal.timeout(ANSWER_MS)]),
  )
  const { channelId } = channel
  if (end.kind !== 'plain') {
    const facts = { channelId, reason: end.kind === 'failed' ? end.error : 'cut' }
    if (!lost.aborted) warnSeldom(parts.log, facts, 'a provider was asked about its tasks in vain')
    return
  }
  const told = new Map(toldIn(kind, end.body).map((one) => [one.upstreamId, one]))
  for (const { task, upstreamId } of tasks) {
    const one = told.get(upstreamId ?? '')
    if (one !== undefined && !lost.aborted) await note(parts, task, asking, one)
  }
}

/** One that can't be noted now keeps none of the others. */
async function note(parts: TaskParts, task: string, asking: Asking, told: Told): Promise<void> {
  const { channel, key } = asking
  try {
    const known = await parts.books.find(task)
    if (known === null || known.end !== null) return
    const place = { channelId: channel.channelId, keyRef: key.keyRef }
    await takeReport(parts, known, place, told, channel)
  } catch (err) {
    parts.log.warn({ err, task }, 'what a provider said of a task could not be noted')
  }
}

async function expire(parts: TaskParts, task: string): Promise<void> {
  try {
    const known = await parts.books.find(task)
    if (known !== null && known.end === null) await parts.books.expire(known)
  } catch (err) {
    parts.log.warn({ err, task }, 'a task that is over could not be ended')
  }
}
