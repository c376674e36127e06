import type {
  CanonicalMessage,
  CanonicalRequest,
  ContentPart,
} from '../canonical/canonical-request.ts'

/**
 * The paths of messages and parts in the caller's request. They can't be derived from the canonical
 * request, because reading a request may join or move its messages.
 */
const CALLER_PATHS = new WeakMap<CanonicalMessage | ContentPart, string>()

/**
 * Stores the path of a message or a part in the caller's request, and returns the message or the
 * part. A path that is already stored is kept, because readers store the most exact path first.
 */
export function withCallerPath<T extends CanonicalMessage | ContentPart>(
  value: T,
  path: string,
): T {
  if (!CALLER_PATHS.has(value)) CALLER_PATHS.set(value, path)
  return value
}

/**
 * Returns the path of a message or a part in the caller's request. Returns undefined if the path is
 * unknown.
 */
export const callerPathOf = (value: CanonicalMessage | ContentPart): string | undefined =>
  CALLER_PATHS.get(value)

/** Stores for `copy` the path of `original` in the caller's request. */
export function withPathOf<Value extends CanonicalMessage | ContentPart>(
  original: Value,
  copy: Value,
): Value {
  const path = callerPathOf(original)
  return path === undefined ? copy : withCallerPath(copy, path)
}

const PATH = /^(?:system\[(\d+)\]|messages\[(\d+)\](?:\.parts\[(\d+)\](?:\.parts\[(\d+)\])?)?)/

/**
 * Finds the message or part at the beginning of a canonical path. For example,
 * `messages[2].parts[0].cache` begins with the part `messages[2].parts[0]`. Returns the canonical
 * path of this message or part (`object`) and its path in the caller's request (`callerPath`).
 * Returns null if `path` does not begin with a message or a part, or if the path in the caller's
 * request is unknown.
 */
export function findCallerPath(
  path: string,
  request: Pick<CanonicalRequest, 'system' | 'messages'>,
): { readonly object: string; readonly callerPath: string } | null {
  const [object = '', ...indexes] = PATH.exec(path) ?? []
  const value = object === '' ? undefined : valueAt(indexes, request)
  const callerPath = value && callerPathOf(value)
  return callerPath === undefined ? null : { object, callerPath }
}

function valueAt(
  [instruction, at, outer, inner]: readonly (string | undefined)[],
  { system, messages }: Pick<CanonicalRequest, 'system' | 'messages'>,
): CanonicalMessage | ContentPart | undefined {
  if (instruction !== undefined) return system[Number(instruction)]
  const message = messages[Number(at)]
  if (outer === undefined) return message
  const part = message?.parts[Number(outer)]
  if (inner === undefined) return part
  return part?.kind === 'tool-result' ? part.parts[Number(inner)] : undefined
}
