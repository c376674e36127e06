/**
 * Throws for a programming error. Errors that can occur in operation must be handled instead. Code
 * that runs for every call passes a function, so that the message is built only for an error.
 */
export function assert(condition: unknown, message: string | (() => string)): asserts condition {
  if (condition) return
  throw new Error(`assertion failed: ${typeof message === 'string' ? message : message()}`)
}
