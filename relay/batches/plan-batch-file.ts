import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { BatchPart } from '#domain/batches/events.ts'
import { withImageFactor } from '#domain/pricing/price-list.ts'
import { channelsIn } from '#domain/routing/channels-by-group-and-model.ts'
import {
  invalidParameter,
  isRelayError,
  notOneOf,
  type RelayError,
  relayError,
} from '../canonical/relay-error.ts'
import { jsonError } from '../dialects/invalid-json-error.ts'
import { imagesWithin } from '../dialects/openai-images/image-formats.ts'
import { isMembers, outOfRange } from '../dialects/read-common-request-members.ts'
import { type InvalidJson, type Member, scanObject } from '../dialects/scan-request-object.ts'
import type { ChatRequest, WireFormat } from '../dialects/wire-format.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import type { RelayChannel } from '../views/channel-view.ts'
import { BatchChannels } from './batch-channels.ts'
import type { LineFacts, LinesById } from './batch-store.ts'
import { LINE_BYTES_MAX, LineTooLong, linesIn } from './download-batch-results-from-provider.ts'
import { OmissionsOfLines } from './omissions-of-lines.ts'
import { BATCH_ENDPOINTS } from './openai-batches.ts'
import {
  acceptsBatches,
  addToPart,
  candidateFor,
  factsOf,
  lineId,
  type Parts,
  type PlannedLine,
  partsIn,
  planLine,
} from './plan-batch.ts'

/** The maximum number of lines in a file. */
export const FILE_LINES_MAX = 50_000
const CUSTOM_ID_LENGTH_MAX = 512
/** The maximum length of a line in bytes. */
export const FILE_LINE_BYTES_MAX = 8 * 1024 * 1024
const LINES_AT_ONCE = 16
const MEMBERS: ReadonlySet<string> = new Set(['custom_id', 'method', 'url', 'body'])

/**
 * Thrown at the first invalid line of a file to stop reading it. `error` is the error for the
 * caller.
 */
export class FileRefused extends Error {
  readonly error: RelayError

  constructor(error: RelayError) {
    super(`a file of a batch was refused: ${error.code}`)
    this.error = error
  }
}

type FileLine = {
  readonly customId: string
  readonly url: string
  readonly format: WireFormat
  readonly body: Buffer
}

/**
 * Returns the error with the number of the faulty line before its parameter name. Lines are counted
 * from 1.
 */
function inLine(error: RelayError, line: number, prefix = ''): RelayError {
  const { param } = error.params
  const path = [prefix, param ?? ''].filter((part) => part !== '').join('.')
  const shown = path === '' ? `line ${line}` : `line ${line}: ${path}`
  return { ...error, params: { ...error.params, param: shown } }
}

/** Reads and checks a line `{"custom_id":…,"method":"POST","url":…,"body":{…}}` of a file. */
function readLine(bytes: Buffer): FileLine | RelayError {
  const members = scanObject(bytes)
  if (!isMembers(members)) return lineError(bytes, members)
  const other = members.find(({ key }) => !MEMBERS.has(key))
  if (other !== undefined) return relayError('parameter_not_supported', { param: other.key })
  const find = (key: string) => members.find((member) => member.key === key)
  for (const key of MEMBERS) {
    if (find(key) === undefined) return relayError('missing_parameter', { param: key })
  }
  const [customId, method, url] = ['custom_id', 'method', 'url'].map((key) =>
    textOf(bytes, find(key)),
  )
  if (typeof customId !== 'string' || customId === '') return invalidParameter('custom_id')
  if (customId.length > CUSTOM_ID_LENGTH_MAX) {
    const subject = `${CUSTOM_ID_LENGTH_MAX}`
    return relayError('string_above_max_length', { param: 'custom_id', subject })
  }
  if (method !== 'POST') return notOneOf('method', ['POST'])
  const format = BATCH_ENDPOINTS.get(url ?? '')
  if (url === null || url === undefined || format === undefined)
    return notOneOf('url', BATCH_ENDPOINTS.keys())
  const body = find('body')
  if (body?.kind !== 'object') return invalidParameter('body')
  return { customId, url, format, body: bytes.subarray(body.valueStart, body.valueEnd) }
}

/** Returns the error for a line that can't be read as a JSON object. */
function lineError(bytes: Buffer, json: InvalidJson): RelayError {
  switch (json.error) {
    case 'not-an-object':
      return relayError('line_not_object')
    case 'malformed':
      if (bytes.subarray(0, BOM.length).equals(BOM)) return relayError('file_has_bom')
      return relayError('line_not_json', { subject: `${columnOf(bytes, json.at)}` })
    default:
      return jsonError(bytes, json)
  }
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf])

/** Returns the column of the byte at `at` in a line, counted in characters from 1. */
const columnOf = (bytes: Buffer, at: number): number => bytes.toString('utf8', 0, at).length + 1

function textOf(bytes: Buffer, member: Member | undefined): string | null {
  if (member?.kind !== 'string') return null
  return JSON.parse(bytes.toString('utf8', member.valueStart, member.valueEnd)) as string
}

type ReadLine = FileLine & { readonly number: number; readonly planned: PlannedLine }

/**
 * Reads a file line by line, and plans each line with the functions that also plan single calls. To
 * plan a line is to check it and to determine its price and the channels that may serve it. Throws
 * `FileRefused` for the first line with an error.
 */
async function* plannedLines(
  deps: RelayDeps,
  caller: Caller,
  content: AsyncIterable<Buffer>,
): AsyncGenerator<ReadLine> {
  const ids = new Set<string>()
  let number = 0
  try {
    for await (const bytes of linesIn(content, FILE_LINE_BYTES_MAX)) {
      number += 1
      if (number % LINES_AT_ONCE === 0) await yieldToEventLoop()
      if (isBlank(bytes)) continue
      const line = readLine(bytes)
      if (isRelayError(line)) throw new FileRefused(inLine(line, number))
      const id = lineId('', line.customId)
      if (ids.has(id)) {
        const error = relayError('custom_id_repeated', { param: 'custom_id' })
        throw new FileRefused(inLine(error, number))
      }
      if (ids.size === FILE_LINES_MAX) {
        const error = relayError('too_many_lines', { subject: `${FILE_LINES_MAX}` })
        throw new FileRefused(inLine(error, number))
      }
      ids.add(id)
      const planned = await planLine(deps, caller, line.format, line.body)
      if (isRelayError(planned)) throw new FileRefused(inLine(planned, number, 'body'))
      checkImages(planned.request, number)
      yield { ...line, number, planned }
    }
  } catch (error) {
    if (!(error instanceof LineTooLong)) throw error
    const subject = `${FILE_LINE_BYTES_MAX / (1024 * 1024)}`
    throw new FileRefused(inLine(relayError('line_too_long', { subject }), number + 1))
  }
  if (ids.size === 0) throw new FileRefused(relayError('file_without_lines', { param: 'file' }))
}

/**
 * Throws if the images that a request asks for may make a result too long for memory. The images of
 * such a result would not be counted.
 */
function checkImages(request: ChatRequest, line: number): void {
  const most = imagesWithin(request, LINE_BYTES_MAX)
  if (request.choices > most) throw new FileRefused(inLine(outOfRange('n', 1, most), line, 'body'))
}

const isBlank = (bytes: Buffer): boolean => bytes.every((byte) => byte === 32 || byte === 13)

/**
 * Checks all lines of a file. Returns the channels to which the file can be uploaded, or the error
 * for the caller. The providers of these channels offer the models of all lines and need no
 * conversion of the requests.
 */
export async function checkFile(
  deps: RelayDeps,
  caller: Caller,
  content: AsyncIterable<Buffer>,
): Promise<BatchChannels | RelayError> {
  let channels: readonly RelayChannel[] | null = null
  let model = ''
  try {
    for await (const { number, planned } of plannedLines(deps, caller, content)) {
      const { request, plan } = planned
      model = request.model
      const offered = new Set(channelsIn(plan.offer))
      const before: readonly RelayChannel[] = channels ?? [...offered]
      channels = before.filter(
        (channel) => offered.has(channel) && acceptsBatches(deps, channel, request, 'openai'),
      )
      if (channels.length > 0) continue
      const error = relayError('no_batch_channel', { param: 'model', subject: model })
      return inLine(error, number, 'body')
    }
  } catch (error) {
    if (error instanceof FileRefused) return error.error
    throw error
  }
  return new BatchChannels(deps, channels ?? [], model, caller)
}

/**
 * Plans a batch whose requests are the lines of an uploaded file. All lines are sent to the channel
 * to which the file was uploaded.
 */
export class FilePlan {
  /** What the provider does not get of the lines that were yielded so far. */
  readonly omissions = new OmissionsOfLines()
  private readonly deps: RelayDeps
  private readonly channelId: number
  private readonly batch: string
  private readonly endpoint: string
  private readonly partsByPrice: Parts = new Map()
  private readonly facts = new Map<string, LineFacts>()

  constructor(deps: RelayDeps, channelId: number, batch: string, endpoint: string) {
    this.deps = deps
    this.channelId = channelId
    this.batch = batch
    this.endpoint = endpoint
  }

  get parts(): readonly BatchPart[] {
    return partsIn(this.partsByPrice)
  }

  get lines(): LinesById {
    return this.facts
  }

  /**
   * Yields each line as it is sent to the provider. The line has the provider's name for the model
   * and the channel's overrides, and lacks the members that the channel does not allow. Throws
   * `FileRefused` for the first line with an error.
   */
  async *sentLines(caller: Caller, content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const line of plannedLines(this.deps, caller, content)) {
      yield this.sentLine(line)
    }
  }

  private sentLine({ number, customId, url, planned }: ReadLine): Buffer {
    const { request, plan } = planned
    const { deps, channelId } = this
    if (url !== this.endpoint) {
      throw new FileRefused(inLine(notOneOf('url', [this.endpoint]), number))
    }
    // An admin may have changed the channel since the plan was made. The line was priced for the
    // state of the channel in the plan, so this state is used.
    const channel = [...channelsIn(plan.offer)].find((one) => one.channelId === channelId)
    if (channel === undefined || !acceptsBatches(deps, channel, request, 'openai')) {
      const subject = request.model
      throw new FileRefused(inLine(relayError('no_batch_channel', { subject }), number, 'body'))
    }
    const sent = candidateFor(deps, channel, planned)
    if (isRelayError(sent)) throw new FileRefused(inLine(sent, number, 'body'))
    checkImages(sent.request, number)
    this.omissions.add(sent)
    const price = withImageFactor(plan.price, sent.request.imageFactor)
    const priced = { request, plan: { ...plan, price } }
    const part = addToPart(deps, this.partsByPrice, this.batch, priced)
    if (part === null) throw new FileRefused(inLine(invalidParameter('body.model'), number))
    this.facts.set(lineId(this.batch, customId), {
      ...{ line: this.facts.size, part, format: request.format.name },
      sentModel: sent.upstreamModel ?? request.model,
      ...factsOf(sent.request, plan),
    })
    const head = { custom_id: customId, method: 'POST', url }
    const opening = `${JSON.stringify(head).slice(0, -1)},"body":`
    return Buffer.concat([Buffer.from(opening), inOneLine(sent.body), LINE_END])
  }
}

const LINE_END = Buffer.from('}\n')
const [LF, CR, SPACE] = [10, 13, 32]

/**
 * Replaces line breaks in a JSON text by spaces. A provider could otherwise read a part of the text
 * as another line, which would not be billed. The value stays the same, because a JSON string
 * contains no raw line break.
 */
function inOneLine(json: Buffer): Buffer {
  if (!json.includes(LF) && !json.includes(CR)) return json
  return Buffer.from(json.map((byte) => (byte === LF || byte === CR ? SPACE : byte)))
}
