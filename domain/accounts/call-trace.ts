import type { WireQuota } from '../shared/quota.ts'

/**
 * One attempt to send the call to a channel. `status` is the provider's HTTP status, or null if the
 * provider did not respond.
 */
export type Attempt = {
  readonly channelId: number
  readonly status: number | null
  /** The gateway's error code (`timeout`, `connect`, `status`, `cut`…), or null for a success. */
  readonly error: string | null
  readonly latencyMs: number
  /** The provider rejected the operator's key or account. This error can disable the channel. */
  readonly isAccounts?: true
  /** What the attempt shows about the provider. Events of earlier versions do not have it. */
  readonly evidence?: ProviderEvidence
}

/** A number of bytes and their SHA-256 in hexadecimal digits. */
export type Digest = { readonly bytes: number; readonly sha256: string }

/**
 * What is known about the provider's part in an attempt, so that a call can be matched with the
 * provider's records. Members that are unknown are omitted.
 */
export type ProviderEvidence = {
  /** The time at which the request was sent, in unix milliseconds. */
  readonly sentAt: number
  /**
   * The keyed hash of the host of the channel's address, in 16 hexadecimal digits. Receipts show
   * events to customers, who must not learn the address. Omitted if the host follows from the key.
   */
  readonly hostHash?: string
  /** The part of the request's body that was sent. */
  readonly sent?: Digest
  /** The file with the requests of a batch, if it was sent before the batch was submitted. */
  readonly file?: Digest
  /** The part of the answer's body that was received. */
  readonly received?: Digest
  /** The provider's id of the request, from the headers of its answer. */
  readonly requestId?: string
  /** The model as the answer names it. */
  readonly model?: string
  /** The model of a task or a line of a batch as sent, if it is not the caller's name for it. */
  readonly sentModel?: string
  /** Members of the answer that identify it or the provider's system, such as `id`. */
  readonly fingerprint?: Readonly<Record<string, string>>
  /** The usage as the provider reported it, as JSON text of at most 2 048 characters. */
  readonly usage?: string
}

export type CallTimings = {
  /** The time at which the request arrived, in unix milliseconds. */
  readonly startedAt: number
  /**
   * The time in milliseconds from the arrival of the request until the first byte was sent to the
   * caller. It is null if no byte was sent.
   */
  readonly firstByteMs: number | null
  readonly durationMs: number
}

export type CallEnd = 'done' | 'client-gone' | 'upstream-error' | 'timeout' | 'incomplete'

/**
 * The wire format of the caller, followed by the provider's format if the call was converted. It is
 * omitted for calls of OpenAI's chat format that were not converted.
 */
export type CallFormats = readonly string[]

/** How a call's request was changed for the provider. An empty list is omitted. */
export type RequestChanges = {
  readonly formats?: CallFormats
  /** The first members of the request that were not sent, because the channel forbids them. */
  readonly dropped?: readonly string[]
  /**
   * The losses of the conversion: the first members of the request that the provider's model or
   * format can't express, or can express only in part.
   */
  readonly losses?: readonly string[]
}

/** A call whose charge was corrected. A later correction of the call starts from `corrected`. */
export type CorrectedCall = {
  readonly call: string
  readonly tokenId: number
  /** The charge before the correction. */
  readonly charge: WireQuota
  readonly corrected: WireQuota
  /** The part of a higher charge that the account could not pay. `corrected` is without it. */
  readonly unpaid?: WireQuota
} & Partial<PlaceOfCorrectedCall>

/**
 * The attributes by which the sums of usage count a corrected call. Events of earlier versions
 * lack them, because the sums did not contain corrections yet.
 */
export type PlaceOfCorrectedCall = {
  /** The channel of the call. Null if the call names no channel. */
  readonly channelId: number | null
  readonly group: string
  /** True if the cost at the provider is known. */
  readonly isCosted: boolean
}
