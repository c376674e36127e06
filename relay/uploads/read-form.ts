import type { Readable } from 'node:stream'
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { BODY_BYTES_MAX, type BodyMemory, type BodyMemoryShare } from '../limits/body-memory.ts'
import type { CallRequest } from '../pipeline/http-request-and-response-types.ts'
import { documentOf, type FormField } from './form-as-json-document.ts'
import type { Form, FormRules } from './form-field-types.ts'
import { type SpoolFolder, UPLOAD_BYTES_MAX } from './spool-folder.ts'
import { plainName, type SpooledFile, spool } from './spooled-file.ts'

const MIB = 1024 * 1024
const FIELDS_MAX = 128
const FILES_MAX = 20
const FIELD_BYTES_MAX = 256 * 1024
/**
 * The maximum total length in bytes of all fields that are not files. These fields are kept in
 * memory.
 */
const TEXT_BYTES_MAX = 1024 * 1024
const NAME_LENGTH_MAX = 128
/**
 * The number of bytes that is added to the length of each file when disk space is counted. The
 * addition limits the number of open files.
 */
const FILE_BYTES_MIN = MIB
/**
 * The disk space that the uploads of one user may use, as a multiple of the memory that the user's
 * request bodies may use.
 */
const DISK_FACTOR = 4

const FORM_TYPE = /^multipart\/form-data\s*;/i
const BOUNDARY = /;\s*boundary=(?:"[^"]{1,70}"|[^\s";,]{1,70})\s*(?:;|$)/i

const TOO_LARGE = relayError('request_too_large', { subject: `${UPLOAD_BYTES_MAX / MIB}` })
const NO_ROOM = relayError('overloaded', { retryAfter: 5 })
const INCOMPLETE = relayError('request_incomplete')
const INVALID_FORM = relayError('invalid_form')

export type FormDeps = { readonly uploads: SpoolFolder; readonly bodyMemory: BodyMemory }

/**
 * A form that was read. `release` closes its files and gives back its memory, and must be called
 * once.
 */
export type ReceivedForm = Form & { readonly release: () => void }

export const isForm = ({ headers }: CallRequest): boolean =>
  FORM_TYPE.test(headers['content-type'] ?? '')

/**
 * Reads a form of the type `multipart/form-data`. The files are written to disk while they arrive,
 * and only the other fields are kept in memory. If an error is returned, everything was released.
 */
export async function readForm(
  request: CallRequest,
  deps: FormDeps,
  owner: BodyMemoryShare,
  rules: FormRules,
): Promise<ReceivedForm | RelayError> {
  const { headers } = request
  const type = headers['content-type'] ?? ''
  if ((headers['content-encoding'] ?? 'identity') !== 'identity' || !BOUNDARY.test(type)) {
    return relayError('form_expected')
  }
  const declared = Number(headers['content-length'] ?? 0)
  if (declared > UPLOAD_BYTES_MAX) return TOO_LARGE
  if (!(await deps.uploads.hasRoomFor(declared).catch(() => false))) return NO_ROOM
  // The caller has disconnected during authentication.
  if (request.destroyed) return INCOMPLETE
  const disk = { userId: owner.userId, bytesMax: owner.bytesMax * DISK_FACTOR }
  const filesMax = filesMaxOf(rules)
  const parser = openParser(request, filesMax)
  if (parser === null) return relayError('form_expected')
  const reader = new FormReader(request, parser, deps.uploads, disk, filesMax)
  const error = await reader.read(declared)
  if (error !== null) {
    reader.release()
    return error
  }
  const document = await documentOf(reader.fields, reader.files, rules).catch(() => INVALID_FORM)
  const isTaken = !isRelayError(document) && document.length <= BODY_BYTES_MAX
  if (!isTaken || !deps.bodyMemory.take(document.length)) {
    reader.release()
    return isTaken ? NO_ROOM : (document as RelayError)
  }
  return {
    document,
    files: reader.files,
    release: () => {
      deps.bodyMemory.giveBack(document.length)
      reader.release()
    },
  }
}

/**
 * Returns the maximum number of files that are read. If no field may hold a list of files, the
 * result is one more than the number of file fields, so that the error can name the field of the
 * additional file.
 */
const filesMaxOf = ({ files }: FormRules): number =>
  files.some((name) => name.endsWith('[]')) ? FILES_MAX : files.length + 1

/**
 * Opens the parser of a form. Returns null if the parser finds no boundary, for example because
 * `boundary=` is part of the quoted value of another parameter. The parser is opened before any
 * disk space is reserved, because nothing would give the space back after an exception.
 */
function openParser({ headers }: CallRequest, filesMax: number): BusboyInstance | null {
  try {
    return new Busboy({
      headers: headers as BusboyHeaders,
      limits: {
        fields: FIELDS_MAX,
        files: filesMax,
        fieldSize: FIELD_BYTES_MAX,
        headerPairs: 16,
        headerSize: 8 * 1024,
      },
    })
  } catch {
    return null
  }
}

class FormReader {
  readonly fields: FormField[] = []
  readonly files = new Map<string, SpooledFile>()
  private readonly request: CallRequest
  private readonly parser: BusboyInstance
  private readonly folder: SpoolFolder
  private readonly owner: BodyMemoryShare
  private readonly filesMax: number
  private readonly writing: Promise<void>[] = []
  private readonly contents: Readable[] = []
  private length = 0
  private reserved = 0
  private taken = 0
  private reservedForFiles = 0
  private textBytes = 0
  private filesBegun = 0
  private error: RelayError | null = null
  private isReleased = false
  private finish: (error: RelayError | null) => void = () => {}

  constructor(
    request: CallRequest,
    parser: BusboyInstance,
    folder: SpoolFolder,
    owner: BodyMemoryShare,
    filesMax: number,
  ) {
    this.filesMax = filesMax
    this.request = request
    this.parser = parser
    this.folder = folder
    this.owner = owner
  }

  /**
   * Reads the form. Returns null once the form and its files are complete, or the error for the
   * caller. `declared` is the length in bytes that the request declares.
   */
  async read(declared: number): Promise<RelayError | null> {
    if (!this.reserve(declared)) return this.shareIsFull()
    const ended = new Promise<RelayError | null>((resolve) => {
      this.finish = resolve
    })
    this.listenToParser()
    this.pump()
    const error = await ended
    if (error !== null) {
      this.parser.destroy()
      for (const content of this.contents) content.destroy(new Error('the form was not read'))
    }
    await Promise.all(this.writing)
    return error ?? this.error
  }

  /** Gives back the reserved disk space and closes the files, which deletes them. */
  release(): void {
    if (this.isReleased) return
    this.isReleased = true
    this.folder.space.release(this.owner, this.reserved + this.reservedForFiles)
    this.folder.space.giveBack(this.taken)
    for (const file of this.files.values()) file.close().catch(() => {})
  }

  private listenToParser(): void {
    const { parser } = this
    parser.on('field', (name, text, _isNameCut, isCut) => {
      if (isCut) return this.fail(tooLong(name))
      this.addText(name, text)
    })
    parser.on('file', (name, content, filename, _encoding, type) => {
      content.on('error', () => {})
      this.contents.push(content)
      if (!isName(name)) return this.fail(INVALID_FORM)
      const description = { name: plainName(filename ?? ''), type }
      this.writing.push(this.store(name, content as AsyncIterable<Buffer>, description))
    })
    parser.on('fieldsLimit', () => this.fail(tooMany(`${FIELDS_MAX} fields`)))
    parser.on('filesLimit', () =>
      this.fail(tooMany(`${this.filesMax} ${this.filesMax === 1 ? 'file' : 'files'}`)),
    )
    parser.on('error', () => this.fail(this.request.readableEnded ? INVALID_FORM : INCOMPLETE))
    parser.on('finish', () => this.finish(null))
  }

  private pump(): void {
    const { request, parser } = this
    request.on('data', (chunk: Buffer) => {
      if (this.error !== null) return
      this.length += chunk.length
      if (this.length > UPLOAD_BYTES_MAX) return this.fail(TOO_LARGE)
      if (!this.reserve(Math.max(0, this.length - this.reserved))) {
        return this.fail(this.shareIsFull())
      }
      if (!this.folder.space.take(chunk.length)) return this.fail(NO_ROOM)
      this.taken += chunk.length
      if (parser.write(chunk)) return
      request.pause()
      parser.once('drain', () => this.error === null && request.resume())
    })
    request.on('end', () => {
      if (this.error === null) parser.end()
    })
    // Fails if the connection closes before the body is complete.
    request.on('close', () => request.readableEnded || this.fail(INCOMPLETE))
  }

  private addText(name: string, text: string): void {
    this.textBytes += Buffer.byteLength(name ?? '') + Buffer.byteLength(text)
    if (!isName(name)) return this.fail(INVALID_FORM)
    if (this.textBytes > TEXT_BYTES_MAX)
      return this.fail(tooMany(`${TEXT_BYTES_MAX / MIB} MiB of fields`))
    this.fields.push({ name, text })
  }

  private async store(
    name: string,
    content: AsyncIterable<Buffer>,
    description: { readonly name: string; readonly type: string },
  ): Promise<void> {
    const fileId = `${this.filesBegun}`
    this.filesBegun += 1
    this.fields.push({ name, fileId })
    if (!this.folder.space.reserve(this.owner, FILE_BYTES_MIN)) {
      return this.fail(this.shareIsFull())
    }
    this.reservedForFiles += FILE_BYTES_MIN
    try {
      const handle = await this.folder.create()
      const hasRoom = () => this.folder.hasRoomFor(0)
      this.files.set(fileId, await spool(content, description, handle, hasRoom))
    } catch {
      this.fail(NO_ROOM)
    }
  }

  private reserve(bytes: number): boolean {
    if (!this.folder.space.reserve(this.owner, bytes)) return false
    this.reserved += bytes
    return true
  }

  private shareIsFull(): RelayError {
    const subject = `${this.owner.bytesMax / MIB} MB of uploads (this user)`
    return relayError('too_many_concurrent', { subject, retryAfter: 5 })
  }

  private fail(error: RelayError): void {
    if (this.error !== null) return
    this.error = error
    this.finish(error)
  }
}

const isName = (name: string | undefined): boolean =>
  name !== undefined && name.length <= NAME_LENGTH_MAX && /^[\x20-\x7e]+$/.test(name)

const tooLong = (param: string): RelayError =>
  relayError('string_above_max_length', {
    param: isName(param) ? param : 'form',
    subject: `${FIELD_BYTES_MAX}`,
  })

const tooMany = (subject: string): RelayError => relayError('form_too_long', { subject })
