/** Throws on a programmer's error. Operating errors are handled and never asserted. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}
