import type { AnswerDecoder } from '../providers/provider-access-and-decoder-types.ts'
import type { ProviderHeaders } from './read-retry-delay-and-request-id.ts'

/** How one attempt reads the provider's answer, and whom it informs. */
export type AttemptOptions = {
  /**
   * The maximum time, in milliseconds, from the start of the attempt (for a streamed upload, from
   * its last chunk) until the answer begins.
   */
  readonly answerStartMs?: number
  /** Called with the headers of the provider's response. */
  readonly onHeaders?: (headers: ProviderHeaders) => void
  /** Decodes the provider's answers. Null if they need no decoding. */
  readonly decoder?: AnswerDecoder | null
  /**
   * Rewrites a complete answer to the wire format, if the provider's answers have another format.
   */
  readonly adaptAnswer?: ((body: Buffer, created: number) => Buffer) | undefined
  /**
   * Called if the caller's connection has accepted nothing for too long. By default, the attempt is
   * aborted.
   */
  readonly onWriteStall?: (() => void) | undefined
  /** Called with an exception of the code that reads the answer. The attempt then ends. */
  readonly onException?: (error: unknown) => void
}
