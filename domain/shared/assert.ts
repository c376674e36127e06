/**
 * Throws if the condition is false. A false condition means a programming error. Errors that can
 * occur in operation must be handled instead of asserted.
 */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}
