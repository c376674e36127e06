import type { Vault } from '#infra/vault/port.ts'
import { objectOf, parsedObject } from '#relay/canonical/json-values.ts'
import { EVENT_BOUNDARY, eventData } from '../canonical/sse-scanner.ts'
import { applyEdits, type ByteEdit } from '../dialects/byte-edits.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import { convertedResponseIdIn } from './recognize-converted-response-id.ts'
import { sealCompressed } from './seal-compressed-text.ts'
import type { StoredResponses } from './stored-response-owners.ts'

/**
 * The maximum length of a response that is stored. Callers must send the items of a longer response
 * again.
 */
const RESPONSE_BYTES_MAX = 1024 * 1024
/**
 * The maximum length of an input that is stored. If the input is longer, only the output items are
 * stored.
 */
const INPUT_BYTES_MAX = 1024 * 1024

type Deps = {
  readonly storedResponses: StoredResponses
  readonly vault: Pick<Vault, 'sealBytes'>
  readonly now: () => number
}

/**
 * Stores the content of a converted response, so that later requests of the same token can refer to
 * it. `answer` is the response as the caller receives it: a JSON document, or the last events of a
 * stream. Returns false and stores nothing if the answer is too long or is not a response.
 */
export async function recordResponseContent(
  { storedResponses, vault, now }: Deps,
  { token: { tokenId }, user: { userId } }: Caller,
  request: ChatRequest,
  answer: Buffer,
): Promise<boolean> {
  // The last events of a stream repeat the items, so the events may be longer than the response.
  if (answer.length > 3 * RESPONSE_BYTES_MAX) return false
  const response = responseIn(answer.toString('utf8'))
  const { id, output } = response ?? {}
  if (response === null || typeof id !== 'string' || !Array.isArray(output)) return false
  if (convertedResponseIdIn(id) !== id) return false
  const items = JSON.stringify(output)
  const others = JSON.stringify({ ...response, output: [] })
  const outputBytes = Buffer.byteLength(items)
  if (outputBytes + Buffer.byteLength(others) > RESPONSE_BYTES_MAX) return false
  const inputItems = inputItemsOf(request)
  const inputBytes = inputItems.length
  const seal = (text: string | Buffer) => sealCompressed(vault, userId, text)
  const [sealedResponse, sealedOutput, input] = await Promise.all([
    seal(others),
    seal(items),
    inputBytes <= INPUT_BYTES_MAX ? seal(inputItems) : null,
  ])
  await storedResponses.contents.add({
    ...{ tokenId, userId, responseId: id, response: sealedResponse, output: sealedOutput, input },
    ...{ outputBytes, inputBytes, at: now() },
  })
  return true
}

const STORED = Buffer.from('"store":true')
const NOT_STORED = '"store":false'

/**
 * Returns a converted response, or its events, with `store` set to false. Only the first occurrence
 * of the member's bytes in each event is changed, because texts of the request, which follow the
 * member, may contain the same bytes.
 */
export function withoutStoring(response: Buffer): Buffer {
  const edits: ByteEdit[] = []
  let start = response.indexOf(STORED)
  while (start >= 0) {
    edits.push({ start, end: start + STORED.length, text: NOT_STORED })
    const endOfEvent = response.indexOf('\n\n', start)
    start = endOfEvent < 0 ? -1 : response.indexOf(STORED, endOfEvent)
  }
  return edits.length === 0 ? response : applyEdits(response, edits)
}

const ENDS: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete'])

/** Returns the response in a JSON document, or in the last events of a stream. */
function responseIn(text: string): Readonly<Record<string, unknown>> | null {
  if (text.startsWith('{')) return parsedObject(text)
  for (const event of text.split(EVENT_BOUNDARY)) {
    if (!event.includes('"response.completed"') && !event.includes('"response.incomplete"'))
      continue
    const { type, response } = parsedObject(eventData(event) ?? '') ?? {}
    if (ENDS.has(type)) return objectOf(response) ?? null
  }
  return null
}

const MESSAGE_START = Buffer.from('[{"type":"message","role":"user","content":')
const MESSAGE_END = Buffer.from('}]')

/** Returns the items of a request's input as a JSON array. A text becomes one message. */
export function inputItemsOf({ body, members }: Pick<ChatRequest, 'body' | 'members'>): Buffer {
  const input = members.find(({ key }) => key === 'input')
  if (input === undefined) return Buffer.from('[]')
  const value = body.subarray(input.valueStart, input.valueEnd)
  return input.kind === 'string' ? Buffer.concat([MESSAGE_START, value, MESSAGE_END]) : value
}
