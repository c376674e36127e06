import type { Attempt } from '../accounts/events.ts'
import type { ProviderCost } from '../pricing/price-snapshot.ts'
import type { Fact, Sealed } from '../shared/event.ts'
import type { WireQuota } from '../shared/quota.ts'

/**
 * The properties of the video that a task makes. If the request omits a property, the vendor's
 * default applies. The hold covers this video, and the settlement never charges for more than this
 * video.
 */
export type VideoMedia = {
  /** The length of the video in seconds. */
  readonly seconds: number
  /**
   * The resolution, such as `720p`. Null if the vendor has only one resolution, or if the vendor's
   * price does not depend on the resolution.
   */
  readonly resolution: string | null
  /** The size as requested, such as `1280x720`, or null. */
  readonly size: string | null
  /** Other options that may change the price, such as `pro` and `audio`. */
  readonly options: readonly string[]
  /**
   * The maximum number of tokens that the vendor bills for the video. Omitted if the vendor does
   * not bill tokens.
   */
  readonly tokensMax?: number
}

/**
 * Returns the name of a task's event stream. `task` is the id of the call that pays for the task, a
 * UUID v7.
 */
export const taskStream = (task: string): string => `task-${task}`

export const TASK_KINDS = ['drawing', 'music', 'video'] as const
export type TaskKind = (typeof TASK_KINDS)[number]

/**
 * The statuses of a task that has not ended. `UNKNOWN` means that the provider does not know the
 * task.
 */
export type OpenStatus = 'NOT_START' | 'SUBMITTED' | 'QUEUED' | 'MODAL' | 'IN_PROGRESS' | 'UNKNOWN'

export type TaskStatus = OpenStatus | 'SUCCESS' | 'FAILURE'

export type TaskFacts = {
  readonly task: string
  readonly userId: number
  readonly kind: TaskKind
}

/**
 * A user submitted a task that has not been sent to the provider yet. The same append admits the
 * call with the same id, so that the quota is held before the task is sent. The progress of a task
 * is stored in `infra/task-progress`, not in events.
 */
export type TaskSubmitted = Fact<
  'TaskSubmitted',
  TaskFacts & {
    readonly tokenId: number
    /** The platform of the task: `midjourney`, `suno`, or a vendor of videos such as `kling`. */
    readonly platform: string
    /** The action of the task as in the API: `IMAGINE`, `UPSCALE`, `MUSIC`… */
    readonly action: string
    /** The model name that determines the price: `mj_imagine`, `swap_face`, `suno_music`… */
    readonly model: string
    readonly group: string
    readonly hold: WireQuota
    /** The prompt as the caller sent it, or null. */
    readonly prompt: Sealed | null
    /** The caller's label for the task. Responses about the task repeat this label. */
    readonly state?: Sealed
    /** The id of the earlier task that this task continues, or null. */
    readonly origin: string | null
    readonly isNotified: boolean
    /** The requested video. Omitted for a drawing or music task. */
    readonly media?: VideoMedia
    /** The time at which the task was submitted, in Unix milliseconds. */
    readonly submittedAt: number
  }
>

/**
 * The task is about to be sent to this channel with this key. The event is recorded before the task
 * is sent, so that the channel and the key are not removed in the meantime. If the provider refuses
 * the task, the task may be routed to another channel.
 */
export type TaskRouted = Fact<
  'TaskRouted',
  TaskFacts & { readonly channelId: number; readonly keyRef: string }
>

/** A provider accepted the task. `code` and `description` are from the provider's answer. */
export type TaskAccepted = Fact<
  'TaskAccepted',
  Pick<ProviderCost, 'costRatio'> &
    TaskFacts & {
      readonly channelId: number
      /** The reference of the channel's key. Later queries about the task use the same key. */
      readonly keyRef: string
      readonly upstreamId: string
      /**
       * The provider's code: 1 for a submitted task, 21 for a task that already exists, 22 for a
       * queued task.
       */
      readonly code: number
      readonly description: Sealed | null
      readonly status: OpenStatus
      /**
       * The attempts to send the task. The call's events contain the same attempts. Omitted if the
       * provider's callback recorded the acceptance.
       */
      readonly attempts?: readonly Attempt[]
    }
>

/** The task was sent, but the answer was lost. The provider may have accepted the task. */
export type TaskUnconfirmed = Fact<
  'TaskUnconfirmed',
  Pick<ProviderCost, 'costRatio'> &
    TaskFacts & {
      readonly channelId: number
      readonly keyRef: string
      readonly attempts: readonly Attempt[]
    }
>

export type TaskStatusChanged = Fact<
  'TaskStatusChanged',
  TaskFacts & {
    readonly status: OpenStatus
    /** The time at which the task was first seen in progress, in Unix milliseconds, or null. */
    readonly startedAt: number | null
  }
>

/** The task succeeded. The same append settles the call of the task. */
export type TaskSucceeded = Fact<
  'TaskSucceeded',
  TaskFacts & {
    readonly channelId: number
    readonly startedAt: number | null
    readonly finishedAt: number
    /** The URL of a drawing's image. It is null for a music task. */
    readonly imageUrl: Sealed | null
    readonly promptEn: Sealed | null
    /**
     * The `buttons` and `properties` of a drawing, the `data` of a music task, or the file of a
     * video, as JSON text.
     */
    readonly result: Sealed | null
  }
>

/**
 * `failed`: the provider reported a failure. `refused`: no provider accepted the task.
 * `unreachable`: no provider answered. `lost`: it is unknown whether a provider accepted the task.
 * `timeout`: more than an hour passed. `channel-deleted`: an admin deleted the channel, so nobody
 * can fetch the result.
 */
export type FailureCause =
  | 'failed'
  | 'refused'
  | 'unreachable'
  | 'lost'
  | 'timeout'
  | 'channel-deleted'

/** The task ended without a result. The same append releases the call of the task. */
export type TaskFailed = Fact<
  'TaskFailed',
  TaskFacts & {
    /** The channel to which the task was sent, or null if no channel is known. */
    readonly channelId: number | null
    /** The code with which the provider refused the task, such as 3, 23 or 24, or null. */
    readonly code: number | null
    readonly cause: FailureCause
    /** The provider's text, or null. */
    readonly failReason: Sealed | null
    readonly startedAt: number | null
    readonly finishedAt: number
  }
>

/** The caller deleted a video that has ended. Afterwards, the task can no longer be read. */
export type TaskDeleted = Fact<'TaskDeleted', TaskFacts & { readonly deletedAt: number }>

export type TaskEvent =
  | TaskSubmitted
  | TaskRouted
  | TaskAccepted
  | TaskUnconfirmed
  | TaskStatusChanged
  | TaskSucceeded
  | TaskFailed
  | TaskDeleted
