import type { WireFormat } from '../dialects/wire-format.ts'
import type { SplitRules } from './split-json-array.ts'

/** The provider's description of a batch. */
export type BatchDescription = {
  readonly isEnded: boolean
  readonly upstreamId: string
  /** The path of the results that are billed; null if the batch has no results. */
  readonly results: string | null
  /** The files of the batch at the provider. Only OpenAI's batches have files. */
  readonly files?: BatchFiles
  /** The members of the description that callers receive. All other members are omitted. */
  readonly object: Readonly<Record<string, unknown>>
}

export type BatchFiles = {
  readonly input: string | null
  readonly output: string | null
  readonly error: string | null
}

/** Why a batch ended although its provider did not say so. */
export type BatchFailure = {
  readonly code: string
  readonly message: string
  /** The time of the end in unix milliseconds. */
  readonly at: number
  readonly lines: number
  readonly billedLines: number
}

/** The result of one line. */
export type LineResult = {
  readonly customId: string
  /** Null if the line failed and costs nothing. */
  readonly answer: Readonly<Record<string, unknown>> | null
  /**
   * The provider's id of the line's request, unparsed. Omitted if the API's results have no such
   * id.
   */
  readonly requestId?: unknown
}

/** How batches are submitted to a provider and looked up there. */
export type BatchProtocol = {
  /** The path of batches below a channel's address. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Reads the provider's description of a batch. Returns null if the description is malformed. */
  readonly readDescription: (
    body: Buffer,
    confidential: readonly string[],
  ) => BatchDescription | null
  /**
   * Set for an API whose descriptions contain the results. Such a description may be too long for
   * memory, so it is split while it arrives.
   */
  readonly splits?: {
    readonly rules: SplitRules
    /**
     * Reads a description from which the results were removed. `hasResults` is true if it had
     * results.
     */
    readonly readDescription: (
      rest: Buffer,
      hasResults: boolean,
      confidential: readonly string[],
    ) => BatchDescription | null
  }
  /** Returns the members of a description that tell callers why a batch ended without results. */
  readonly describeFailure: (failure: BatchFailure) => Readonly<Record<string, unknown>>
  /** Reads a line of the results. Returns null if the line is malformed. */
  readonly readResult: (line: string, index: number) => LineResult | null
  /**
   * Returns the format of a line's request and answer. `name` is the member `format` of
   * `LineFacts`.
   */
  readonly formatOf: (name: string | undefined) => WireFormat
}

/** Matches the ids of batches and files that providers give. */
export const PROVIDER_ID = /^[\w-]{1,200}$/

export function objectIn(text: string): Record<string, unknown> | null {
  try {
    return recordOf(JSON.parse(text))
  } catch {
    return null
  }
}

export const recordOf = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null
