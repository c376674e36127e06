/**
 * An edit that replaces the bytes from `start` to `end` by `text`. If both offsets are equal, the
 * edit inserts the text.
 */
export type ByteEdit = { readonly start: number; readonly end: number; readonly text: string }

/** Returns the bytes with all edits applied. The edits must not overlap. */
export function applyEdits(bytes: Buffer, edits: readonly ByteEdit[]): Buffer {
  if (edits.length === 0) return bytes
  const parts: Buffer[] = []
  let at = 0
  for (const edit of edits.toSorted((one, other) => one.start - other.start)) {
    parts.push(bytes.subarray(at, edit.start), Buffer.from(edit.text))
    at = edit.end
  }
  parts.push(bytes.subarray(at))
  return Buffer.concat(parts)
}
