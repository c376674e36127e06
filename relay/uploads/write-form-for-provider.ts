import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { objectOrEmpty } from '#relay/canonical/json-values.ts'
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

/** A part of a body: bytes, or a content that is read while the body is sent. */
type Piece = Buffer | { readonly bytes: number; readonly open: () => AsyncIterable<Buffer> }
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
  // the text fields to process the files.
  const isText = ({ value }: Part) => typeof value === 'string'
  const ordered = [...parts.filter(isText), ...parts.filter((part) => !isText(part))]
  const pieces: Piece[] = ordered.flatMap(({ name, value }) => piecesOf(boundary, name, value))
  pieces.push(Buffer.from(`--${boundary}--\r\n`))
  return streamedBody(`multipart/form-data; boundary=${boundary}`, pieces)
}

/**
 * Builds the JSON body that `document` describes. An object in the document that names one of
 * `files` is sent as the data URL of this file. The files stay on disk, because they may be larger
 * than the memory that a call may use.
 */
export function providerJson(
  document: Buffer,
  files: ReadonlyMap<string, SpooledFile>,
): StreamedBody {
  const named: SpooledFile[] = []
  // The caller's texts can't contain this text, because it is random.
  const place = randomBytes(16).toString('hex')
  const text = JSON.stringify(JSON.parse(document.toString('utf8')), (_name, value: unknown) => {
    const file = fileOf(value, files)
    if (file === undefined) return value
    named.push(file)
    return place
  })
  const [first = '', ...others] = text.split(place)
  const pieces = named.flatMap((file, index): Piece[] => [
    Buffer.from(`data:${file.type};base64,`),
    { bytes: Math.ceil(file.bytes / 3) * 4, open: () => base64Of(file.open()) },
    Buffer.from(others[index] ?? ''),
  ])
  return streamedBody('application/json', [Buffer.from(first), ...pieces])
}

async function* base64Of(content: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of content) {
    const bytes = Buffer.concat([rest, chunk])
    // Three bytes become four characters. The encoding of any other number of bytes would have
    // padding in the middle of the text.
    const whole = bytes.length - (bytes.length % 3)
    rest = bytes.subarray(whole)
    if (whole > 0) yield Buffer.from(bytes.toString('base64', 0, whole))
  }
  if (rest.length > 0) yield Buffer.from(rest.toString('base64'))
}

const streamedBody = (contentType: string, pieces: readonly Piece[]): StreamedBody => ({
  contentType,
  length: pieces.reduce((sum, piece) => sum + lengthOf(piece), 0),
  open: (onProgress) => Readable.from(contentOf(pieces, onProgress), { objectMode: false }),
})

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
  return [{ name, value: fileOf(value, files) ?? JSON.stringify(value) }]
}

function fileOf(value: unknown, files: ReadonlyMap<string, SpooledFile>): SpooledFile | undefined {
  const { file: id } = objectOrEmpty(value)
  return typeof id === 'string' ? files.get(id) : undefined
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
