import type { Attempt, ProviderEvidence, RequestChanges } from '../accounts/events.ts'
import type { PriceSnapshot, ProviderCost } from '../pricing/price-snapshot.ts'
import type { Usage } from '../pricing/usage.ts'
import type { Fact } from '../shared/event.ts'
import type { WireQuota } from '../shared/quota.ts'

/**
 * Returns the name of a batch's event stream. `batch` is the id of the first call that pays for the
 * batch, a UUID v7.
 */
export const batchStream = (batch: string): string => `batch-${batch}`

/** The API in which a batch was submitted. */
export type BatchApi = 'anthropic' | 'openai' | 'gemini'

type BatchFacts = { readonly batch: string; readonly userId: number }

/** The lines of a batch with the same model and price. One call of the account pays for them. */
export type BatchPart = {
  readonly call: string
  readonly model: string
  readonly price: PriceSnapshot
  readonly lines: number
  /** The sum of the worst-case costs of the lines. */
  readonly hold: WireQuota
}

/**
 * A user submitted a batch that has not been sent to the provider yet. The same append admits one
 * call for each part of the batch, so that the quota is held before the batch is sent.
 */
export type BatchSubmitted = Fact<
  'BatchSubmitted',
  BatchFacts & {
    readonly tokenId: number
    readonly group: string
    readonly api: BatchApi
    /**
     * The channel to which the batch is sent first (see `BatchRouted`). Events of earlier versions
     * lack this member.
     */
    readonly channelId?: number
    readonly lines: number
    readonly parts: readonly BatchPart[]
    /** The time at which the batch was submitted, in Unix milliseconds. */
    readonly submittedAt: number
  }
>

/**
 * The previous channel did not accept the batch. The batch is sent to another channel, or to the
 * same channel with another key. The event is recorded before the batch is sent, so that the new
 * channel is not deleted in the meantime.
 */
export type BatchRouted = Fact<
  'BatchRouted',
  BatchFacts & {
    readonly channelId: number
    /**
     * The failed attempt at the previous channel. The final events of the batch's calls repeat this
     * attempt. Omitted if the previous channel took no submissions and the batch was not sent
     * there.
     */
    readonly attempt?: Attempt
  }
>

/**
 * A provider accepted the batch. Later requests about the batch use the same channel and key.
 * `dropped` and `losses` are those of all lines together. The final events of the batch's calls
 * repeat them.
 */
export type BatchAccepted = Fact<
  'BatchAccepted',
  Pick<ProviderCost, 'costRatio'> &
    Pick<RequestChanges, 'dropped' | 'losses'> &
    BatchFacts & {
      readonly channelId: number
      readonly keyRef: string
      readonly upstreamId: string
      /**
       * The attempt that submitted the batch to the provider. The final events of the batch's calls
       * repeat this attempt. Events of earlier versions lack this member.
       */
      readonly attempt?: Attempt
    }
>

/**
 * Digests and ids in the provider's result for a line. `received` is the size and hash of the line
 * as the provider sent it, without its line break.
 */
export type LineEvidence = Omit<ProviderEvidence, 'sentAt' | 'sent' | 'file'>

/**
 * A line with an answer. `line` and `part` are indexes within the batch. Counts of 0 are omitted
 * from `usage`.
 */
export type BilledLine = {
  readonly line: number
  readonly part: number
  readonly usage: Partial<Usage>
  /** The number of answers by which a price per call was multiplied. Omitted if it is 1. */
  readonly calls?: number
  readonly charge: WireQuota
  readonly cost?: WireQuota
  /** Absent in lines that an earlier release recorded. */
  readonly evidence?: LineEvidence
  /** True if the result names another model than the request to the provider. */
  readonly isOtherModel?: true
  /** True if the gateway counted the usage, because the provider reported no usable usage. */
  readonly isEstimated?: true
  /** The code of an anomaly in the provider's report of the usage, as in `CallSettled`. */
  readonly anomaly?: string
}

/** The usage and the charge of some lines. A line is billed by only one such event. */
export type BatchLinesBilled = Fact<
  'BatchLinesBilled',
  BatchFacts & { readonly lines: readonly BilledLine[] }
>

/**
 * `done`: the provider processed the batch. `refused`: no provider accepted it. `lost`: the
 * provider's state is unknown or the provider no longer has the batch. `channel-deleted`: an admin
 * deleted the channel, so nobody can fetch the results. `results-denied`: the provider refused the
 * results for days.
 */
export type BatchEndCause = 'done' | 'refused' | 'lost' | 'channel-deleted' | 'results-denied'

/** The batch ended. The same append settles or releases the calls of its parts. */
export type BatchEnded = Fact<
  'BatchEnded',
  BatchFacts & {
    readonly cause: BatchEndCause
    readonly billedLines: number
    /**
     * The number of results that could not be read and were therefore not billed. Omitted if it is
     * 0.
     */
    readonly unreadableLines?: number
    readonly endedAt: number
  }
>

export type BatchEvent =
  | BatchSubmitted
  | BatchRouted
  | BatchAccepted
  | BatchLinesBilled
  | BatchEnded
