import type { Vault } from '#infra/vault/port.ts'
import {
  isRelayError,
  missingParameter,
  type RelayError,
  relayError,
} from '../canonical/relay-error.ts'
import { conversionLimitError, lengthLimitError } from '../conversion/conversion-limits.ts'
import { applyEdits, type ByteEdit } from '../dialects/byte-edits.ts'
import type { ChatRequest, StoredReference } from '../dialects/wire-format.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import type { CopiesOfBody } from '../pipeline/memory-of-body-copies.ts'
import { errorWithoutQuota } from '../pipeline/refuse-caller-without-quota.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { NO_STORE, notFound } from './find-channel-and-key-of-stored-input.ts'
import { convertedResponseIdIn } from './recognize-converted-response-id.ts'
import { inputItemsOf } from './record-response-content.ts'
import { type ContentSize, contentOwnerOf, type LoadedContent } from './response-content-store.ts'
import { openCompressed } from './seal-compressed-text.ts'

const PREVIOUS = 'previous_response_id'
/**
 * The maximum number of bytes of stored content that are inserted without a check that the caller
 * can pay. Inserting more takes time.
 */
export const UNPAID_BYTES_MAX = 64 * 1024
/**
 * The maximum number of bytes of items that are inserted without a check that the caller can pay.
 * Here, an item counts with the length of its complete response, although the item itself may be
 * short.
 */
const UNPAID_ITEM_BYTES_MAX = 256 * 1024

/** The lengths of a body with its stored content. */
export type BodyLengths = {
  readonly most: number
  /** The length for which the caller must be able to pay. */
  readonly paid: number
}

type Deps = Pick<RelayDeps, 'storedResponses' | 'actors' | 'views'> & {
  readonly vault: Pick<Vault, 'openBytes'>
}

type Item = Readonly<Record<string, unknown>>
/** The stored content to which a request refers. */
type Content = {
  readonly items: ReadonlyMap<string, Item>
  /**
   * The items to insert before the request's input, as JSON arrays. Empty without a previous
   * response.
   */
  readonly before: readonly string[]
}

/**
 * Replaces a request's references to converted responses, and to their items, by the content that
 * the gateway stores. Returns the changed body, which any provider can read. Returns null if the
 * request has no such references. Returns an error if a part of the content can't be loaded, or if
 * the body would be too long. References to content that a provider stores remain. `admitLoading`
 * is called with the lengths of the new body before content is loaded, and may return an error.
 */
export async function insertStoredContent(
  deps: Deps,
  caller: Caller,
  request: ChatRequest,
  copies: CopiesOfBody,
  admitLoading: (lengths: BodyLengths) => Promise<RelayError | null>,
): Promise<Buffer | RelayError | null> {
  const { stored, body } = request
  const ids = idsOfResponses(request)
  if (stored === undefined || ids.length === 0) return null
  const { contents } = deps.storedResponses
  const rows = await contents.sizes(contentOwnerOf(caller), ids).catch(() => NO_STORE)
  if (isRelayError(rows)) return rows
  if (rows.length === 0) return null
  const sizes = new Map(rows.map((row) => [row.responseId, row]))
  const previous = previousIn(request, sizes)
  if (previous !== null && (sizes.get(previous.id)?.inputBytes ?? null) === null) {
    return notFound(previous)
  }
  const references = itemReferencesIn(request, sizes)
  const lengths = lengthsWithContent(body, references, sizes, previous?.id)
  const { most } = lengths
  const error =
    repetitionError(references) ??
    lengthLimitError(most) ??
    conversionLimitError(body) ??
    (most - body.length > UNPAID_BYTES_MAX ? await errorWithoutQuota(deps, caller) : null) ??
    (await admitLoading(lengths)) ??
    copies.keep(most)
  if (error !== null) return error
  const known = [...sizes.keys()]
  const loaded = await contents
    .load(contentOwnerOf(caller), known, previous?.id ?? null)
    .catch(() => NO_STORE)
  if (isRelayError(loaded)) return loaded
  const content = await openContent(deps, caller, loaded, previous?.id ?? null)
  if (content === null) return notFound(previous ?? stored.references[0] ?? NO_REFERENCE)
  const edits = editsOf(request, content, references)
  if (isRelayError(edits)) return edits
  const changed = applyEdits(body, edits)
  return lengthLimitError(changed.length) ?? changed
}

const NO_REFERENCE = { id: '', param: 'input' }

const idsOfResponses = ({ stored }: ChatRequest): readonly string[] => [
  ...new Set((stored?.references ?? []).flatMap(({ id }) => convertedResponseIdIn(id) ?? [])),
]

type Sizes = ReadonlyMap<string, ContentSize>

/** Returns the reference to a previous response whose content the gateway stores, or null. */
const previousIn = ({ stored }: ChatRequest, sizes: Sizes) =>
  stored?.references.find(({ id, param }) => param === PREVIOUS && sizes.has(id)) ?? null

type ItemReference = StoredReference & { readonly responseId: string }

/** Returns the references to items whose content the gateway stores. */
const itemReferencesIn = ({ stored }: ChatRequest, sizes: Sizes): readonly ItemReference[] =>
  (stored?.references ?? []).flatMap((reference) => {
    const responseId = reference.param === PREVIOUS ? null : convertedResponseIdIn(reference.id)
    return responseId === null || !sizes.has(responseId) ? [] : [{ ...reference, responseId }]
  })

/**
 * Returns an error if a request refers to one item several times. Without this check, a short
 * request could insert a long item a thousand times, and the result would not fit into memory.
 * OpenAI refuses repeated items as well.
 */
function repetitionError(references: readonly ItemReference[]): RelayError | null {
  const ids = new Set<string>()
  for (const { id, param } of references) {
    if (ids.has(id)) return relayError('repeated_item', { param, subject: id })
    ids.add(id)
  }
  return null
}

/**
 * Returns two lengths of the body with its stored content: the maximum, and the one for which the
 * caller must be able to pay. `references` must not contain an id twice. The output of the previous
 * response counts again if the request also refers to its items.
 */
function lengthsWithContent(
  body: Buffer,
  references: readonly ItemReference[],
  sizes: Sizes,
  previous?: string,
): BodyLengths {
  const responses = new Set(references.map(({ responseId }) => responseId))
  const ofItems = [...responses].reduce((sum, id) => sum + (sizes.get(id)?.outputBytes ?? 0), 0)
  const { outputBytes = 0, inputBytes = 0 } = sizes.get(previous ?? '') ?? {}
  const certain = body.length + outputBytes + (inputBytes ?? 0)
  const ofPaidItems = Math.max(0, ofItems - UNPAID_ITEM_BYTES_MAX)
  return { most: certain + ofItems, paid: certain + ofPaidItems }
}

/** Decrypts the loaded content. Returns null if the user was erased or the content was deleted. */
async function openContent(
  { vault }: Deps,
  { user: { userId } }: Caller,
  loaded: readonly LoadedContent[],
  previous: string | null,
): Promise<Content | null> {
  const items = new Map<string, Item>()
  let before: readonly string[] = []
  for (const { responseId, output, input } of loaded) {
    const text = await openCompressed(vault, userId, output)
    if (text === null) return null
    const outputs = JSON.parse(text) as readonly Item[]
    for (const { id, ...item } of outputs) if (typeof id === 'string') items.set(id, item)
    if (responseId !== previous) continue
    const inputs = input === null ? null : await openCompressed(vault, userId, input)
    if (inputs === null) return null
    before = [inputs, JSON.stringify(outputs.map(withoutId))]
  }
  return previous !== null && before.length === 0 ? null : { items, before }
}

/** Returns an item without its id, because no provider stores an item with this id. */
const withoutId = ({ id: _id, ...item }: Item): Item => item

/**
 * Returns the changes of the body, or an error if an item does not exist. The caller's own items
 * keep their bytes.
 */
function editsOf(
  { members, ...request }: ChatRequest,
  { items, before }: Content,
  references: readonly ItemReference[],
): readonly ByteEdit[] | RelayError {
  const input = members.find(({ key }) => key === 'input')
  if (input === undefined) return missingParameter('input')
  const edits: ByteEdit[] = []
  const earlier = elementsOf(before)
  // Edits at the same place are applied in the order of this list, so the earlier items precede all
  // other items. The caller's own input is never empty.
  if (earlier !== '' && input.kind === 'array') {
    const start = input.valueStart + 1
    edits.push({ start, end: start, text: `${earlier},` })
  } else if (earlier !== '') {
    const own = elementsOf([inputItemsOf({ ...request, members }).toString('utf8')])
    edits.push({ start: input.valueStart, end: input.valueEnd, text: `[${earlier},${own}]` })
  }
  for (const reference of references) {
    const item = items.get(reference.id)
    if (item === undefined || reference.span === undefined) return notFound(reference)
    edits.push({ ...reference.span, text: JSON.stringify(item) })
  }
  const previous = members.find(({ key }) => key === PREVIOUS)
  if (before.length > 0 && previous !== undefined) {
    edits.push({ start: previous.valueStart, end: previous.valueEnd, text: 'null' })
  }
  return edits
}

/** Returns the elements of JSON arrays, separated by commas. */
const elementsOf = (arrays: readonly string[]): string =>
  arrays
    .map((array) => array.trim().slice(1, -1).trim())
    .filter((text) => text !== '')
    .join(',')
