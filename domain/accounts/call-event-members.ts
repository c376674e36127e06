import type { PriceSnapshot } from '../pricing/price-snapshot.ts'
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
  /**
   * Set if the provider rejected the operator's key or account. Such an error can disable the
   * channel.
   */
  readonly isAccounts?: true
  /**
   * Digests and ids of the request to the provider and of the response. Events of earlier versions
   * lack this member.
   */
  readonly evidence?: ProviderEvidence
}

/** A number of bytes and the SHA-256 of these bytes in hexadecimal digits. */
export type Digest = { readonly bytes: number; readonly sha256: string }

/**
 * Data about an attempt's request to the provider and about the response. With this data, the
 * attempt can be found in the provider's records. A member whose value is unknown is omitted.
 */
export type ProviderEvidence = {
  /** The time at which the request was sent, in Unix milliseconds. */
  readonly sentAt: number
  /**
   * The keyed hash of the host name in the channel's address, in 16 hexadecimal digits. The address
   * itself is not stored, because customers see this event in their receipts and must not learn the
   * address. Omitted if the channel's key determines the host.
   */
  readonly hostHash?: string
  /** The size and hash of the part of the request's body that was sent. */
  readonly sent?: Digest
  /**
   * The size and hash of the file with the requests of a batch, if the file was sent before the
   * batch was submitted.
   */
  readonly file?: Digest
  /** The size and hash of the part of the response's body that was received. */
  readonly received?: Digest
  /**
   * The id that the provider assigned to the request. The headers of the response contain this id.
   */
  readonly requestId?: string
  /** The model name in the response. */
  readonly model?: string
  /**
   * The model name that was sent for a task or a line of a batch. Omitted if this name equals the
   * caller's name for the model.
   */
  readonly sentModel?: string
  /** Members of the response that identify it or the provider's system, such as `id`. */
  readonly fingerprint?: Readonly<Record<string, string>>
  /** The usage as the provider reported it, as JSON text of at most 2 048 characters. */
  readonly usage?: string
}

export type CallTimings = {
  /** The time at which the request arrived, in Unix milliseconds. */
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
 * The wire formats of a call. The first is the format of the caller's request. If the call was
 * converted for the provider, the provider's format is the second. The list is omitted for
 * unconverted calls in OpenAI's chat format.
 */
export type CallFormats = readonly string[]

/** The changes that were made to a call's request for the provider. An empty list is omitted. */
export type RequestChanges = {
  readonly formats?: CallFormats
  /**
   * Members of the request that were not sent, because the channel forbids them. At most 20 members
   * are listed.
   */
  readonly dropped?: readonly string[]
  /**
   * The first losses of the conversion, at most 20. A loss is a member of the request that the
   * provider's model or format can express only in part or not at all. Content of the answer that
   * the caller's format can't express is also a loss, such as `answer (citations)`.
   */
  readonly losses?: readonly string[]
}

/** The request to the provider, as far as the progress and the end of a call record it. */
export type SentRequest = RequestChanges & {
  /**
   * The number by which a price per call is multiplied. It is the `n` of the request to the
   * provider, which an override of the channel can change, but at most the number that the hold
   * covers. Omitted if it is the number of the admission.
   */
  readonly calls?: number
}

/**
 * The model and the group with which a call is served, and their price. The model and the group
 * differ from those of the call's admission in two cases. Either a fallback model serves the call,
 * or the call was requested with the group `auto` and one of the groups in `auto` serves it.
 */
export type Served = {
  readonly model: string
  readonly group: string
  readonly price: PriceSnapshot
}

/** A call whose charge was corrected. A later correction of the call starts from `corrected`. */
export type CorrectedCall = {
  readonly call: string
  readonly tokenId: number
  /** The charge before the correction. */
  readonly charge: WireQuota
  readonly corrected: WireQuota
  /**
   * The part of a higher charge that the account could not pay. `corrected` does not include it.
   */
  readonly unpaid?: WireQuota
} & Partial<CorrectedCallAttributes>

/**
 * The attributes of a corrected call by which the usage statistics are grouped. Events of earlier
 * versions lack these attributes, because the statistics did not include corrections at that time.
 */
export type CorrectedCallAttributes = {
  /**
   * The channel that served the call. Null if the call was interrupted before a channel was
   * recorded.
   */
  readonly channelId: number | null
  readonly group: string
  /** True if the provider's charge for the call is known. */
  readonly isCosted: boolean
}
