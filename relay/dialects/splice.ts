/** Bytes `start` to `end` become `text`; with `start` = `end` it is inserted. */
export type Edit = { readonly start: number; readonly end: number; readonly text: string }

/** Everything but the edits stays the very bytes that came. Edits must not overlap. */
export function splice(bytes: Buffer, edits: readonly Edit[]): Buffer {
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
