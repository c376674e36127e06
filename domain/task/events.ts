import type { Attempt } from '../account/events.ts'
import type { ProviderCost } from '../pricing/price.ts'
import type { Fact, Sealed } from '../shared/event.ts'
import type { WireQuota } from '../shared/quota.ts'

/** Each task has one stream; `task` is the id of the call that pays for it, a UUID v7. */
export const taskStream = (task: string): string => `task-${task}`

export const TASK_KINDS = ['drawing', 'music'] as const
export type TaskKind = (typeof TASK_KINDS)[number]

/**
 * A status that is not final, as on the wire. `UNKNOWN` means that the provider does not know it.
 */
export type OpenStatus = 'NOT_START' | 'SUBMITTED' | 'QUEUED' | 'MODAL' | 'IN_PROGRESS' | 'UNKNOWN'

export type TaskStatus = OpenStatus | 'SUCCESS' | 'FAILURE'

export type TaskFacts = {
  readonly task: string
  readonly userId: number
  readonly kind: TaskKind
}

/**
 * The hold is durable and nothing has been sent yet: the same append admits the call of the same id
 * in the account. The event has action, prompt, submit time (`submittedAt`), model, group and hold.
 * No event has the progress (`infra/progress` has it).
 */
export type TaskSubmitted = Fact<
  'TaskSubmitted',
  TaskFacts & {
    readonly tokenId: number
    /** `midjourney` or `suno`. */
    readonly platform: string
    /** As on the wire: `IMAGINE`, `UPSCALE`, `MUSIC`… */
    readonly action: string
    /** The name that is priced: `mj_imagine`, `swap_face`, `suno_music`… */
    readonly model: string
    readonly group: string
    readonly hold: WireQuota
    /** The prompt in the caller's words; null where the action has none. */
    readonly prompt: Sealed | null
    /**
     * The caller's own label, which every answer about the task returns; omitted where there is
     * none.
     */
    readonly state?: Sealed
    /** The task that this one continues. */
    readonly origin: string | null
    /** Whether the provider got a callback address. */
    readonly isNotified: boolean
    /** Unix milliseconds. */
    readonly submittedAt: number
  }
>

/**
 * A provider accepted the task. The event has the channel and its cost ratio, the provider's id of
 * the task, code and description.
 */
export type TaskAccepted = Fact<
  'TaskAccepted',
  Pick<ProviderCost, 'costRatio'> &
    TaskFacts & {
      readonly channelId: number
      /** The channel's key that was used; later queries use the same key. */
      readonly keyRef: string
      readonly upstreamId: string
      /** As on the wire: 1 submitted, 21 already exists, 22 queued. */
      readonly code: number
      /** The provider's description. */
      readonly description: Sealed | null
      readonly status: OpenStatus
      /** All attempts, for the events of the call; omitted in a callback. */
      readonly attempts?: readonly Attempt[]
    }
>

/**
 * The task was sent and the answer was lost, so that the provider may have it. The event has the
 * channel, the key and all attempts.
 */
export type TaskUnconfirmed = Fact<
  'TaskUnconfirmed',
  Pick<ProviderCost, 'costRatio'> &
    TaskFacts & {
      readonly channelId: number
      readonly keyRef: string
      readonly attempts: readonly Attempt[]
    }
>

/**
 * The status changed to another one that is not final. The event has the status, and the start time
 * once the task has started.
 */
export type TaskStatusChanged = Fact<
  'TaskStatusChanged',
  TaskFacts & {
    readonly status: OpenStatus
    /** Unix milliseconds at which the task was first seen in progress, or null. */
    readonly startedAt: number | null
  }
>

/**
 * The task succeeded; the same append settles its call. The event has start and finish time, the
 * image's URL, the prompt in English, and further results.
 */
export type TaskSucceeded = Fact<
  'TaskSucceeded',
  TaskFacts & {
    readonly channelId: number
    readonly startedAt: number | null
    readonly finishedAt: number
    /** Only for drawings. */
    readonly imageUrl: Sealed | null
    readonly promptEn: Sealed | null
    /** JSON text: `buttons` and `properties` of a drawing, `data` of a music task. */
    readonly result: Sealed | null
  }
>

/**
 * The cause of a failure: the provider reported it (`failed`), no provider accepted the task
 * (`refused`, or `unreachable` without an answer), the state of the task is unknown (`lost`), or it
 * took more than an hour (`timeout`).
 */
export type FailureCause = 'failed' | 'refused' | 'unreachable' | 'lost' | 'timeout'

/**
 * The task ended without a result; the same append releases its call. The event has finish time and
 * reason.
 */
export type TaskFailed = Fact<
  'TaskFailed',
  TaskFacts & {
    /** null means that no provider had the task. */
    readonly channelId: number | null
    /** The code with which the provider refused the task: 3, 23, 24…; otherwise null. */
    readonly code: number | null
    readonly cause: FailureCause
    /** The provider's words, or null where it gave none; then only the cause is known. */
    readonly failReason: Sealed | null
    readonly startedAt: number | null
    readonly finishedAt: number
  }
>

export type TaskEvent =
  | TaskSubmitted
  | TaskAccepted
  | TaskUnconfirmed
  | TaskStatusChanged
  | TaskSucceeded
  | TaskFailed
