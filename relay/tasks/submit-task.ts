import type { Attempt } from '#domain/account/events.ts'
import type { KnownTask } from '#domain/task/state.ts'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import { warnSeldom } from '#infra/telemetry/seldom.ts'
import { type Denial, deny, isDenial } from '#relay/canonical/denial.ts'
import type { Language } from '#relay/canonical/denial-answers.ts'
import { redact } from '#relay/dialects/openai-chat/error-body.ts'
import type { Caller } from '#relay/pipeline/authenticate.ts'
import { claimCall, type KeyedCall } from '#relay/pipeline/claim-call.ts'
import type { Exchange } from '#relay/pipeline/exchange.ts'
import { takeSeat } from '#relay/pipeline/take-seat.ts'
import { screenPrompt } from '#relay/screening/screen-prompt.ts'
import { placeOf } from '#relay/views/channel-view.ts'
import { hiddenWords, withoutWords } from './hidden-words.ts'
import { ownTask } from './own-task.ts'
import { planTask, type TaskPlan } from './plan-task.ts'
import { sendRefusal, sendTaken, sendTaskDenial } from './task-answers.ts'
import { failureOf, type TaskFailure } from './task-failure.ts'
import type { TaskParts } from './task-parts.ts'
import type { TaskRequest } from './task-request.ts'
import { type Last, mayBeTaken, type Sent, tryChannels } from './try-channels.ts'

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
  const keyed = await claimCall(parts, exchange, caller, {
    work: request.kind,
    body: request.body.bytes,
  })
  if (keyed !== null && isDenial(keyed)) return keyed
  const task = keyed?.call ?? exchange.call
  const { userId, settings } = caller.user
  const { startedAt } = exchange
  const { isNotified, openMax, serverAddress } = parts.views.options.options.tasks
  try {
    const { vault, books } = parts
    const clientIp = settings.showIpInLogs ? await vault.seal(userId, exchange.clientIp) : null
    const denial = await books.submit({
      ...{ task, caller, request, price, hold, openMax, startedAt, clientIp },
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

/** Drawing clients know it as: in the queue. */
const QUEUED = 22

const UNCONFIRMED: Record<Language, string> = {
  zh: '上游尚未确认，请稍后查询任务状态',
  en: 'The provider has not confirmed it yet: ask for the task later.',
}

/** True once a provider has it, or may have it. */
async function send(
  parts: TaskParts,
  exchange: Exchange,
  task: KnownTask,
  sent: Sent,
): Promise<boolean> {
  const { kind, model } = sent.request
  const attempts: Attempt[] = []
  const last = await tryChannels(parts, task, sent, attempts)
  if (last?.taken?.isTaken) {
    sendTaken(exchange, kind, await takenAs(parts, task, last, attempts))
    return true
  }
  const { task: id, isNotified } = task.submitted
  // Its call back says where it is; without one it expires, and the hold goes back.
  if (last !== null && isNotified && mayBeTaken(last)) {
    await noteUnconfirmed(parts, id, last, attempts)
    const description = UNCONFIRMED[exchange.language]
    sendTaken(exchange, kind, { task: id, code: QUEUED, description, properties: {} })
    return true
  }
  const failure = failureOf(parts, last, model)
  if (!(await hasFailed(parts, task, { failure, last, attempts }))) {
    sendTaken(exchange, kind, { task: id, ...TAKEN })
    return true
  }
  if (failure.refusal !== null) sendRefusal(exchange, kind, failure.refusal)
  else sendTaskDenial(exchange, kind, failure.denial)
  return false
}

/** For whoever asks what became of it. It stays open, written down or not. */
async function noteUnconfirmed(
  { books, log }: TaskParts,
  task: string,
  { channel, key: { keyRef } }: Last,
  attempts: readonly Attempt[],
): Promise<void> {
  const place = placeOf(channel)
  try {
    await books.noteUnconfirmed(task, { ...place, keyRef, attempts })
  } catch (err) {
    warnSeldom(
      log,
      { err, task, channelId: place.channelId },
      'where a task was sent could not be written down',
    )
  }
}

/** As far as its provider's call back told. */
const TAKEN = { code: 1, description: null, properties: {} }

/** Into the books; and what its caller is told. */
async function takenAs(
  parts: TaskParts,
  { submitted }: KnownTask,
  { channel, key, taken }: Last,
  attempts: readonly Attempt[],
): Promise<Parameters<typeof sendTaken>[2]> {
  const { task, userId, submittedAt } = submitted
  if (!taken?.isTaken) throw new Error('nobody took it')
  const { upstreamId, code, status } = taken
  const { channelId } = channel
  const { keyRef } = key
  const hidden = hiddenWords(parts, { task, channelId, keyRef }, channel)
  const description = taken.description === null ? null : redact(taken.description, hidden)
  const place = { ...placeOf(channel), keyRef, upstreamId, code, status, attempts, description }
  const outcome = await parts.acceptances.write({ task, userId, submittedAt, place })
  if (outcome === 'TaskElsewhere') {
    parts.log.warn({ task, channelId, upstreamId }, 'a task was taken by two providers')
    return { task, ...TAKEN }
  }
  const properties = withoutWords(taken.properties, hidden) as object
  return { task, code, description, properties }
}

type Failed = {
  readonly failure: TaskFailure
  readonly last: Last | null
  readonly attempts: readonly Attempt[]
}

/** False where its provider called back meanwhile: it has the task, whatever it answered. */
async function hasFailed(
  { books }: TaskParts,
  task: KnownTask,
  { failure: { status: statusCode, refusal }, last, attempts }: Failed,
): Promise<boolean> {
  const why = {
    cause: refusal === null ? 'unreachable' : 'refused',
    channelId: last?.channel.channelId ?? null,
    code: refusal?.code ?? null,
    failReason: refusal?.words ?? null,
  } as const
  const outcome = await books.fail(task, why, { statusCode, attempts })
  if (outcome === 'TaskElsewhere') return false
  if (outcome !== 'TaskEnded') return true
  return (await books.find(task.submitted.task))?.status === 'FAILURE'
}
