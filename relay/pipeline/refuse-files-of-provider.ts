import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ChatRequest, FileReference } from '../dialects/wire-format.ts'
import type { Caller } from './authenticate.ts'

/**
 * Reports whether a caller may use a file that the provider stores. All customers of the site share
 * its account at the provider, so an id may be that of a file of somebody else. The files that
 * callers upload to the gateway are batches of requests, which no model reads, so no call may name
 * a file.
 */
const mayUseFile = (_caller: Caller, _file: FileReference): boolean => false

/** Returns the error for the first file of a request that the caller may not use, or null. */
export function errorInFiles(caller: Caller, { fileReferences }: ChatRequest): RelayError | null {
  const file = fileReferences?.find((one) => !mayUseFile(caller, one))
  return file === undefined ? null : relayError('parameter_not_supported', { param: file.param })
}
