import type { OpenTask } from '#projections/open-tasks/query.ts'
import type { AttemptEnd } from '#relay/pipeline/attempt-end-types.ts'
import { accountErrorOf } from '#relay/pipeline/detect-provider-account-error.ts'
import { billedChannelOf, type RelayChannel } from '#relay/views/channel-view.ts'
import { keysOfSubmitted, sendWithKeys } from '#relay/views/submission-checks-and-key-retries.ts'
import { parsedShallowObject } from '../parse-provider-json.ts'
import { sendTaskRequest } from '../send-request-to-task-provider.ts'
import type { TaskDeps } from '../task-deps.ts'
import type { UnansweredStatusQueries } from '../unanswered-status-queries.ts'
import { providerRequestOf, vendorOf } from './select-channels-and-build-video-request.ts'
import { UNKNOWN_TASK } from './video-status-query.ts'
import type { VideoVendor } from './video-vendor.ts'

/**
 * The age of a submission in milliseconds from which the vendor is asked for the video. Most
 * vendors have answered the submission by then.
 */
const ANSWER_EXPECTED_MS = 30_000
/**
 * The minimum number of answers in a row without the video before a vendor counts as not having the
 * video. See also `absentMs`.
 */
const ABSENT_ANSWERS = 5
const SEARCH_MS = 20_000
const PER_CHANNEL = { max: 3 }

/**
 * The search for one video at its vendor. `absent` is the number of consecutive answers that the
 * vendor does not have the video, and `absentSince` is the time of the first of these answers.
 * Times are by `performance.now()`.
 */
type Search = { readonly askedAt: number; readonly absentSince: number; readonly absent: number }

type SearchedAt = {
  readonly channel: RelayChannel
  readonly vendor: VideoVendor
  readonly search: NonNullable<VideoVendor['search']>
  readonly keyRef: string
}

type Found =
  | { readonly kind: 'found'; readonly upstreamId: string }
  | { readonly kind: 'absent' | 'unanswered' }

const NOTHING_SAID: Found = { kind: 'unanswered' }

/**
 * Looks for videos whose submission has no recorded answer. A relay may be killed after the vendor
 * has accepted a video and before the acceptance is recorded, or the vendor's answer may be lost.
 * In both cases, the vendor makes the video and charges for it. Some vendors can be asked for a
 * video by the gateway's id of the task. A video that is found is recorded as accepted, and is then
 * polled and charged like any other video.
 */
export class UnconfirmedVideos {
  private readonly deps: TaskDeps
  private readonly unanswered: UnansweredStatusQueries
  /**
   * The minimum time in milliseconds over which a vendor must repeat that it does not have a video.
   * After this time, the vendor counts as not having the video.
   */
  private readonly absentMs: number
  private readonly searches = new Map<string, Search>()

  constructor(deps: TaskDeps, unanswered: UnansweredStatusQueries, absentMs: number) {
    this.deps = deps
    this.unanswered = unanswered
    this.absentMs = absentMs
  }

  /** Reports whether the vendor must be asked for the video now. */
  isDue(task: OpenTask): boolean {
    if (this.deps.now() - task.submittedAt < ANSWER_EXPECTED_MS) return false
    if (this.placeOf(task) === null) return false
    const askedAt = this.searches.get(task.task)?.askedAt ?? Number.NEGATIVE_INFINITY
    return performance.now() - askedAt >= this.absentMs / (ABSENT_ANSWERS + 1)
  }

  /**
   * Reports whether the vendor may have the video. If so, the task must not be ended. A vendor that
   * can be asked is assumed to have the video until it has answered several times that it does not.
   * The assumption also ends once the vendor has given no readable answer for the time that an
   * accepted task may wait for an answer.
   */
  mayExist(task: OpenTask): boolean {
    if (this.placeOf(task) === null) return false
    if (this.unanswered.mayExpireUnanswered(task, this.deps.now())) return false
    const { absent = 0, absentSince = 0 } = this.searches.get(task.task) ?? {}
    const isDeniedForLong = performance.now() - absentSince >= this.absentMs
    return absent < ABSENT_ANSWERS || !isDeniedForLong
  }

  /** Forgets the searches for all tasks that are not among the open tasks. */
  keepOnly(open: ReadonlySet<string>): void {
    for (const task of this.searches.keys()) if (!open.has(task)) this.searches.delete(task)
  }

  /** Asks the vendor for the video, and records its acceptance if the vendor has it. */
  async search(openTask: OpenTask, lost: AbortSignal): Promise<void> {
    const { task, userId, submittedAt } = openTask
    const at = this.placeOf(openTask)
    const { ledger, acceptedTasks, log, now } = this.deps
    if (at === null || acceptedTasks.isPending(task)) return
    const record = await ledger.peek(task)
    if (record === null || record.end !== null || record.place !== null) return
    const found = await this.ask(at, task, record.submitted.action, lost)
    if (lost.aborted) return
    this.note(task, found.kind)
    if (found.kind === 'unanswered') this.unanswered.add(task, now())
    else this.unanswered.remove(task)
    if (found.kind !== 'found') return
    const { channelId } = at.channel
    const { attempts } = record.sentTo?.channelId === channelId ? record.sentTo : {}
    const place = {
      ...{ ...billedChannelOf(at.channel), keyRef: at.keyRef, upstreamId: found.upstreamId },
      ...({ code: 1, description: null, status: 'SUBMITTED' } as const),
      ...(attempts === undefined ? {} : { attempts }),
    }
    const outcome = await acceptedTasks.write({ task, userId, submittedAt, place })
    log.warn({ task, channelId, outcome }, 'a video was found whose acceptance was not recorded')
  }

  private placeOf({ kind, channelId, ...sent }: OpenTask): SearchedAt | null {
    const { sentToChannelId, sentWithKeyRef: keyRef } = sent
    if (kind !== 'video' || channelId !== null || sentToChannelId === null) return null
    const channel = this.deps.views.channels.find(sentToChannelId)
    const vendor = channel === undefined ? null : vendorOf(channel)
    const search = vendor?.search
    if (channel === undefined || vendor === null || search === undefined) return null
    return { channel, vendor, search, keyRef: keyRef ?? '' }
  }

  private note(task: string, found: Found['kind']): void {
    const askedAt = performance.now()
    const { absent = 0, absentSince = askedAt } = this.searches.get(task) ?? {}
    this.searches.set(
      task,
      found === 'absent'
        ? { askedAt, absentSince: absent === 0 ? askedAt : absentSince, absent: absent + 1 }
        : { askedAt, absentSince: askedAt, absent: 0 },
    )
  }

  private async ask(
    { channel, vendor, search, keyRef }: SearchedAt,
    task: string,
    action: string,
    lost: AbortSignal,
  ): Promise<Found> {
    const { pollPermits, providerOutbound, views, now } = this.deps
    const names = [{ name: `channel ${channel.channelId}`, ...PER_CHANNEL }]
    const release = await pollPermits.enter(names, lost)
    if (release === null) return NOTHING_SAID
    const call = search(task, action)
    const keys = keysOfSubmitted(views.channels, { channelId: channel.channelId, keyRef })
    const signal = AbortSignal.any([lost, AbortSignal.timeout(SEARCH_MS)])
    try {
      const end = await sendWithKeys(keys, ({ target }) => {
        const request = providerRequestOf(vendor, call, target.address.key, now())
        return sendTaskRequest(providerOutbound, target, request, signal)
      })
      const found = end === null ? NOTHING_SAID : foundIn(vendor, call, end)
      // If the key of the submission was replaced, the new key may belong to an account that does
      // not have the video.
      const isOwn = keys.some((key) => key.keyRef === keyRef)
      return found.kind === 'absent' && !isOwn ? NOTHING_SAID : found
    } finally {
      release()
    }
  }
}

/**
 * Reads a vendor's answer to a search. A refusal of the site's key or account, or a failure of the
 * vendor, says nothing about the video.
 */
function foundIn(
  vendor: VideoVendor,
  call: Parameters<VideoVendor['readSubmitted']>[1],
  end: AttemptEnd,
): Found {
  if (end.kind === 'streamed') return NOTHING_SAID
  const isNotFound = end.kind === 'failed' && UNKNOWN_TASK.has(end.status ?? 0)
  if (end.kind === 'failed' && (!isNotFound || accountErrorOf(end) !== null)) {
    return NOTHING_SAID
  }
  const body = parsedShallowObject(end.body)
  if (body === null) return { kind: isNotFound ? 'absent' : 'unanswered' }
  const answer = vendor.readSubmitted(body, call)
  if (answer.isAccepted) {
    return end.kind === 'plain' ? { kind: 'found', upstreamId: answer.upstreamId } : NOTHING_SAID
  }
  if (answer.cause !== 'request') return NOTHING_SAID
  return { kind: isNotFound || answer.code !== null ? 'absent' : 'unanswered' }
}
