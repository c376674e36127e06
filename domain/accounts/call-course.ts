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
  /** The first members that the provider's model or format can't express, or only in part. */
  readonly losses?: readonly string[]
}
