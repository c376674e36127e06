import type { Attempt, ProviderEvidence } from '#domain/accounts/events.ts'
import type { TaskRecord } from '#domain/tasks/decide.ts'
import { AttemptEvidence, evidenceOfRequest } from '#relay/pipeline/attempt-evidence.ts'
import type { Caller } from '#relay/pipeline/authenticate.ts'
import { ChannelSelector } from '#relay/pipeline/channel-selector.ts'
import type { ChosenKey } from '#relay/pipeline/choose-channel-key.ts'
import type { AttemptEnd } from '#relay/pipeline/upstream-attempt.ts'
import {
  isByDeployment,
  type ProviderTarget,
} from '../providers/openai-compatible/provider-target.ts'
import type { RelayChannel, RelayKey } from '../views/channel-view.ts'
import { mayBeSentTo } from '../views/keys-that-may-own-submitted-work.ts'
import { callbackUrl } from './callback-address.ts'
import type { TaskPlan, TaskRequest } from './plan-task.ts'
import {
  drawingSubmitAnswer,
  musicSubmitAnswer,
  type SubmitAnswer,
} from './read-provider-task-answers.ts'
import { objectOf, parsedObject } from './read-task-request-body.ts'
import { type ProviderRequest, sendTaskRequest } from './send-request-to-task-provider.ts'
import type { TaskDeps } from './task-deps.ts'
import { providerRequestOf, upstreamModel, vendorOf } from './videos/plan-video.ts'

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
}

/**
 * Tries each channel once. The next channel is tried only if the previous provider has definitely
 * refused the task. Otherwise, two providers might accept it.
 */
export async function tryChannels(
  deps: TaskDeps,
  task: TaskRecord,
  { caller, request, plan, origin }: PlannedTask,
  attempts: Attempt[],
): Promise<LastAttempt | null> {
  const isPinned = origin !== null || caller.pinnedChannelId !== null
  const selector = new ChannelSelector(deps, plan.offer, request.model, isPinned)
  const id = task.submitted.task
  let last: LastAttempt | null = null
  for (let left = isPinned ? 1 : 1 + deps.views.options.options.retryTimes; left > 0; left -= 1) {
    const channel = await selector.next()
    if (channel === null) break
    const keyWithProbes = await keyOf(deps, channel, plan)
    if (keyWithProbes === null) {
      selector.end(true)
      continue
    }
    const { key } = keyWithProbes
    const { channelId } = channel
    const notifyUrl = task.submitted.isNotified
      ? callbackUrl(deps, { task: id, channelId, keyRef: key.keyRef })
      : null
    const allowed = channel.rules.allowedMembers
    const video = videoQuestion(deps, { request, plan, origin }, { channel, key })
    const question = video?.question ?? {
      ...({ method: 'POST', path: request.path } as const),
      body: request.providerBody({ origin, notifyUrl, allowed }),
    }
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
    last = { channel, key, end, answer, latencyMs }
    const probes = [...selector.probes, ...keyWithProbes.probes]
    const place = { channel, keyRef: key.keyRef, model: request.model, probes }
    deps.breaker.note({ ...place, call: id }, end)
    const { userId } = caller.user
    const failedCall = { channel, key, call: id, userId, requestBody: body }
    const isAccounts = deps.autoDisable.note(failedCall, end)
    const { target } = key
    const tried = { sentAt, answer, answered, target, video, model: request.model }
    const evidence = await taskEvidence(collected, tried)
    const outcome = { channelId, status: answered.status, error, latencyMs }
    const tryOver = evidence === null ? outcome : { ...outcome, evidence }
    const { kind, status } = end
    deps.log.debug({ call: id, channelId, kind, status, error }, 'an attempt ended')
    attempts.push(isAccounts ? { ...tryOver, isAccounts } : tryOver)
    if (!isCertainlyRefused(end)) break
  }
  return last
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
  /** The request for a video; null for a drawing or a piece of music. */
  readonly video: VideoQuestion | null
}

/**
 * Returns the digests and identifiers of an attempt to submit a task; null if the task was not
 * sent.
 */
async function taskEvidence(
  collected: AttemptEvidence,
  { sentAt, answered, answer, target, model: own, video }: TriedTask,
): Promise<ProviderEvidence | null> {
  // A deployment's name does not tell which model it runs, so the models can't be compared.
  const sentModel = video === null || isByDeployment(target) ? null : video.model
  const isAnswered = answered.kind === 'plain' && sentModel !== null
  const { model, usage } = isAnswered ? objectOf(parsedObject(answered.body)) : {}
  // Some ids have the path of the task before them.
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
}

/** Returns the vendor's request for a video and the reader of its answer; null for other tasks. */
function videoQuestion(
  { now }: TaskDeps,
  { request, plan, origin }: Pick<PlannedTask, 'request' | 'plan' | 'origin'>,
  { channel, key }: Pick<LastAttempt, 'channel' | 'key'>,
): VideoQuestion | null {
  const vendor = plan.video === null ? null : vendorOf(channel)
  if (plan.video === null || vendor === null || request.video === undefined) return null
  const model = upstreamModel(channel, request.model)
  const call = vendor.submit(request.video.request, plan.video.media, {
    model,
    originId: origin?.place?.upstreamId ?? null,
  })
  return {
    model,
    question: providerRequestOf(vendor, call, key.target.address.key, now()),
    read: (body) => vendor.readSubmitted(objectOf(parsedObject(body)), call),
  }
}

/**
 * Returns the key for the task, or null if the channel takes no tasks any more. A request that
 * continues a task must use that task's key, because no other account knows the task.
 */
async function keyOf(
  deps: TaskDeps,
  channel: RelayChannel,
  { keyRef }: TaskPlan,
): Promise<ChosenKey | null> {
  if (!(await mayBeSentTo(deps, channel.channelId))) return null
  if (keyRef === null) return deps.keys.choose(channel)
  const key = channel.keys.find((each) => each.keyRef === keyRef)
  return key === undefined ? null : { key, probes: [] }
}

/**
 * Reads a provider's answer. If the provider's account is missing or its queue is full, the attempt
 * is a failure, whatever its HTTP status.
 */
function readAnswer(
  end: AttemptEnd,
  read: (body: Buffer) => SubmitAnswer,
): { readonly end: AttemptEnd; readonly answer: SubmitAnswer | null } {
  if (end.kind !== 'plain') return { end, answer: null }
  const answer = read(end.body)
  if (answer.isAccepted) return { end, answer }
  const failed = { kind: 'failed', body: end.body, retryAfterMs: 0 } as const
  if (answer.isAccountError) return { end: { ...failed, status: 503, error: 'status' }, answer }
  if (answer.code !== null) return { end, answer }
  return { end: { ...failed, status: end.status, error: 'format' }, answer: null }
}

/**
 * The statuses that prove that a provider refused a task: the key was rejected, a limit was reached
 * or the service is unavailable. Statuses from 521 mean that a proxy could not connect.
 */
const CERTAIN_REFUSALS = new Set([401, 402, 403, 429, 503, 521, 523, 525, 526])

/**
 * Reports whether the provider has definitely refused the task. Only then is another channel tried.
 */
function isCertainlyRefused(end: AttemptEnd): boolean {
  if (end.kind !== 'failed') return false
  return (
    end.error === 'connect' || (end.error === 'status' && CERTAIN_REFUSALS.has(end.status ?? 0))
  )
}

/** The statuses of a reverse proxy that stopped waiting for the provider's answer. */
const PROXY_TIMEOUTS = new Set([408, 504, 520, 524])

/**
 * A 502 within this time in milliseconds means that a reverse proxy could not connect to the
 * provider. If a 502 arrives later, the provider may have accepted the task.
 */
const FAST_MS = 1_000

/** Reports whether a provider may have accepted a task although it sent no readable answer. */
export function mayBeAccepted({ end, latencyMs }: Pick<LastAttempt, 'end' | 'latencyMs'>): boolean {
  if (end.kind !== 'failed') return false
  if (end.error !== 'status') return end.error !== 'connect'
  const status = end.status ?? 0
  return PROXY_TIMEOUTS.has(status) || (status === 502 && latencyMs > FAST_MS)
}
