import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import type { SpooledFile } from './spooled-file.ts'

/** The body of a request to a provider, as a stream that can be opened again for a retry. */
export type StreamedBody = {
  readonly contentType: string
  /** The length in bytes. */
  readonly length: number
  /**
   * Returns a new stream of the body. `onProgress` is called with each chunk that the connection
   * reads.
   */
  readonly open: (onProgress: (chunk: Buffer) => void) => Readable
}

type Piece = Buffer | SpooledFile
type Part = { readonly name: string; readonly value: string | SpooledFile }

/**
 * Builds the form that `document` describes. The document may have changed since the form arrived.
 * An object in the document is sent as a file only if its id is one of `files`, so that a document
 * can't name the files of other requests. Any other object is sent as JSON.
 */
export function providerForm(
  document: Buffer,
  files: ReadonlyMap<string, SpooledFile>,
): StreamedBody {
  const boundary = `tallygate-${randomBytes(16).toString('hex')}`
  const members = JSON.parse(document.toString('utf8')) as Readonly<Record<string, unknown>>
  const parts = Object.entries(members).flatMap(([name, value]) => partsOf(name, value, files))
  // Text fields are sent before files, because some servers read the fields as they arrive and need
  // them to process the files.
  const isText = ({ value }: Part) => typeof value === 'string'
  const ordered = [...parts.filter(isText), ...parts.filter((part) => !isText(part))]
  const pieces: Piece[] = ordered.flatMap(({ name, value }) => piecesOf(boundary, name, value))
  pieces.push(Buffer.from(`--${boundary}--\r\n`))
  const length = pieces.reduce((sum, piece) => sum + lengthOf(piece), 0)
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    length,
    open: (onProgress) => Readable.from(contentOf(pieces, onProgress), { objectMode: false }),
  }
}

const lengthOf = (piece: Piece): number => (Buffer.isBuffer(piece) ? piece.length : piece.bytes)

async function* contentOf(pieces: readonly Piece[], onProgress: (chunk: Buffer) => void) {
  for (const piece of pieces) {
    if (Buffer.isBuffer(piece)) {
      onProgress(piece)
      yield piece
      continue
    }
    for await (const chunk of piece.open()) {
      onProgress(chunk as Buffer)
      yield chunk as Buffer
    }
  }
}

/**
 * Returns the parts of the form for one member of the document. A list becomes one part for each
 * element.
 */
function partsOf(
  name: string,
  value: unknown,
  files: ReadonlyMap<string, SpooledFile>,
): readonly Part[] {
  if (value === null) return []
  if (Array.isArray(value)) {
    const listName = name.endsWith('[]') ? name : `${name}[]`
    return value.flatMap((element) => partsOf(listName, element, files))
  }
  if (typeof value !== 'object') return [{ name, value: `${value}` }]
  const id = (value as { readonly file?: unknown }).file
  const file = typeof id === 'string' ? files.get(id) : undefined
  return [{ name, value: file ?? JSON.stringify(value) }]
}

function piecesOf(boundary: string, name: string, value: string | SpooledFile): readonly Piece[] {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`
  if (typeof value === 'string') return [Buffer.from(`${head}\r\n\r\n${value}\r\n`)]
  const type = `; filename="${quoted(value.name)}"\r\nContent-Type: ${value.type}\r\n\r\n`
  return [Buffer.from(`${head}${type}`), value, Buffer.from('\r\n')]
}

/**
 * Escapes a field or file name as browsers do (WHATWG HTML, multipart/form-data encoding
 * algorithm).
 */
const quoted = (name: string): string =>
  name.replace(/\r/g, '%0D').replace(/\n/g, '%0A').replace(/"/g, '%22')
