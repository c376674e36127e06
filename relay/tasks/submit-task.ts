import type { Attempt } from '#domain/accounts/events.ts'
import { TASK_MS_MAX, type TaskRecord } from '#domain/tasks/decide.ts'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import { warnThrottled } from '#infra/telemetry/log.ts'
import { redact } from '#relay/canonical/redact-provider-texts.ts'
import type { Language } from '#relay/canonical/relay-error-catalogue.ts'
import { acquirePermit, CALLS_NO_MODEL } from '#relay/pipeline/acquire-call-permit.ts'
import type { Caller } from '#relay/pipeline/authenticate.ts'
import { claimIdempotencyKey, type KeyedCall } from '#relay/pipeline/claim-idempotency-key.ts'
import { type Exchange, setNameListHeader } from '#relay/pipeline/http-exchange.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { screenPrompt } from '../screening/word-screening.ts'
import { billedChannelOf } from '../views/channel-view.ts'
import { mayBeAccepted } from './judge-submission-outcome.ts'
import { findOwnTask } from './look-up-tasks.ts'
import { planPayableTask, type TaskPlan, type TaskRequest } from './plan-task.ts'
import { atPriceOfOrigin, VIDEO_MODEL } from './read-drawing-request.ts'
import { confidentialTexts, redactTexts } from './redact-provider-secrets.ts'
import {
  sendAccepted,
  sendProviderError,
  sendTaskError,
  type TaskErrorAnswer,
  taskErrorAnswer,
} from './send-task-errors-and-acceptance.ts'
import {
  type LastAttempt,
  type PlannedTask,
  sendTaskToChannels,
  TaskNotSent,
} from './send-task-to-channels-in-order.ts'
import type { TaskDeps } from './task-deps.ts'
import { sendVideoAccepted } from './videos/handle-video-requests.ts'
import { type VideoTask, vendorOf } from './videos/select-channels-and-build-video-request.ts'

const NOTHING = { isSuccess: false, tokens: 0 }
const NO_STORE = relayError('store_unavailable', { retryAfter: 5 })

/**
 * Handles a request that submits a task, from the caller's request to the response. Throws if the
 * event store is unavailable and if there is a bug.
 */
export async function submitTask(
  deps: TaskDeps,
  exchange: Exchange,
  caller: Caller,
  requested: TaskRequest,
): Promise<void> {
  const reject = (error: RelayError) => sendTaskError(exchange, requested.kind, error)
  const origin = await originOf(deps, caller, requested)
  if (origin !== null && isRelayError(origin)) return reject(origin)
  const request = await atPriceOfOrigin(requested, origin, (task) => isOfVideo(deps, task))
  const plans = await planPayableTask(deps, caller, request, origin)
  if (isRelayError(plans)) return reject(plans)
  const { screening } = deps.views.options.options
  const looking = screenPrompt(screening, caller.group, screenedBody(request))
  const unfit = looking === null ? null : await looking
  if (unfit !== null) return reject(unfit)
  const groups = plans.map(({ group }) => group)
  const sized = { ...CALLS_NO_MODEL, model: request.model }
  const permit = await acquirePermit(deps, caller, sized, groups)
  if (isRelayError(permit)) return reject(permit)
  const { kind, model } = request
  const { userId } = caller.user
  const planned = { call: exchange.call, userId, group: caller.group, model, kind }
  deps.log.debug(planned, 'a task was planned and has a permit')
  let outcome = NOTHING
  try {
    const plan = plans.find(({ group }) => group === permit.group)
    if (plan === undefined) throw new Error('a task has a permit for a group without a plan')
    const submitted = await open(deps, exchange, caller, { request, plan })
    if (isRelayError(submitted)) return reject(submitted)
    const isSuccess = await sendOrRelease(deps, exchange, submitted, {
      ...{ caller, request, plan, origin },
    })
    outcome = { isSuccess, tokens: 0 }
  } finally {
    permit.release(outcome)
  }
}

/**
 * Returns the bytes that are searched for forbidden words. For a video, these are its prompts in a
 * JSON object, under the names that an error shows to the caller.
 */
const screenedBody = ({ video, body }: TaskRequest): Buffer =>
  video === undefined ? body.bytes : Buffer.from(JSON.stringify(promptsOf(video)))

const promptsOf = ({ request: { prompt, negativePrompt }, names }: VideoTask): object => ({
  prompt,
  [names.get('negativePrompt') ?? 'negative_prompt']: negativePrompt,
})

/**
 * Returns the caller's earlier task that this request continues, or null if it continues none.
 * Returns an error if there is no such task, or if the request may not continue it now.
 */
async function originOf(
  deps: TaskDeps,
  caller: Caller,
  { originId, kind, continuesOpen }: TaskRequest,
): Promise<TaskRecord | RelayError | null> {
  if (originId === null) return null
  const found = await findOwnTask(deps, caller, kind, originId)
  if (found === null || found.place === null) {
    return relayError('task_not_found', { subject: originId.slice(0, 64) })
  }
  if (continuesOpen && isTooLateForStep(found, deps.now())) {
    return relayError('task_step_too_late', { subject: found.submitted.task })
  }
  // A modal step can't be continued by another modal step while it is open.
  if (continuesOpen && found.end === null && found.submitted.action === 'MODAL') {
    return relayError('task_step_running', { subject: found.submitted.task })
  }
  const mustBeDone = deps.views.options.options.tasks.isSuccessChecked && !continuesOpen
  if (mustBeDone && found.status !== 'SUCCESS') {
    return relayError('task_not_finished', { subject: found.submitted.task })
  }
  return found
}

/** The maximum number of earlier tasks that are read to find a video among them. */
const ORIGINS_MAX = 16

/**
 * Reports whether the result of a drawing task is a video. The result of every task that continues
 * a video is a video, even if the task has the price of a step or of another action.
 */
async function isOfVideo({ ledger }: TaskDeps, task: TaskRecord): Promise<boolean> {
  let earlier: TaskRecord | null = task
  for (let left = ORIGINS_MAX; earlier !== null && left > 0; left -= 1) {
    const { model, origin }: TaskRecord['submitted'] = earlier.submitted
    if (model === VIDEO_MODEL) return true
    earlier = origin === null ? null : await ledger.peek(origin)
  }
  return false
}

/**
 * The minimum time in milliseconds between a modal step and the expiry of the task it completes.
 */
const STEP_MS_MIN = 900_000

/**
 * Reports whether an open task is too old for another modal step. A task does not expire while its
 * step is open, so repeated steps could keep it open, and its quota reserved, without end.
 */
const isTooLateForStep = ({ end, submitted: { submittedAt } }: TaskRecord, now: number): boolean =>
  end === null && now - submittedAt > TASK_MS_MAX - STEP_MS_MIN

type PlannedRequest = { readonly request: TaskRequest; readonly plan: TaskPlan }

type Opened = { readonly record: TaskRecord; readonly keyed: KeyedCall | null }

/**
 * Reserves the quota and records the task. Returns the task once both are durable, or the error for
 * the caller if either fails.
 */
async function open(
  deps: TaskDeps,
  exchange: Exchange,
  caller: Caller,
  { request, plan: { group, price, hold, video } }: PlannedRequest,
): Promise<Opened | RelayError> {
  const keyed = await claimIdempotencyKey(deps, exchange, caller, {
    work: request.kind,
    body: request.body.bytes,
  })
  if (keyed !== null && isRelayError(keyed)) return keyed
  const task = keyed?.call ?? exchange.call
  const { userId, settings } = caller.user
  const { startedAt } = exchange
  const { isNotified, openMax, serverAddress } = deps.views.options.options.tasks
  try {
    const { vault, ledger } = deps
    const clientIp = settings.showIpInLogs ? await vault.seal(userId, exchange.clientIp) : null
    const error = await ledger.submit({
      ...{ task, caller, request, group, price, hold, video, openMax, startedAt, clientIp },
      isNotified: request.kind === 'drawing' && isNotified && serverAddress !== '',
      isKeyed: keyed !== null,
    })
    if (error !== null) return error
    deps.log.debug({ call: task, hold: String(hold) }, 'a task was admitted')
    const record = await ledger.find(task)
    return record === null ? NO_STORE : { record, keyed }
  } catch (err) {
    // The task may have been recorded despite the error. It will then expire.
    const reason = err instanceof StoreUnavailable ? err.message : err
    deps.log.error({ err: reason, call: task }, 'a task could not be submitted')
    return NO_STORE
  }
}

/**
 * Sends the task. If a step before sending fails, releases the task's hold and throws the cause. If
 * no provider has the task, frees the idempotency key.
 */
async function sendOrRelease(
  deps: TaskDeps,
  exchange: Exchange,
  { record, keyed }: Opened,
  planned: PlannedTask,
): Promise<boolean> {
  try {
    const isSuccess = await send(deps, exchange, record, planned)
    if (!isSuccess) await keyed?.free()
    return isSuccess
  } catch (error) {
    if (!(error instanceof TaskNotSent)) throw error
    if (await releaseUnsent(deps, record, error)) await keyed?.free()
    throw error.cause
  }
}

/** Ends a task that no provider has. Returns false if this failed; the task then expires. */
async function releaseUnsent(
  { ledger, log }: TaskDeps,
  task: TaskRecord,
  { attempts }: TaskNotSent,
): Promise<boolean> {
  const why = { cause: 'unreachable', channelId: null, code: null, failReason: null } as const
  const end = { errorCode: 'task_unreachable', statusCode: 503, attempts }
  try {
    return (await ledger.fail(task, why, end)) === 'changed'
  } catch (err) {
    log.error({ err, call: task.submitted.task }, 'a task that was not sent could not be released')
    return false
  }
}

const QUEUED = 22

const UNCONFIRMED: Record<Language, string> = {
  zh: '上游尚未确认，请稍后查询任务状态',
  en: 'The provider has not confirmed the task yet. Fetch the task later.',
}

/**
 * Sends the task to a provider. Returns true if a provider has accepted the task, or may have
 * accepted it and this can be found out later.
 */
async function send(
  deps: TaskDeps,
  exchange: Exchange,
  task: TaskRecord,
  sent: PlannedTask,
): Promise<boolean> {
  const { kind } = sent.request
  const attempts: Attempt[] = []
  const outcome = await sendTaskToChannels(deps, task, sent, attempts)
  const last = isRelayError(outcome) ? null : outcome
  if (last !== null) setNameListHeader(exchange, 'X-Dropped-Members', last.dropped)
  if (last?.answer?.isAccepted) {
    const accepted = await recordAcceptance(deps, task, last, attempts)
    if (last.answer.uploads !== undefined) await recordUpload(deps, task, last, last.answer)
    await acceptTask(deps, exchange, task, accepted)
    return true
  }
  const { task: id, isNotified } = task.submitted
  // It is unknown whether the provider has accepted the task. If the task was accepted, a callback
  // reports the provider's id, or a search for our id finds the task. Otherwise, the task expires
  // and its quota is released.
  if (last !== null && (isNotified || isSearchable(last, kind)) && mayBeAccepted(last)) {
    await recordUnconfirmed(deps, id, last, attempts)
    const { channelId } = last.channel
    deps.log.debug({ call: id, channelId }, 'a task waits for the confirmation of its provider')
    const description = UNCONFIRMED[exchange.language]
    const answer = { task: id, code: QUEUED, description, properties: {} }
    await acceptTask(deps, exchange, task, answer)
    return true
  }
  const answer = taskErrorAnswer(deps, outcome)
  deps.log.debug({ call: id, status: answer.status }, 'a task was not accepted')
  if (!(await failTask(deps, task, { answer, last, attempts }))) {
    await acceptTask(deps, exchange, task, { task: id, ...ACCEPTED })
    return true
  }
  if (answer.providerError !== null) sendProviderError(exchange, kind, answer.providerError)
  else sendTaskError(exchange, kind, answer.error)
  return false
}

/** Reports whether the provider can be asked later whether it has accepted the task. */
const isSearchable = ({ channel }: LastAttempt, kind: TaskRequest['kind']): boolean =>
  kind === 'video' && vendorOf(channel)?.search !== undefined

/** Sends the response for an accepted task, in the format of its kind. */
async function acceptTask(
  deps: TaskDeps,
  exchange: Exchange,
  record: TaskRecord,
  answer: Parameters<typeof sendAccepted>[2],
): Promise<void> {
  const { kind } = record.submitted
  if (kind === 'video') await sendVideoAccepted(deps, exchange, record)
  else sendAccepted(exchange, kind, answer)
}

/** Records the channel to which a task was sent without a readable response. Only logs failures. */
async function recordUnconfirmed(
  { ledger, log }: TaskDeps,
  task: string,
  { channel, key: { keyRef } }: LastAttempt,
  attempts: readonly Attempt[],
): Promise<void> {
  const place = billedChannelOf(channel)
  try {
    await ledger.noteUnconfirmed(task, { ...place, keyRef, attempts })
  } catch (err) {
    warnThrottled(
      log,
      { err, task, channelId: place.channelId },
      'the channel of an unconfirmed task could not be recorded',
    )
  }
}

/** The response to the caller if a callback has reported that the provider accepted the task. */
const ACCEPTED = { code: 1, description: null, properties: {} }

/** Records that a provider accepted a task. Returns the response for the caller. */
async function recordAcceptance(
  deps: TaskDeps,
  { submitted }: TaskRecord,
  { channel, key, answer }: LastAttempt,
  attempts: readonly Attempt[],
): Promise<Parameters<typeof sendAccepted>[2]> {
  const { task, userId, submittedAt } = submitted
  if (!answer?.isAccepted) throw new Error('the task was not accepted')
  const { upstreamId, code, status, uploads } = answer
  const { channelId } = channel
  const { keyRef } = key
  const confidential = confidentialTexts(deps, { task, channelId, keyRef }, channel)
  const description = answer.description === null ? null : redact(answer.description, confidential)
  const place = {
    ...billedChannelOf(channel),
    keyRef,
    upstreamId,
    code,
    status,
    attempts,
    description,
  }
  const outcome = await deps.acceptedTasks.write({ task, userId, submittedAt, place })
  if (outcome === 'TaskElsewhere') {
    deps.log.warn({ task, channelId, upstreamId }, 'a task was accepted by two providers')
    return { task, ...ACCEPTED }
  }
  deps.log.debug({ call: task, channelId, upstreamId, status }, 'a task was accepted')
  const properties = redactTexts(answer.properties, confidential) as object
  return { task, code, description, properties, ...(uploads === undefined ? {} : { uploads }) }
}

/**
 * Records that an upload of pictures has succeeded, which charges the upload. The provider's answer
 * to the submission is already the result. If this fails, the task expires and costs nothing.
 */
async function recordUpload(
  { ledger, log }: TaskDeps,
  { submitted: { task } }: TaskRecord,
  { channel: { channelId }, key: { keyRef } }: LastAttempt,
  { upstreamId, uploads }: { readonly upstreamId: string; readonly uploads?: readonly string[] },
): Promise<void> {
  const report = { channelId, keyRef, upstreamId, status: 'SUCCESS' } as const
  try {
    const record = await ledger.find(task)
    if (record?.place) await ledger.report(record, { ...report, imageUrl: uploads?.[0] ?? null })
  } catch (err) {
    log.warn({ err, call: task }, 'the upload of pictures could not be charged')
  }
}

type FailedTask = {
  readonly answer: TaskErrorAnswer
  readonly last: LastAttempt | null
  readonly attempts: readonly Attempt[]
}

/**
 * Records that a task failed, which releases its quota. Returns false, and changes nothing, if a
 * callback has meanwhile reported that a provider accepted the task.
 */
async function failTask(
  { ledger }: TaskDeps,
  task: TaskRecord,
  { answer, last, attempts }: FailedTask,
): Promise<boolean> {
  const { status: statusCode, providerError } = answer
  const errorCode = answer.providerError === null ? answer.error.code : 'task_refused'
  const why = {
    cause: providerError !== null || errorCode === 'upstream_account' ? 'refused' : 'unreachable',
    channelId: last?.channel.channelId ?? null,
    code: providerError?.code ?? null,
    failReason: providerError?.words ?? null,
  } as const
  const outcome = await ledger.fail(task, why, { errorCode, statusCode, attempts })
  if (outcome === 'TaskElsewhere') return false
  if (outcome !== 'TaskEnded') return true
  return (await ledger.find(task.submitted.task))?.status === 'FAILURE'
}
