/** Throws for a programming error. Errors that can occur in operation must be handled instead. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}
