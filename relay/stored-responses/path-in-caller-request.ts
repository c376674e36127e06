import type { RelayError } from '../canonical/relay-error.ts'

const ITEM = /^input\[(\d+)\]/

/**
 * Converts a path in a request with `insertedItems` stored items to the path in the caller's
 * request. A path in an inserted item becomes `previous_response_id`, the member that refers to the
 * item.
 */
function pathInCallerRequest(path: string, insertedItems = 0): string {
  const index = insertedItems === 0 ? undefined : ITEM.exec(path)?.[1]
  if (index === undefined) return path
  const own = Number(index) - insertedItems
  return own < 0 ? 'previous_response_id' : path.replace(ITEM, `input[${own}]`)
}

/** Returns the error with its `param` converted to the path in the caller's request. */
export function errorInCallerRequest(error: RelayError, insertedItems = 0): RelayError {
  const { param } = error.params
  if (param === undefined || insertedItems === 0) return error
  return { ...error, params: { ...error.params, param: pathInCallerRequest(param, insertedItems) } }
}

/** Returns the paths of losses in the caller's request, each once. */
export const lossesInCallerRequest = (
  losses: readonly string[],
  insertedItems = 0,
): readonly string[] =>
  insertedItems === 0
    ? losses
    : [...new Set(losses.map((loss) => pathInCallerRequest(loss, insertedItems)))]
