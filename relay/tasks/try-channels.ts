import type { Attempt } from '#domain/account/events.ts'
import type { KnownTask } from '#domain/task/decide.ts'
import type { Caller } from '#relay/pipeline/authenticate.ts'
import type { AttemptEnd } from '#relay/pipeline/call-upstream.ts'
import { ChannelSelector } from '#relay/pipeline/choose-channel.ts'
import type { ChosenKey } from '#relay/pipeline/choose-key.ts'
import type { RelayChannel, RelayKey } from '../views/channel-view.ts'
import { askUpstream } from './ask-upstream.ts'
import { notifyUrlOf } from './notify-token.ts'
import type { TaskPlan, TaskRequest } from './plan-task.ts'
import { drawingTaken, musicTaken, type Taken } from './provider-words.ts'
import type { TaskDeps } from './task-deps.ts'

export type Sent = {
  readonly request: TaskRequest
  readonly plan: TaskPlan
  readonly caller: Caller
  readonly origin: KnownTask | null
}

export type Last = {
  readonly channel: RelayChannel
  readonly key: RelayKey
  readonly end: AttemptEnd
  readonly taken: Taken | null
  readonly latencyMs: number
}

/** Each channel once, as long as it is sure that none has taken it. */
export async function tryChannels(
  deps: TaskDeps,
  task: KnownTask,
  { caller, request, plan, origin }: Sent,
  attempts: Attempt[],
): Promise<Last | null> {
  const isPinned = origin !== null || caller.pinnedChannelId !== null
  const selector = new ChannelSelector(deps, plan.offer, request.model, isPinned)
  const id = task.submitted.task
  let last: Last | null = null
  for (let left = isPinned ? 1 : 1 + deps.views.options.options.retryTimes; left > 0; left -= 1) {
    const channel = await selector.next()
    if (channel === null) break
    const chosen = await keyOf(deps, channel, plan)
    if (chosen === null) {
      selector.end(true)
      continue
    }
    const { key } = chosen
    const { channelId } = channel
    const notifyUrl = task.submitted.isNotified
      ? notifyUrlOf(deps, { task: id, channelId, keyRef: key.keyRef })
      : null
    const allowed = channel.rules.allowedMembers
    const body = request.sentBody({ origin, notifyUrl, allowed })
    const startedAt = performance.now()
    const question = { method: 'POST', path: request.path, body } as const
    const answered = await askUpstream(deps.side, key.target, question)
    const { end, taken } = readAnswer(answered, request)
    const error = end.kind === 'failed' ? end.error : null
    const latencyMs = Math.round(performance.now() - startedAt)
    selector.end(false)
    last = { channel, key, end, taken, latencyMs }
    const probes = [...selector.probes, ...chosen.probes]
    const tried = { channel, keyRef: key.keyRef, model: request.model, probes }
    deps.breaker.note({ ...tried, call: id }, end)
    const { userId } = caller.user
    const told = { channel, key, call: id, userId, requestBody: body }
    const isAccounts = deps.autoDisable.note(told, end)
    const tryOver = { channelId, status: answered.status, error, latencyMs }
    attempts.push(isAccounts ? { ...tryOver, isAccounts } : tryOver)
    if (!isSurelyNotTaken(end)) break
  }
  return last
}

/** What continues a task goes by its key or not at all: no other account knows of it. */
function keyOf(
  { keys }: TaskDeps,
  channel: RelayChannel,
  { keyRef }: TaskPlan,
): ChosenKey | null | Promise<ChosenKey | null> {
  if (keyRef === null) return keys.choose(channel)
  const key = channel.keys.find((each) => each.keyRef === keyRef)
  return key === undefined ? null : { key, probes: [] }
}

/** An answer without an account or without room is a failure, whatever its status says. */
function readAnswer(
  end: AttemptEnd,
  { kind }: TaskRequest,
): { readonly end: AttemptEnd; readonly taken: Taken | null } {
  if (end.kind !== 'plain') return { end, taken: null }
  const taken = kind === 'drawing' ? drawingTaken(end.body) : musicTaken(end.body)
  if (taken.isTaken) return { end, taken }
  const failed = { kind: 'failed', body: end.body, retryAfterMs: 0 } as const
  if (taken.isOfAccount) return { end: { ...failed, status: 503, error: 'status' }, taken }
  if (taken.code !== null) return { end, taken }
  return { end: { ...failed, status: end.status, error: 'format' }, taken: null }
}

/**
 * Refused at the door: our key, its limits, or a service that says that it takes nothing. 521 and
 * up: whoever stands before it could not connect to it.
 */
const TAKES_NOTHING = new Set([401, 402, 403, 429, 503, 521, 523, 525, 526])

/** Anything else may have been taken: nobody else is asked to make it a second time. */
function isSurelyNotTaken(end: AttemptEnd): boolean {
  if (end.kind !== 'failed') return false
  return end.error === 'connect' || (end.error === 'status' && TAKES_NOTHING.has(end.status ?? 0))
}

/** Of whoever stands before a provider, and did not wait for it. */
const GIVEN_UP_ON = new Set([408, 504, 520, 524])

/** Who answers 502 as fast found nobody to pass it on to; later, it may be a lost answer. */
const AT_ONCE_MS = 1_000

/** No word that can be read from the provider itself: it may well be at work. */
export function mayBeTaken({ end, latencyMs }: Pick<Last, 'end' | 'latencyMs'>): boolean {
  if (end.kind !== 'failed') return false
  if (end.error !== 'status') return end.error !== 'connect'
  const status = end.status ?? 0
  return GIVEN_UP_ON.has(status) || (status === 502 && latencyMs > AT_ONCE_MS)
}
