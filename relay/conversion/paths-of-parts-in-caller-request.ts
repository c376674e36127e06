import type { CanonicalMessage, CanonicalRequest, ContentPart } from './canonical-request.ts'

/**
 * The paths of messages and parts in the caller's request. They are stored separately from the
 * canonical request. Readers join and move messages, so an index in the canonical request is not
 * the caller's index.
 */
const PLACES = new WeakMap<CanonicalMessage | ContentPart, string>()

/** Stores the path of a message or a part, unless a more exact path is already stored. */
export function withPlace<T extends CanonicalMessage | ContentPart>(value: T, path: string): T {
  if (!PLACES.has(value)) PLACES.set(value, path)
  return value
}

/** Returns where the caller has a message or a part, if that is known. */
export const placeOf = (value: CanonicalMessage | ContentPart): string | undefined =>
  PLACES.get(value)

const PATH = /^(?:system\[(\d+)\]|messages\[(\d+)\](?:\.parts\[(\d+)\](?:\.parts\[(\d+)\])?)?)/

/**
 * Finds the message or the part that a canonical path begins with, such as
 * `messages[2].parts[0].cache`. Returns its canonical path (`object`) and its place in the caller's
 * request. Null if the path begins with none, or the place is not known.
 */
export function callersPlace(
  path: string,
  request: Pick<CanonicalRequest, 'system' | 'messages'>,
): { readonly object: string; readonly place: string } | null {
  const [object = '', ...indexes] = PATH.exec(path) ?? []
  const value = object === '' ? undefined : valueAt(indexes, request)
  const place = value && placeOf(value)
  return place === undefined ? null : { object, place }
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
