import type { RelayError } from '#relay/canonical/relay-error.ts'
import type { Language } from '#relay/canonical/relay-error-catalogue.ts'

/** The properties of a call that decide how a provider's error is shown to the caller. */
export type ProviderErrorOptions = {
  /** True if the caller must not see the provider's texts. */
  readonly isHidden: boolean
  /** The confidential texts that are removed from the error. */
  readonly confidential: readonly string[]
  /**
   * True if the provider's errors have the caller's format. Such an error keeps the provider's
   * wording, unless `isHidden` is true.
   */
  readonly isOwnFormat?: boolean
  /** True if the provider sent no error status, and the gateway chose the status of the error. */
  readonly hasGatewayStatus?: boolean
}

/** Describes how errors are written in a format. */
export type ErrorFormat = {
  /**
   * Renders an error of the gateway in the caller's language, with its HTTP status. `call` is the
   * id of the call.
   */
  readonly errorBody: (
    error: RelayError,
    language: Language,
    call: string,
  ) => { readonly status: number; readonly body: object }
  /** Renders a provider's error for the caller. */
  readonly providerErrorBody: (
    bytes: Buffer,
    status: number,
    options: ProviderErrorOptions,
    call: string,
  ) => object
  /** The HTTP status for an overloaded provider. The default is 503. */
  readonly overloadedStatus?: number
  /**
   * The name of an additional response header that contains the id of the call. Clients of the
   * format show the header's value.
   */
  readonly requestIdHeader?: string
  /**
   * Renders an error as the last event of a stream. `sent` describes the events that were sent
   * before the error. It is null or omitted if no events were sent or the format has no
   * `readBegun`.
   */
  readonly errorEvent: (body: object, sent?: SentEvents | null) => string
  /**
   * Reads, from the first events of a stream, the members that an error event must repeat. Returns
   * null if these events do not contain those members. Omitted if error events repeat nothing.
   */
  readonly readBegun?: (events: Buffer) => object | null
}

/**
 * The events that the caller has received. `begun` is the result of `readBegun` for the first
 * events, and `last` contains the bytes of the latest events.
 */
export type SentEvents = { readonly begun: object | null; last: Buffer }
