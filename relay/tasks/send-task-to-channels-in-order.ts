import type { Attempt, ProviderEvidence } from '#domain/accounts/events.ts'
import type { TaskRecord } from '#domain/tasks/decide.ts'
import { objectOrEmpty } from '#relay/canonical/json-values.ts'
import type { AttemptEnd } from '#relay/pipeline/attempt-end-types.ts'
import type { Caller } from '#relay/pipeline/authenticate.ts'
import { ChannelSelector } from '#relay/pipeline/channel-selector.ts'
import type { ChosenKey } from '#relay/pipeline/choose-channel-key.ts'
import { AttemptEvidence, evidenceOfRequest } from '#relay/pipeline/provider-evidence-of-attempt.ts'
import { isByDeployment, type ProviderTarget } from '../providers/profiles/provider-target.ts'
import type { RelayChannel, RelayKey } from '../views/channel-view.ts'
import { mayBeSentTo, takesSubmissions } from '../views/submission-checks-and-key-retries.ts'
import { isCertainlyRefused, isKeyFault, judgeSubmission } from './judge-submission-outcome.ts'
import { parsedShallowObject } from './parse-provider-json.ts'
import type { TaskPlan, TaskRequest } from './plan-task.ts'
import {
  drawingSubmitAnswer,
  musicSubmitAnswer,
  type SubmitAnswer,
} from './read-provider-task-answers.ts'
import { type ProviderRequest, sendTaskRequest } from './send-request-to-task-provider.ts'
import { callbackUrl } from './signed-callback-url.ts'
import type { TaskDeps } from './task-deps.ts'
import {
  providerRequestOf,
  submissionOf,
  upstreamModel,
  vendorOf,
} from './videos/select-channels-and-build-video-request.ts'

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
 * An error in a step before the task was sent to the next channel. The providers of `attempts` have
 * refused the task, so no provider has it.
 */
export class TaskNotSent extends Error {
  readonly attempts: readonly Attempt[]

  constructor(cause: unknown, attempts: readonly Attempt[]) {
    super('a task was not sent', { cause })
    this.attempts = attempts
  }
}

export type SentTask = {
  /** The last attempt; null if there was none. */
  readonly last: LastAttempt | null
  /** The time until a full channel may accept a task, or 0 if no channel was full. */
  readonly retryAfterMs: number
}

/** The maximum number of attempts with other keys of channels that were tried already. */
const OTHER_KEYS_MAX = 4

/**
 * Tries at most `1 + retryTimes` channels, or one if the task is pinned to a channel. If the
 * provider refused the key, its account or further tasks of this account, the channel is tried
 * again with another key, unless the task is pinned. All keys of a channel count as one try, so
 * that a channel whose account is in arrears does not keep the task from the next channel. Another
 * attempt is made only if the previous provider has definitely refused the task, because two
 * providers might otherwise accept it. Throws `TaskNotSent` if a step before sending fails.
 */
export async function sendTaskToChannels(
  deps: TaskDeps,
  task: TaskRecord,
  planned: PlannedTask,
  attempts: Attempt[],
): Promise<SentTask> {
  const { caller, request, plan, origin } = planned
  const isPinned = origin !== null || caller.pinnedChannelId !== null
  const selector = new ChannelSelector(deps, plan.offer, request.model, isPinned)
  const used = new Set<RelayKey>()
  let last: LastAttempt | null = null
  let left = isPinned ? 1 : 1 + deps.views.options.options.retryTimes
  /** The channel that is tried again with another key. */
  let repeated: RelayChannel | null = null
  try {
    while (left > 0 || repeated !== null) {
      const only = left > 0 ? null : repeated
      const next: Promise<PreparedTask | null> = prepareNext(deps, task, planned, {
        ...{ selector, used, only },
      })
      const prepared = await next.catch((error: unknown) => {
        throw new TaskNotSent(error, attempts)
      })
      if (prepared === null) break
      if (prepared.channel !== repeated) left -= 1
      const tried = await sendTo(deps, task, planned, prepared, selector)
      last = tried.last
      attempts.push(tried.attempt)
      if (!isCertainlyRefused(last)) break
      const isRepeated = !isPinned && last.channel.keys.length > 1 && used.size < OTHER_KEYS_MAX
      repeated = isRepeated && isKeyFault(last) ? last.channel : null
      if (repeated === null) continue
      used.add(last.key)
      selector.retryWithAnotherKey()
    }
    return { last, retryAfterMs: selector.retryAfterMs }
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

type Selection = {
  readonly selector: ChannelSelector
  readonly used: ReadonlySet<RelayKey>
  /** The only channel that may be tried; null for any. */
  readonly only: RelayChannel | null
}

/**
 * Chooses the next channel that takes tasks, records it and writes the request for its provider. A
 * channel that takes no tasks does not count as a try. Returns null if no channel is left, if the
 * next channel is not `only`, or if the task has ended.
 */
async function prepareNext(
  deps: TaskDeps,
  { submitted }: TaskRecord,
  planned: PlannedTask,
  { selector, used, only }: Selection,
): Promise<PreparedTask | null> {
  for (;;) {
    const channel = await selector.next()
    if (channel === null || (only !== null && channel !== only)) return null
    const { channelId } = channel
    // Only one call at a time may probe a key. No key is chosen for a channel that takes no tasks,
    // because this choice could prevent another call from probing the key.
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
  { caller, request, origin }: PlannedTask,
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
  const { end, answer } = judgeSubmission(answered, video?.read ?? readerOf(request, origin))
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

const readerOf = ({ kind }: TaskRequest, origin: TaskRecord | null) =>
  kind === 'drawing'
    ? (body: Buffer) => drawingSubmitAnswer(body, { isFollowUp: origin !== null })
    : musicSubmitAnswer

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
