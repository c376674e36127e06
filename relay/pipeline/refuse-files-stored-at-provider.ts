import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ChatRequest, FileReference } from '../dialects/wire-format.ts'
import type { Caller } from './authenticate.ts'

/**
 * Reports whether a caller may use a file that is stored at the provider. The answer is always no.
 * All callers share the site's account at the provider, so a file id may belong to another caller.
 * The only files that callers can upload contain the requests of batches, and models do not read
 * these files.
 */
const mayUseFile = (_caller: Caller, _file: FileReference): boolean => false

/**
 * Looks in a request for files that the caller may not use. Returns the error for the first of
 * them, or null if there is none.
 */
export function providerFileError(
  caller: Caller,
  { fileReferences }: ChatRequest,
): RelayError | null {
  const file = fileReferences?.find((one) => !mayUseFile(caller, one))
  return file === undefined ? null : relayError('parameter_not_supported', { param: file.param })
}
