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
 * A task was submitted, and nothing has been sent yet. The same append admits the call with the
 * same id in the account, so that the hold is durable. The event contains the action, the prompt,
 * the submit time (`submittedAt`), the model, the group and the hold. No event contains the
 * progress, which is in `infra/progress`.
 */
export type TaskSubmitted = Fact<
  'TaskSubmitted',
  TaskFacts & {
    readonly tokenId: number
    /** The platform of the task: `midjourney` or `suno`. */
    readonly platform: string
    /** The action as on the wire: `IMAGINE`, `UPSCALE`, `MUSIC`… */
    readonly action: string
    /** The model name that is priced: `mj_imagine`, `swap_face`, `suno_music`… */
    readonly model: string
    readonly group: string
    readonly hold: WireQuota
    /** The prompt as the caller sent it. null means that the action has no prompt. */
    readonly prompt: Sealed | null
    /**
     * The caller's label for the task, which is returned in answers about the task; omitted if
     * there is none.
     */
    readonly state?: Sealed
    /** The id of the earlier task that this task continues, or null. */
    readonly origin: string | null
    /** Set if the provider was given a callback address. */
    readonly isNotified: boolean
    /** The time of the submission in unix milliseconds. */
    readonly submittedAt: number
  }
>

/**
 * A provider accepted the task. The event contains the channel and its cost ratio, the provider's
 * id of the task, the answer's code and the description.
 */
export type TaskAccepted = Fact<
  'TaskAccepted',
  Pick<ProviderCost, 'costRatio'> &
    TaskFacts & {
      readonly channelId: number
      /** The reference of the channel's key that was used. Later queries use the same key. */
      readonly keyRef: string
      readonly upstreamId: string
      /** The code of the provider's answer: 1 submitted, 21 already exists, 22 queued. */
      readonly code: number
      /** The provider's description, or null if it sent none. */
      readonly description: Sealed | null
      readonly status: OpenStatus
      /**
       * All attempts to send the task, which the events of the call contain as well. They are
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
 * The status changed to another status that is not final. The event contains the status, and the
 * start time if the task has started.
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
    /** The result as JSON: `buttons` and `properties` of a drawing, `data` of a music task. */
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
    /** The code of the provider's refusal, such as 3, 23 or 24; null for other failures. */
    readonly code: number | null
    readonly cause: FailureCause
    /** The reason in the provider's words; null if the provider gave none. */
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
