import { closeSync, openSync, readSync } from 'node:fs'
import { NOTE_LENGTH_MAX, notesIn } from './signed-checkpoint.ts'

const CHUNK_BYTES = 64 * 1024
const NEWLINE = 10

/**
 * Yields the signed notes in a file one after another. The file is never read as a whole, because
 * the site's own file gets a note for each checkpoint and grows without a limit.
 */
export function* readNotes(path: string): Generator<string> {
  const file = openSync(path, 'r')
  try {
    yield* notesIn(linesOf(file))
  } finally {
    closeSync(file)
  }
}

/**
 * Yields the lines of a file. A line longer than the longest valid note is cut, so that it does not
 * fill the memory and is still reported.
 */
function* linesOf(file: number): Generator<string> {
  const chunk = Buffer.alloc(CHUNK_BYTES)
  let parts: Buffer[] = []
  let length = 0
  const add = (bytes: Buffer): void => {
    if (length <= NOTE_LENGTH_MAX) parts.push(Buffer.from(bytes))
    length += bytes.length
  }
  const taken = (): string => {
    const line = Buffer.concat(parts).toString('utf8')
    parts = []
    length = 0
    return line
  }
  for (;;) {
    const bytes = chunk.subarray(0, readSync(file, chunk))
    if (bytes.length === 0) break
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      add(bytes.subarray(start, end))
      yield taken()
      start = end + 1
    }
    add(bytes.subarray(start))
  }
  if (length > 0) yield taken()
}
