import type { Attempt } from '#domain/account/events.ts'
import type { KnownTask } from '#domain/task/state.ts'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import { type Denial, deny, isDenial } from '#relay/canonical/denial.ts'
import { DENIAL_ANSWERS } from '#relay/canonical/denial-answers.ts'
import { providerErrorBody, redact } from '#relay/dialects/openai-chat/error-body.ts'
import { accountFaultOf } from '#relay/pipeline/account-fault.ts'
import type { Caller } from '#relay/pipeline/authenticate.ts'
import type { AttemptEnd } from '#relay/pipeline/call-upstream.ts'
import { ChannelTurns, isRetryable } from '#relay/pipeline/choose-channel.ts'
import { claimCall, type KeyedCall } from '#relay/pipeline/claim-call.ts'
import type { Exchange } from '#relay/pipeline/exchange.ts'
import { DENIAL_OF } from '#relay/pipeline/failure.ts'
import { takeSeat } from '#relay/pipeline/take-seat.ts'
import { screenPrompt } from '#relay/screening/screen-prompt.ts'
import { confidentialTo, type RelayChannel, type RelayKey } from '#relay/views/channel-view.ts'
import { askUpstream } from './ask-upstream.ts'
import { notifyUrlOf } from './notify-token.ts'
import { ownTask } from './own-task.ts'
import { planTask, type TaskPlan } from './plan-task.ts'
import { drawingTaken, musicTaken, type Taken } from './provider-words.ts'
import { sendRefusal, sendTaken, sendTaskDenial } from './task-answers.ts'
import type { TaskParts } from './task-parts.ts'
import type { TaskRequest } from './task-request.ts'

const NOTHING = { isSuccess: false, tokens: 0 }
const SIZE = { body: Buffer.alloc(0), outputTokensMax: 0, choices: 1 }
const NO_STORE = deny('store_unavailable', { retryAfterSeconds: 5 })

/** One task, from what its caller asked for to the provider's yes or no. Throws nothing of ours. */
export async function submitTask(
  parts: TaskParts,
  exchange: Exchange,
  caller: Caller,
  request: TaskRequest,
): Promise<void> {
  const deny = (denial: Denial) => sendTaskDenial(exchange, request.kind, denial)
  const origin = await originOf(parts, caller, request)
  if (origin !== null && isDenial(origin)) return deny(origin)
  const plan = planTask(parts.views, caller, request, origin, parts.now())
  if (isDenial(plan)) return deny(plan)
  const { screening } = parts.views.options.options
  const looking = screenPrompt(screening, caller.group, request.body.bytes, 'prompt')
  const unfit = looking === null ? null : await looking
  if (unfit !== null) return deny(unfit)
  const seat = await takeSeat(parts, caller, SIZE)
  if (isDenial(seat)) return deny(seat)
  let outcome = NOTHING
  try {
    const opened = await open(parts, exchange, caller, { request, plan })
    if (isDenial(opened)) return deny(opened)
    const { known, keyed } = opened
    const isSuccess = await send(parts, exchange, known, { caller, request, plan, origin })
    if (!isSuccess) await keyed?.free()
    outcome = { isSuccess, tokens: 0 }
  } finally {
    seat.leave(outcome)
  }
}

/** The caller's own task, in a state to go on from; null where it continues none. */
async function originOf(
  parts: TaskParts,
  caller: Caller,
  { originId, kind, continuesOpen }: TaskRequest,
): Promise<KnownTask | Denial | null> {
  if (originId === null) return null
  const found = await ownTask(parts, caller, kind, originId)
  if (found === null || found.place === null) {
    return deny('task_not_found', { subject: originId.slice(0, 64) })
  }
  const mustBeDone = parts.views.options.options.tasks.isSuccessChecked && !continuesOpen
  if (mustBeDone && found.status !== 'SUCCESS') {
    return deny('task_not_finished', { subject: found.submitted.task })
  }
  return found
}

type Wanted = { readonly request: TaskRequest; readonly plan: TaskPlan }

type Opened = { readonly known: KnownTask; readonly keyed: KeyedCall | null }

/** The hold and the task are durable once it answers. */
async function open(
  parts: TaskParts,
  exchange: Exchange,
  caller: Caller,
  { request, plan: { price, hold } }: Wanted,
): Promise<Opened | Denial> {
  const keyed = await claimCall(parts, exchange, caller, request.body.bytes)
  if (keyed !== null && isDenial(keyed)) return keyed
  const task = keyed?.call ?? exchange.call
  const { userId, settings } = caller.user
  const { startedAt } = exchange
  const { isNotified, serverAddress } = parts.views.options.options.tasks
  try {
    const { vault, books } = parts
    const clientIp = settings.showIpInLogs ? await vault.seal(userId, exchange.clientIp) : null
    const denial = await books.submit({
      ...{ task, caller, request, price, hold, startedAt, clientIp },
      isNotified: request.kind === 'drawing' && isNotified && serverAddress !== '',
      isKeyed: keyed !== null,
    })
    if (denial !== null) return denial
    const known = await books.find(task)
    return known === null ? NO_STORE : { known, keyed }
  } catch (err) {
    // Unknown whether it was written: if it was, it expires.
    const reason = err instanceof StoreUnavailable ? err.message : err
    parts.log.error({ err: reason, call: task }, 'a task could not be submitted')
    return NO_STORE
  }
}

type Sent = Wanted & { readonly caller: Caller; readonly origin: KnownTask | null }

type Last = {
  readonly channel: RelayChannel
  readonly key: RelayKey
  readonly end: AttemptEnd
  readonly taken: Taken | null
}

/** True once a provider has it. */
async function send(
  parts: TaskParts,
  exchange: Exchange,
  task: KnownTask,
  sent: Sent,
): Promise<boolean> {
  const { request } = sent
  const attempts: Attempt[] = []
  const last = await tryChannels(parts, task, sent, attempts)
  if (last?.taken?.isTaken) {
    const { upstreamId, code, description, status, properties } = last.taken
    const { channelId } = last.channel
    const { keyRef } = last.key
    const shown = description === null ? null : redact(description, confidentialTo(last.channel))
    const { task: id, userId } = task.submitted
    const place = { channelId, keyRef, upstreamId, code, status, attempts }
    await parts.books.accept(id, userId, { ...place, description: shown })
    sendTaken(exchange, request.kind, { task: id, code, description: shown, properties })
    return true
  }
  const failure = failureOf(parts, last, request.model)
  await parts.books.fail(
    task,
    {
      cause: failure.refusal === null ? 'unreachable' : 'refused',
      channelId: last?.channel.channelId ?? null,
      code: failure.refusal?.code ?? null,
      failReason: failure.refusal?.words ?? null,
    },
    { statusCode: failure.status, attempts },
  )
  if (failure.refusal !== null) sendRefusal(exchange, request.kind, failure.refusal)
  else sendTaskDenial(exchange, request.kind, failure.denial)
  return false
}

/** Each channel once, as long as it is sure that none has taken it. */
async function tryChannels(
  parts: TaskParts,
  task: KnownTask,
  { caller, request, plan, origin }: Sent,
  attempts: Attempt[],
): Promise<Last | null> {
  const isPinned = origin !== null || caller.pinnedChannelId !== null
  const turns = new ChannelTurns(parts, plan.offer, request.model, isPinned)
  const id = task.submitted.task
  let last: Last | null = null
  for (let left = isPinned ? 1 : 1 + parts.views.options.options.retryTimes; left > 0; left -= 1) {
    const channel = await turns.next()
    if (channel === null) break
    const pinned = channel.allKeys.find(({ keyRef }) => keyRef === plan.keyRef)
    const chosen = pinned ? { key: pinned, probes: [] } : await parts.keys.choose(channel)
    if (chosen === null) {
      turns.end(true)
      continue
    }
    const { key } = chosen
    const { channelId } = channel
    const notifyUrl = task.submitted.isNotified
      ? notifyUrlOf(parts, { task: id, channelId, keyRef: key.keyRef })
      : null
    const body = request.sentBody({ origin, notifyUrl })
    const startedAt = parts.now()
    const answered = await askUpstream(parts.side, key.target, {
      method: 'POST',
      path: request.path,
      body,
    })
    const { end, taken } = readAnswer(answered, request)
    const error = end.kind === 'failed' ? end.error : null
    const latencyMs = Math.max(0, parts.now() - startedAt)
    attempts.push({ channelId, status: answered.status, error, latencyMs })
    turns.end(false)
    last = { channel, key, end, taken }
    const probes = [...turns.probes, ...chosen.probes]
    const tried = { channel, keyRef: key.keyRef, model: request.model, probes }
    parts.breaker.note({ ...tried, call: id }, end)
    const { userId } = caller.user
    parts.autoDisable.note({ channel, key, call: id, userId, requestBody: body }, end)
    if (end.kind !== 'failed' || !isSurelyNotTaken(end)) break
  }
  return last
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

/** Without an answer it may have been taken: nobody else is asked to draw it a second time. */
const isSurelyNotTaken = (end: Extract<AttemptEnd, { readonly kind: 'failed' }>): boolean =>
  (end.error === 'connect' || end.error === 'status') && isRetryable(end)

type Failure = { readonly status: number } & (
  | { readonly refusal: { readonly code: number | null; readonly words: string } }
  | { readonly refusal: null; readonly denial: Denial }
)

function failureOf({ views }: TaskParts, last: Last | null, model: string): Failure {
  if (last === null) return denied(deny('no_channel', { subject: model, retryAfterSeconds: 10 }))
  const { end, taken, channel } = last
  const isHidden = views.options.options.isUpstreamErrorHidden
  const known = confidentialTo(channel)
  if (taken !== null && !taken.isTaken) {
    const words = isHidden ? null : taken.words
    const { en } = DENIAL_ANSWERS.upstream_error
    const refusal = { code: taken.code, words: words === null ? en : redact(words, known) }
    return { status: 200, refusal }
  }
  if (end.kind !== 'failed') return denied(deny('upstream_format'))
  if (end.error !== 'status') return denied(deny(DENIAL_OF[end.error]))
  if (accountFaultOf(end) !== null) return denied(deny('upstream_account'))
  const status = end.status ?? 502
  if (status < 400 || status >= 500) return denied(deny('upstream_error'))
  const { message } = providerErrorBody(end.body, status, { isHidden, known }).error
  return { status, refusal: { code: null, words: message } }
}

const denied = (denial: Denial): Failure => ({
  status: DENIAL_ANSWERS[denial.denied].status,
  refusal: null,
  denial,
})
