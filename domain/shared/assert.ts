/**
 * Throws if the condition is false, which means a programming error. Operating errors must be
 * handled and not asserted.
 */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}
