import { parsedObject } from '#relay/canonical/json-values.ts'
import type { ErrorFormat } from '../dialects/error-format.ts'
import type { WireFormat } from '../dialects/wire-format.ts'
import type { SplitRules } from './split-json-array.ts'

/** The provider's description of a batch, in a form that is independent of the provider's API. */
export type BatchDescription = {
  readonly isEnded: boolean
  readonly upstreamId: string
  /**
   * The provider's path from which the billed results are downloaded; null if the batch has no
   * results.
   */
  readonly results: string | null
  /** The provider's ids of the files of the batch. Only batches of OpenAI's API have files. */
  readonly files?: BatchFiles
  /**
   * The members of the description that the gateway stores. The description for callers is made
   * from them. Callers do not see `inputFile`, the provider's id of the file that the gateway
   * uploaded.
   */
  readonly object: Readonly<Record<string, unknown>>
}

export type BatchFiles = {
  readonly input: string | null
  readonly output: string | null
  readonly error: string | null
}

/**
 * Describes a batch that the gateway ended, because its results can't be fetched from the provider.
 */
export type BatchFailure = {
  readonly code: string
  readonly message: string
  /** The time at which the gateway ended the batch, in Unix milliseconds. */
  readonly at: number
  readonly lines: number
  readonly billedLines: number
}

/** The provider's result for one line of a batch. */
export type LineResult = {
  readonly customId: string
  /** The model's answer; null if the line failed, which costs nothing. */
  readonly answer: Readonly<Record<string, unknown>> | null
  /**
   * The id that the provider gave to the request of this line, unparsed. Omitted if the results of
   * the API have no such id.
   */
  readonly requestId?: unknown
}

/**
 * The line whose result is shown to a caller. An answer is shown only if it was billed, because a
 * provider may later deliver an answer that was missing or malformed when the batch was settled.
 * Such an answer was never charged.
 */
export type ShownLine = {
  /** The caller's name for the model. */
  readonly model: string
  readonly isBilled: boolean
  /** The stored name of the format of the line (`LineFacts.format`). */
  readonly format?: string | undefined
  readonly withheld?: WithheldError
}

/** The error that is shown in place of an answer that contains a screened word. */
export type WithheldError = ReturnType<ErrorFormat['errorBody']>

/**
 * Returns the line with this `custom_id`, or null if the batch has no such line or its result must
 * not be shown.
 */
export type FindShownLine = (customId: string) => ShownLine | null

/** Returns a function that finds the same lines, with this error in place of their answers. */
export const asWithheld =
  (lineOf: FindShownLine, withheld: WithheldError): FindShownLine =>
  (customId) => {
    const line = lineOf(customId)
    return line === null ? null : { ...line, withheld }
  }

/** Returns a function that finds the same lines, but none of them as billed. */
export const asUnbilled =
  (lineOf: FindShownLine): FindShownLine =>
  (customId) => {
    const line = lineOf(customId)
    return line === null ? null : { ...line, isBilled: false }
  }

/**
 * Defines how batches are submitted to a provider's API and how the API's descriptions and results
 * are read.
 */
export type BatchProtocol = {
  /** The path of the batch API, relative to a channel's base address. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The suffix that turns the path of a batch into the path that cancels the batch. */
  readonly cancelAction: '/cancel' | ':cancel'
  /** Reads the provider's description of a batch. Returns null if the description is malformed. */
  readonly readDescription: (
    body: Buffer,
    confidential: readonly string[],
  ) => BatchDescription | null
  /**
   * Reads the provider's id of a batch from a description, even if the rest of the description is
   * malformed. Returns null if there is no valid id.
   */
  readonly readId: (body: Buffer) => string | null
  /**
   * Set for an API whose descriptions of batches contain the results. Such a description may be too
   * long for memory, so the results are separated from the rest of the description while it
   * arrives.
   */
  readonly splits?: {
    readonly rules: SplitRules
    /**
     * Reads a description after the results were removed from it. `hasResults` is true if the
     * description had results. Returns null if the description is malformed.
     */
    readonly readDescription: (
      rest: Buffer,
      hasResults: boolean,
      confidential: readonly string[],
    ) => BatchDescription | null
  }
  /**
   * Returns the members that are added to the description of a batch to tell its caller why the
   * batch ended without results.
   */
  readonly describeFailure: (failure: BatchFailure) => Readonly<Record<string, unknown>>
  /** The path of the model's answer in a result, such as `response/body`. */
  readonly answerPath: string
  /**
   * Reads one result. `index` is its position among all results of the batch. Returns null if the
   * result is malformed.
   */
  readonly readResult: (line: string, index: number) => LineResult | null
  /**
   * Returns the wire format of a line's request and answer. `name` is the stored name of the format
   * (`LineFacts.format`).
   */
  readonly formatOf: (name: string | undefined) => WireFormat
}

/**
 * Returns the provider's path of a batch, or the path of an action on it. `action` is what follows
 * the id, such as `/cancel`.
 */
export const pathOfBatch = (
  { path }: Pick<BatchProtocol, 'path'>,
  upstreamId: string,
  action = '',
): string => `${path}/${encodeURIComponent(upstreamId)}${action}`

/** Matches the ids that providers give to batches and files. */
export const PROVIDER_ID = /^[\w-]{1,200}$/

/** Returns the member `id` of a JSON object if it is a valid id, or null. */
export function idIn(body: Buffer): string | null {
  const id = parsedObject(body)?.id
  return typeof id === 'string' && PROVIDER_ID.test(id) ? id : null
}
