import type { Attempt, ProviderEvidence } from '#domain/accounts/events.ts'
import type { TaskRecord } from '#domain/tasks/decide.ts'
import { objectOrEmpty } from '#relay/canonical/json-values.ts'
import { outcomeOf } from '#relay/channel-health/attempt-outcome.ts'
import type { Caller } from '#relay/pipeline/authenticate.ts'
import { ChannelSelector } from '#relay/pipeline/channel-selector.ts'
import type { ChosenKey } from '#relay/pipeline/choose-channel-key.ts'
import { accountErrorOf } from '#relay/pipeline/detect-provider-account-error.ts'
import { AttemptEvidence, evidenceOfRequest } from '#relay/pipeline/provider-evidence-of-attempt.ts'
import type { AttemptEnd } from '#relay/pipeline/upstream-attempt.ts'
import {
  isByDeployment,
  type ProviderTarget,
} from '../providers/openai-compatible/provider-target.ts'
import type { RelayChannel, RelayKey } from '../views/channel-view.ts'
import { mayBeSentTo, takesSubmissions } from '../views/keys-that-may-own-submitted-work.ts'
import { callbackUrl } from './callback-address.ts'
import type { TaskPlan, TaskRequest } from './plan-task.ts'
import {
  drawingSubmitAnswer,
  musicSubmitAnswer,
  type SubmitAnswer,
} from './read-provider-task-answers.ts'
import { parsedShallowObject } from './read-task-request-body.ts'
import { type ProviderRequest, sendTaskRequest } from './send-request-to-task-provider.ts'
import type { TaskDeps } from './task-deps.ts'
import {
  providerRequestOf,
  submissionOf,
  upstreamModel,
  vendorOf,
} from './videos/select-channels-for-video.ts'

export type PlannedTask = {
  readonly request: TaskRequest
  readonly plan: TaskPlan
  readonly caller: Caller
  readonly origin: TaskRecord | null
}

export type LastAttempt = {
  readonly channel: RelayChannel
  readonly key: RelayKey
  readonly end: AttemptEnd
  readonly answer: SubmitAnswer | null
  readonly latencyMs: number
  /** The names of the request's members that were not sent to this channel. */
  readonly dropped: readonly string[]
}

/**
 * The error of a step before a task was sent. The providers of `attempts` have refused the task, so
 * none has it.
 */
export class TaskNotSent extends Error {
  readonly attempts: readonly Attempt[]

  constructor(cause: unknown, attempts: readonly Attempt[]) {
    super('a task was not sent', { cause })
    this.attempts = attempts
  }
}

/**
 * Tries each channel once, and again with another key if the provider refused the key, its account
 * or more tasks of it. Another attempt is made only if the previous provider has definitely refused
 * the task. Otherwise, two providers might accept it. Throws `TaskNotSent` if a step before sending
 * fails.
 */
export async function tryChannels(
  deps: TaskDeps,
  task: TaskRecord,
  planned: PlannedTask,
  attempts: Attempt[],
): Promise<LastAttempt | null> {
  const { caller, request, plan, origin } = planned
  const isPinned = origin !== null || caller.pinnedChannelId !== null
  const selector = new ChannelSelector(deps, plan.offer, request.model, isPinned)
  const used = new Set<RelayKey>()
  let last: LastAttempt | null = null
  try {
    for (let left = isPinned ? 1 : 1 + deps.views.options.options.retryTimes; left > 0; left -= 1) {
      const next = prepareNext(deps, task, planned, { selector, used })
      const prepared = await next.catch((error: unknown) => {
        throw new TaskNotSent(error, attempts)
      })
      if (prepared === null) break
      const tried = await sendTo(deps, task, planned, prepared, selector)
      last = tried.last
      attempts.push(tried.attempt)
      if (!isCertainlyRefused(last)) break
      if (last.channel.keys.length < 2 || !isKeyFault(last)) continue
      used.add(last.key)
      selector.retryWithAnotherKey()
    }
    return last
  } finally {
    // After an error, the channel's permit would otherwise be held until the process ends.
    selector.end(true)
  }
}

type PreparedTask = ChosenKey & {
  readonly channel: RelayChannel
  readonly video: VideoQuestion | null
  readonly question: ProviderRequest
}

/**
 * Chooses the next channel that takes tasks, records it and writes the request for its provider. A
 * channel that takes no tasks was not tried, so it does not count. Returns null if no channel is
 * left or the task has ended.
 */
async function prepareNext(
  deps: TaskDeps,
  { submitted }: TaskRecord,
  planned: PlannedTask,
  { selector, used }: { readonly selector: ChannelSelector; readonly used: ReadonlySet<RelayKey> },
): Promise<PreparedTask | null> {
  for (;;) {
    const channel = await selector.next()
    if (channel === null) return null
    const { channelId } = channel
    // A key may be probed by one call at a time, so none is chosen at a channel that is paused.
    const choice = (await takesSubmissions(deps, channelId))
      ? await keyFor(deps, channel, planned.plan, used)
      : null
    if (choice !== null) {
      let prepared: PreparedTask | 'paused' | 'ended' | null = null
      try {
        prepared = await prepareAt(deps, submitted, planned, channel, choice)
      } finally {
        if (prepared === null || typeof prepared === 'string') deps.breaker.release(choice.probes)
      }
      if (prepared === 'ended') return null
      if (prepared !== 'paused') return prepared
    }
    selector.end(true)
  }
}

/**
 * Records the channel of a task and writes the request for its provider. Returns `ended` if the
 * task has ended, and `paused` if the channel takes no tasks any more.
 */
async function prepareAt(
  deps: TaskDeps,
  { task, isNotified }: TaskRecord['submitted'],
  { request, plan, origin }: PlannedTask,
  channel: RelayChannel,
  choice: ChosenKey,
): Promise<PreparedTask | 'paused' | 'ended'> {
  const { key } = choice
  const place = { channelId: channel.channelId, keyRef: key.keyRef }
  if ((await deps.ledger.route(task, place)) !== 'changed') return 'ended'
  if (!(await mayBeSentTo(deps, place))) return 'paused'
  const notifyUrl = isNotified ? callbackUrl(deps, { task, ...place }) : null
  const allowed = channel.rules.allowedMembers
  const video = videoQuestion(deps, task, { request, plan, origin }, { channel, key })
  const question = video?.question ?? {
    ...({ method: 'POST', path: request.path } as const),
    body: request.providerBody({ origin, notifyUrl, allowed }),
  }
  return { channel, ...choice, video, question }
}

/**
 * Sends the task to one channel. Also reports the outcome to the circuit breakers and to the check
 * that disables failing channels.
 */
async function sendTo(
  deps: TaskDeps,
  task: TaskRecord,
  { caller, request }: PlannedTask,
  { channel, key, probes: probesOfKey, video, question }: PreparedTask,
  selector: ChannelSelector,
): Promise<{ readonly last: LastAttempt; readonly attempt: Attempt }> {
  const id = task.submitted.task
  const { channelId } = channel
  const allowed = channel.rules.allowedMembers
  const { body = NO_BODY } = question
  const startedAt = performance.now()
  const sentAt = deps.now()
  const collected = new AttemptEvidence()
  const answered = await sendTaskRequest(deps.providerOutbound, key.target, {
    ...question,
    evidence: collected,
  })
  const { end, answer } = readAnswer(answered, video?.read ?? readerOf(request))
  const error = end.kind === 'failed' ? end.error : null
  const latencyMs = Math.round(performance.now() - startedAt)
  selector.end(false)
  const dropped = [...request.droppedMembers(allowed), ...(video?.unread ?? [])]
  const last = { channel, key, end, answer, latencyMs, dropped }
  const probes = [...selector.probes, ...probesOfKey]
  const place = { channel, keyRef: key.keyRef, model: request.model, probes }
  deps.breaker.note({ ...place, call: id }, end)
  const { userId } = caller.user
  const failedCall = { channel, key, call: id, userId, requestBody: body }
  const isAccounts = deps.autoDisable.note(failedCall, end)
  const { target } = key
  const sent = { sentAt, answer, answered, target, video, model: request.model }
  const evidence = await taskEvidence(collected, sent)
  const outcome = { channelId, status: answered.status, error, latencyMs }
  const tryOver = evidence === null ? outcome : { ...outcome, evidence }
  const { kind, status } = end
  deps.log.debug({ call: id, channelId, kind, status, error }, 'an attempt ended')
  return { last, attempt: isAccounts ? { ...tryOver, isAccounts } : tryOver }
}

const NO_BODY = Buffer.alloc(0)

const readerOf = ({ kind }: TaskRequest) =>
  kind === 'drawing' ? drawingSubmitAnswer : musicSubmitAnswer

type TriedTask = {
  readonly sentAt: number
  readonly answered: AttemptEnd
  readonly answer: SubmitAnswer | null
  readonly target: ProviderTarget
  readonly model: string
  /** The request to the vendor of a video; null for a drawing or music task. */
  readonly video: VideoQuestion | null
}

/**
 * Returns digests and identifiers of an attempt to submit a task, which later prove what was sent
 * and received. Returns null if the task was not sent.
 */
async function taskEvidence(
  collected: AttemptEvidence,
  { sentAt, answered, answer, target, model: own, video }: TriedTask,
): Promise<ProviderEvidence | null> {
  // The name of a deployment does not tell which model the deployment runs, so the models can't be
  // compared.
  const sentModel = video === null || isByDeployment(target) ? null : video.model
  const isAnswered = answered.kind === 'plain' && sentModel !== null
  const { model, usage } = isAnswered ? objectOrEmpty(parsedShallowObject(answered.body)) : {}
  // Some vendors' modules put a path before the id. The id itself follows the last slash.
  const id = answer?.isAccepted === true ? answer.upstreamId.split('/').at(-1) : null
  const acceptedId = id || null
  const error = answered.kind === 'failed' ? answered.error : null
  const facts = { sentAt, error, target, answer: { model, usage }, acceptedId }
  const evidence = await evidenceOfRequest(collected, facts)
  const isMapped = sentModel !== null && sentModel !== own
  return evidence !== null && isMapped ? { ...evidence, sentModel } : evidence
}

type VideoQuestion = {
  /** The vendor's name for the model. */
  readonly model: string
  readonly question: ProviderRequest
  readonly read: (body: Buffer) => SubmitAnswer
  readonly unread: readonly string[]
}

/**
 * Returns the request to a video vendor and the function that reads the response; null for other
 * tasks.
 */
function videoQuestion(
  { now }: TaskDeps,
  task: string,
  { request, plan, origin }: Pick<PlannedTask, 'request' | 'plan' | 'origin'>,
  { channel, key }: Pick<LastAttempt, 'channel' | 'key'>,
): VideoQuestion | null {
  const vendor = plan.video === null ? null : vendorOf(channel)
  if (plan.video === null || vendor === null || request.video === undefined) return null
  const model = upstreamModel(channel, request.model)
  const { call, unread } = submissionOf(vendor, request.video, plan.video.media, {
    model,
    originId: origin?.place?.upstreamId ?? null,
    task,
  })
  return {
    model,
    question: providerRequestOf(vendor, call, key.target.address.key, now()),
    read: (body) => vendor.readSubmitted(objectOrEmpty(parsedShallowObject(body)), call),
    unread,
  }
}

/**
 * Returns a key that was not used for this task, or null if there is none. A request that continues
 * a task must use that task's key, because no other account knows the task.
 */
function keyFor(
  { keySelector }: TaskDeps,
  channel: RelayChannel,
  { keyRef }: TaskPlan,
  used: ReadonlySet<RelayKey>,
): ReturnType<TaskDeps['keySelector']['choose']> {
  if (keyRef === null) return keySelector.choose(channel, used)
  const key = channel.keys.find((each) => each.keyRef === keyRef)
  return key === undefined ? null : { key, probes: [] }
}

/**
 * The HTTP status that means the same as each cause of a refusal. Vendors send other statuses, such
 * as 200 or 400 for an account in arrears.
 */
const STATUS_OF_CAUSE = { key: 401, account: 402, model: 404, limit: 429, provider: 500 } as const

/**
 * Reads a provider's response to a submission. If the provider refused the site's account and not
 * the request, the attempt ends with the status that means this, whatever the status of the
 * response, so that another channel is tried and the channel's health counts it.
 */
function readAnswer(
  end: AttemptEnd,
  read: (body: Buffer) => SubmitAnswer,
): { readonly end: AttemptEnd; readonly answer: SubmitAnswer | null } {
  if (end.kind === 'streamed') return { end, answer: null }
  if (end.kind === 'failed') return readFailed(end, read)
  const answer = read(end.body)
  if (answer.isAccepted) return { end, answer }
  const failed = { kind: 'failed', body: end.body, retryAfterMs: 0 } as const
  if (answer.cause !== 'request') {
    return { end: { ...failed, status: STATUS_OF_CAUSE[answer.cause], error: 'status' }, answer }
  }
  if (answer.code !== null) return { end, answer }
  return { end: { ...failed, status: end.status, error: 'format' }, answer: null }
}

/** The statuses with which a provider refuses a key: it is not valid, or lacks a permission. */
const KEY_STATUSES = new Set([401, 403])

/**
 * Reads a response with an error status. Its status stays if the request or the provider is at
 * fault, because the status tells more than the code then. It also stays if it refuses the key,
 * because the account's cause is then often a missing permission. This does not end by topping up
 * the account, as 402 would mean, so such refusals count for disabling the key.
 */
function readFailed(
  end: Extract<AttemptEnd, { readonly kind: 'failed' }>,
  read: (body: Buffer) => SubmitAnswer,
): { readonly end: AttemptEnd; readonly answer: SubmitAnswer | null } {
  const { error, status } = end
  const isRead = error === 'status' && status !== null && status >= 400 && status < 500
  const answer = isRead ? read(end.body) : null
  if (answer === null || answer.isAccepted) return { end, answer: null }
  const { cause } = answer
  if (cause === 'request' || cause === 'provider') return { end, answer: null }
  if (cause === 'account' && KEY_STATUSES.has(status ?? 0)) return { end, answer }
  return { end: { ...end, status: STATUS_OF_CAUSE[cause] }, answer }
}

/**
 * The HTTP statuses that prove that a provider refused a task: the key was rejected, a limit was
 * reached or the service is unavailable. The statuses from 521 mean that a reverse proxy could not
 * connect to the provider.
 */
const CERTAIN_REFUSALS = new Set([401, 402, 403, 429, 503, 521, 523, 525, 526])

/**
 * Reports whether the provider has definitely refused the task, so that another channel may be
 * tried.
 */
function isCertainlyRefused({ end, answer }: LastAttempt): boolean {
  if (end.kind !== 'failed') return false
  if (end.error === 'connect') return true
  if (end.error !== 'status') return false
  const isModels = answer?.isAccepted === false && answer.cause === 'model'
  // A provider or proxy that fails may have accepted the task, whatever code its answer has.
  const isAccounts = (end.status ?? 0) < 500 && accountErrorOf(end) !== null
  return isModels || CERTAIN_REFUSALS.has(end.status ?? 0) || isAccounts
}

/** Reports whether a failure concerns the key or its account, so that another key may do better. */
function isKeyFault({ end, answer }: LastAttempt): boolean {
  if (answer?.isAccepted === false && answer.cause === 'account') return true
  const outcome = outcomeOf(end)
  return typeof outcome === 'object' && outcome.blame === 'key'
}

/** The HTTP statuses of a reverse proxy that has stopped waiting for the provider's response. */
const PROXY_TIMEOUTS = new Set([408, 504, 520, 524])

/**
 * If the status 502 arrives within this time, a reverse proxy could not connect to the provider. If
 * it arrives later, the provider may have accepted the task.
 */
const FAST_MS = 1_000

/** Reports whether a provider may have accepted a task, although it sent no readable response. */
export function mayBeAccepted({ end, latencyMs }: Pick<LastAttempt, 'end' | 'latencyMs'>): boolean {
  if (end.kind !== 'failed') return false
  if (end.error !== 'status') return end.error !== 'connect'
  const status = end.status ?? 0
  return PROXY_TIMEOUTS.has(status) || (status === 502 && latencyMs > FAST_MS)
}
