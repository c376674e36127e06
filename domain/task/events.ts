import type { Attempt } from '../account/events.ts'
import type { ProviderCost } from '../pricing/price.ts'
import type { Fact, Sealed } from '../shared/event.ts'
import type { WireQuota } from '../shared/quota.ts'

/** One stream per task; `task` is the id of the call that pays for it, a UUID v7. */
export const taskStream = (task: string): string => `task-${task}`

export const TASK_KINDS = ['drawing', 'music'] as const
export type TaskKind = (typeof TASK_KINDS)[number]

/** A status that a task can still leave, as on the wire. `UNKNOWN`: its provider can't tell. */
export type OpenStatus = 'NOT_START' | 'SUBMITTED' | 'QUEUED' | 'MODAL' | 'IN_PROGRESS' | 'UNKNOWN'

export type TaskStatus = OpenStatus | 'SUCCESS' | 'FAILURE'

export type TaskFacts = {
  readonly task: string
  readonly userId: number
  readonly kind: TaskKind
}

/**
 * Its hold is durable and nothing was sent yet: the same append admits the call of the same id in
 * the account. In here: action, prompt, submit time (`submittedAt`), model, group, hold. Progress
 * is in no event at all (`infra/progress`).
 */
export type TaskSubmitted = Fact<
  'TaskSubmitted',
  TaskFacts & {
    readonly tokenId: number
    /** `midjourney` or `suno`. */
    readonly platform: string
    /** As on the wire: `IMAGINE`, `UPSCALE`, `MUSIC`… */
    readonly action: string
    /** What is priced: `mj_imagine`, `swap_face`, `suno_music`… */
    readonly model: string
    readonly group: string
    readonly hold: WireQuota
    /** What was asked for, in the caller's words; null where the action has none. */
    readonly prompt: Sealed | null
    /** The caller's own mark of it, told whenever it is asked for; left out where there is none. */
    readonly state?: Sealed
    /** The task that this one continues. */
    readonly origin: string | null
    /** Whether its provider was told where to call back. */
    readonly isNotified: boolean
    /** Unix milliseconds. */
    readonly submittedAt: number
  }
>

/**
 * A provider took it. In here: channel and what that charges for it, the provider's id of it, code
 * and description.
 */
export type TaskAccepted = Fact<
  'TaskAccepted',
  Pick<ProviderCost, 'costRatio'> &
    TaskFacts & {
      readonly channelId: number
      /** Which of the channel's keys: later questions go by the same. */
      readonly keyRef: string
      readonly upstreamId: string
      /** As on the wire: 1 submitted, 21 exists already, 22 queued. */
      readonly code: number
      /** The provider's words to it. */
      readonly description: Sealed | null
      readonly status: OpenStatus
      /** Every try there was, for the books of its call; left out by a call back. */
      readonly attempts?: readonly Attempt[]
    }
>

/** Sent, and its answer is lost: that provider may have it. In here: channel, key, every try. */
export type TaskUnconfirmed = Fact<
  'TaskUnconfirmed',
  Pick<ProviderCost, 'costRatio'> &
    TaskFacts & {
      readonly channelId: number
      readonly keyRef: string
      readonly attempts: readonly Attempt[]
    }
>

/** Its status moved on, and is not its last. In here: status, start time once it has begun. */
export type TaskStatusChanged = Fact<
  'TaskStatusChanged',
  TaskFacts & {
    readonly status: OpenStatus
    /** Unix milliseconds; when it was first seen under way. */
    readonly startedAt: number | null
  }
>

/**
 * Ended well: the same append settles its call. In here: start and finish time, image url, the
 * prompt in English, and what else came of it.
 */
export type TaskSucceeded = Fact<
  'TaskSucceeded',
  TaskFacts & {
    readonly channelId: number
    readonly startedAt: number | null
    readonly finishedAt: number
    /** Drawings. */
    readonly imageUrl: Sealed | null
    readonly promptEn: Sealed | null
    /** JSON text: a drawing's `buttons` and `properties`, the `data` of a music task. */
    readonly result: Sealed | null
  }
>

/**
 * Why it failed: its provider said so (`failed`), no provider took it (`refused`, or
 * `unreachable` without an answer), nobody knows what became of it (`lost`), it took over an hour.
 */
export type FailureCause = 'failed' | 'refused' | 'unreachable' | 'lost' | 'timeout'

/** Ended without a result: the same append releases its call. In here: finish time and reason. */
export type TaskFailed = Fact<
  'TaskFailed',
  TaskFacts & {
    /** null: no provider had it. */
    readonly channelId: number | null
    /** The provider's code where it refused: 3, 23, 24…; null otherwise. */
    readonly code: number | null
    readonly cause: FailureCause
    /** The provider's words; null where it had none: then the cause is all there is. */
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
