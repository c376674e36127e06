/**
 * Throws if `condition` is false. Only a programming error may make the condition false. Errors
 * that can occur in operation must be handled instead. Pass a function if building the message is
 * expensive. Code that runs many times for every call checks the condition itself, and calls
 * `assert(false, …)` only for an error.
 */
export function assert(condition: unknown, message: string | (() => string)): asserts condition {
  if (condition) return
  throw new Error(`assertion failed: ${typeof message === 'string' ? message : message()}`)
}
