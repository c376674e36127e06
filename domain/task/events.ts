import type { Attempt } from '../account/events.ts'
import type { ProviderCost } from '../pricing/price.ts'
import type { Fact, Sealed } from '../shared/event.ts'
import type { WireQuota } from '../shared/quota.ts'

/** Returns the name of a task's stream. `task` is the id of the paying call, a UUID v7. */
export const taskStream = (task: string): string => `task-${task}`

export const TASK_KINDS = ['drawing', 'music'] as const
export type TaskKind = (typeof TASK_KINDS)[number]

/** A status that is not final. `UNKNOWN` means that the provider does not know the task. */
export type OpenStatus = 'NOT_START' | 'SUBMITTED' | 'QUEUED' | 'MODAL' | 'IN_PROGRESS' | 'UNKNOWN'

export type TaskStatus = OpenStatus | 'SUCCESS' | 'FAILURE'

export type TaskFacts = {
  readonly task: string
  readonly userId: number
  readonly kind: TaskKind
}

/**
 * A task was submitted but not sent yet. The same append admits the call with the same id in the
 * account, so that the quota is held before the task is sent. The progress of a task is in
 * `infra/task-progress` and not in events.
 */
export type TaskSubmitted = Fact<
  'TaskSubmitted',
  TaskFacts & {
    readonly tokenId: number
    /** The platform of the task: `midjourney` or `suno`. */
    readonly platform: string
    /** The action of the task as in the API: `IMAGINE`, `UPSCALE`, `MUSIC`… */
    readonly action: string
    /**
     * The model name that determines the price of the task: `mj_imagine`, `swap_face`,
     * `suno_music`…
     */
    readonly model: string
    readonly group: string
    readonly hold: WireQuota
    /** The prompt as the caller sent it. It is null if the action has no prompt. */
    readonly prompt: Sealed | null
    /**
     * The label that the caller gave the task. Responses about the task contain this label. It is
     * omitted if the caller gave none.
     */
    readonly state?: Sealed
    /** The id of the earlier task that this task continues, or null. */
    readonly origin: string | null
    /** Set if the provider received a callback address for the task. */
    readonly isNotified: boolean
    /** The time of the submission in unix milliseconds. */
    readonly submittedAt: number
  }
>

/**
 * A provider accepted the task. The event contains the channel, its cost ratio, the provider's id
 * of the task, and the code and description in the provider's answer.
 */
export type TaskAccepted = Fact<
  'TaskAccepted',
  Pick<ProviderCost, 'costRatio'> &
    TaskFacts & {
      readonly channelId: number
      /** The reference of the channel's key that was used. Later queries use the same key. */
      readonly keyRef: string
      readonly upstreamId: string
      /** The code in the provider's answer: 1 means submitted, 21 already exists, 22 queued. */
      readonly code: number
      /** The description in the provider's answer, or null if there is none. */
      readonly description: Sealed | null
      readonly status: OpenStatus
      /**
       * All attempts to send the task. The events of the call contain the same attempts. They are
       * omitted if a callback recorded the acceptance.
       */
      readonly attempts?: readonly Attempt[]
    }
>

/**
 * The task was sent, but the answer was lost, so that the provider may have accepted the task. The
 * event contains the channel, the key and all attempts.
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
 * The status of the task changed, but the task has not ended. The event contains the new status. It
 * also contains the start time if the task has started.
 */
export type TaskStatusChanged = Fact<
  'TaskStatusChanged',
  TaskFacts & {
    readonly status: OpenStatus
    /** The time at which the task was first seen in progress, in unix milliseconds, or null. */
    readonly startedAt: number | null
  }
>

/**
 * The task succeeded. The same append settles the call of the task. The event contains the start
 * and finish times, the image's URL, the prompt in English, and further results.
 */
export type TaskSucceeded = Fact<
  'TaskSucceeded',
  TaskFacts & {
    readonly channelId: number
    readonly startedAt: number | null
    readonly finishedAt: number
    /** The URL of the image of a drawing. It is null for a music task. */
    readonly imageUrl: Sealed | null
    readonly promptEn: Sealed | null
    /**
     * The result as JSON: the `buttons` and `properties` of a drawing, or the `data` of a music
     * task.
     */
    readonly result: Sealed | null
  }
>

/**
 * The cause of a failure.
 * `failed`: the provider reported the failure.
 * `refused`: no provider accepted the task.
 * `unreachable`: no provider answered.
 * `lost`: the state of the task is unknown.
 * `timeout`: the task took more than an hour.
 */
export type FailureCause = 'failed' | 'refused' | 'unreachable' | 'lost' | 'timeout'

/**
 * The task ended without a result. The same append releases the call of the task. The event
 * contains the finish time and the cause.
 */
export type TaskFailed = Fact<
  'TaskFailed',
  TaskFacts & {
    /** The channel of the task. null means that no provider accepted it. */
    readonly channelId: number | null
    /**
     * The code with which the provider refused the task, such as 3, 23 or 24. It is null for other
     * failures.
     */
    readonly code: number | null
    readonly cause: FailureCause
    /** The provider's text about the failure, or null if there is none. */
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
