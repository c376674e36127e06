import { readFileSync, statSync } from 'node:fs'
import { SEALED_WITHIN_MS } from './signature-coverage.ts'
import { countOf, printable } from './verification-report-text.ts'
import {
  type ConsistencyProof,
  compareReceipts,
  compareRevisions,
  isUnsealed,
  type Receipt,
  type ReceiptFinding,
  type ReceiptKeys,
  verifyReceipt,
} from './verify-receipts.ts'

export type ReceiptFilesReport = {
  readonly receipts: number
  /**
   * The number of receipts that were proved by a signed checkpoint. If the number is 0, the
   * receipts prove nothing.
   */
  readonly proved: number
  readonly findings: readonly ReceiptFinding[]
  /** Sentences about what could not be verified yet. These are not findings. */
  readonly notes: readonly string[]
  /**
   * Sentences about what the receipts prove, and what they do not prove. The list is empty if there
   * are findings.
   */
  readonly shown: readonly string[]
}

const FILE_BYTES_MAX = 64 * 1024 * 1024

/**
 * Verifies the receipts in files. Each file contains a response of `GET /api/audit/receipts` or
 * `GET /api/ledger/self/receipts`, or a part of it (see `readReceipts`). Receipts of one account
 * from several files are verified as one list, so that a revision missing between two pages is
 * found. All receipts are compared with each other. If the newest events of an account are not
 * sealed yet, a note says so. `now` is the time of the verification in Unix milliseconds.
 */
export function verifyReceiptFiles(
  paths: readonly string[],
  keys: ReceiptKeys,
  now: number = Date.now(),
): ReceiptFilesReport {
  const files = paths.map(readReceipts)
  const rotations = files.flatMap((file) => file.rotations)
  const ringed: ReceiptKeys = { ...keys, rotations: [...(keys.rotations ?? []), ...rotations] }
  const all = files.flatMap(({ receipts }) => receipts)
  const found = new Map(all.map((receipt) => [receipt, verifyReceipt(receipt, ringed).findings]))
  const proved = provedReceipts(found)
  const unsealed = newestUnsealed(
    all.filter((receipt) => !proved.has(receipt)),
    all,
    now,
  )
  const findings = [
    ...files.filter(isEmpty).map(emptyFile),
    ...all.flatMap((receipt) => {
      const ofReceipt = found.get(receipt) ?? []
      const isExpected = unsealed.has(receipt) || proved.has(receipt)
      return isExpected ? ofReceipt.filter(({ fault }) => fault !== 'pending') : ofReceipt
    }),
  ]
  const statements = statementsOf(files, proved)
  const others = files.flatMap(({ receipts, isStatement }) => (isStatement ? [] : receipts))
  if (findings.every(({ fault }) => fault !== 'form')) {
    findings.push(...statements.flatMap(({ receipts }) => compareRevisions(receipts)))
    findings.push(...others.filter(isFirst).flatMap((receipt) => compareRevisions([receipt])))
    const proofs = files.flatMap((file) => file.proofs)
    findings.push(...compareReceipts(all, [], proofs))
  }
  const isRight = findings.length === 0
  const ofOthers = others.filter((receipt) => proved.has(receipt)).map(shownByOne)
  const shown = isRight
    ? [...statements.flatMap((one) => shownByStatement(one, proved)), ...ofOthers]
    : []
  const notes = [...new Set([...unsealed].map(unsealedNote))]
  return { receipts: all.length, proved: proved.size, findings, notes, shown }
}

/**
 * Returns the proved receipts, which are those without findings. A receipt that was issued before
 * its event was sealed counts as proved if another proved receipt has the same leaf hash.
 */
function provedReceipts(
  found: ReadonlyMap<Receipt, readonly ReceiptFinding[]>,
): ReadonlySet<Receipt> {
  const entries = [...found]
  const proved = entries.filter(([, findings]) => findings.length === 0).map(([one]) => one)
  const leaves = new Set(proved.map((receipt) => receipt.leaf_hash))
  const earlier = entries.filter(([receipt, findings]) => {
    const isRight = findings.every(({ fault }) => fault === 'pending')
    return isUnsealed(receipt) && isRight && leaves.has(receipt.leaf_hash)
  })
  return new Set([...proved, ...earlier.map(([receipt]) => receipt)])
}

/**
 * Returns the unsealed receipts that are accepted: the time of the event differs from `now` by at
 * most `SEALED_WITHIN_MS`, and the account has no sealed receipt of a later event. All other
 * unsealed receipts are findings. If a later event is sealed, this event must be sealed too,
 * because events are sealed in the order of their positions. An older event that is still not
 * sealed may not exist in the log. Without the limit for future times, a receipt with a time far in
 * the future would count as recent until that time has passed.
 */
function newestUnsealed(
  unproven: readonly Receipt[],
  all: readonly Receipt[],
  now: number,
): ReadonlySet<Receipt> {
  const lastSealed = new Map<string, number>()
  for (const receipt of all) {
    if (isUnsealed(receipt)) continue
    const { stream, position } = receipt.record ?? {}
    lastSealed.set(`${stream}`, Math.max(lastSealed.get(`${stream}`) ?? 0, Number(position)))
  }
  return new Set(
    unproven.filter((receipt) => {
      const { stream, position, at } = receipt.record ?? {}
      const isNew = Math.abs(now - Number(at)) <= SEALED_WITHIN_MS
      return isUnsealed(receipt) && isNew && Number(position) >= (lastSealed.get(`${stream}`) ?? 0)
    }),
  )
}

const unsealedNote = ({ record }: Receipt): string =>
  `${record.stream}, revision ${record.revision}: the event at position ${record.position} is ` +
  'not sealed yet: get its receipt and verify it again in a minute.'

/** Formats the report as text for a terminal. */
export function receiptText(report: ReceiptFilesReport): string {
  const { findings, notes, shown } = report
  const lines = findings.map(({ fault, position, detail }) => {
    const place = position === null ? '' : ` at position ${position}`
    return `${fault}${place}: ${detail}`
  })
  return [...lines, ...shown, ...notes, resultOf(report)]
    .map((line) => `${printable(line)}\n`)
    .join('')
}

function resultOf({ receipts, proved, findings }: ReceiptFilesReport): string {
  const isOne = receipts === 1
  const verified = isOne ? '1 receipt was verified.' : `${receipts} receipts were verified.`
  if (findings.length > 0) return `${verified} ${countOf(findings.length)}.`
  if (proved === receipts) return `${verified} Nothing was found.`
  const unsealed = receipts - proved
  const later = `${unsealed} ${unsealed === 1 ? 'is' : 'are'} not sealed yet`
  return proved === 0
    ? `${verified} ${isOne ? 'It is not' : 'None of them is'} proved: ${later}.`
    : `${verified} ${proved} ${proved === 1 ? 'is' : 'are'} proved, ${later}. Nothing was found.`
}

/**
 * Reports whether there are no findings and, if there are any receipts, at least one of them is
 * proved.
 */
export const areReceiptsProved = ({ receipts, proved, findings }: ReceiptFilesReport): boolean =>
  findings.length === 0 && (proved > 0 || receipts === 0)

type ReceiptFile = {
  readonly path: string
  readonly receipts: readonly Receipt[]
  readonly proofs: readonly ConsistencyProof[]
  readonly rotations: readonly string[]
  readonly isStatement: boolean
  /** The last revision of the account's stream, as the site states it in the response. */
  readonly lastRevision: number
}

/**
 * Reports whether a receipt is for the first event of an account, so that no earlier receipt
 * exists.
 */
const isFirst = ({ record }: Receipt): boolean => record.revision === 0

/**
 * The receipts of one account from all files that state the last revision of the account. Of
 * several receipts with the same revision and leaf hash, only one is included.
 */
type Statement = { readonly receipts: readonly Receipt[]; readonly lastRevision: number }

function statementsOf(
  files: readonly ReceiptFile[],
  proved: ReadonlySet<Receipt>,
): readonly Statement[] {
  const streams = new Map<string, { receipts: Map<string, Receipt>; lastRevision: number }>()
  for (const { receipts, isStatement, lastRevision } of files) {
    if (!isStatement || receipts.length === 0) continue
    const stream = String(receipts[0]?.record?.stream)
    const statement = streams.get(stream) ?? { receipts: new Map(), lastRevision: 0 }
    streams.set(stream, statement)
    statement.lastRevision = Math.max(statement.lastRevision, lastRevision)
    for (const receipt of receipts) {
      const { record, leaf_hash: leaf } = receipt
      const key = `${record?.revision} ${leaf}`
      if (proved.has(receipt) || !statement.receipts.has(key)) statement.receipts.set(key, receipt)
    }
  }
  return [...streams.values()].map(({ receipts, lastRevision }) => {
    return { receipts: [...receipts.values()], lastRevision }
  })
}

/**
 * Reports whether a file lacks the receipts that it should contain. The file of a new account
 * contains no receipts, because the account has no events. In this case, the site states -1 as the
 * last revision.
 */
const isEmpty = ({ receipts, isStatement, lastRevision }: ReceiptFile): boolean =>
  receipts.length === 0 && !(isStatement && lastRevision === -1)

const emptyFile = ({ path }: ReceiptFile): ReceiptFinding => ({
  ...{ fault: 'missing', position: null, detail: `${path} has no receipts` },
})

function shownByStatement(
  { receipts, lastRevision }: Statement,
  proved: ReadonlySet<Receipt>,
): string[] {
  const sorted = receipts.toSorted((a, b) => a.record.revision - b.record.revision)
  const [first, last] = [sorted[0], sorted.findLast((receipt) => proved.has(receipt))]
  const newest = sorted.at(-1)?.record.revision ?? 0
  if (first === undefined) return []
  const { stream, revision: from } = first.record
  if (last === undefined)
    return [`${stream}: none of the revisions ${from} to ${newest} is proved.`]
  const { revision } = last.record
  const sentences = [
    `${stream}, revisions ${from} to ${revision}: none is missing between them. ` +
      `Afterwards the balance is ${last.balance_after}, held ${last.held_after}.`,
  ]
  if (from > 0) sentences.push(`Not shown: what happened before revision ${from}.`)
  if (newest > revision) {
    sentences.push(`Not proved: the revisions ${revision + 1} to ${newest}, not sealed yet.`)
  }
  if (lastRevision > newest) {
    sentences.push(`Not shown: the revisions ${newest + 1} to ${lastRevision}.`)
  }
  return sentences
}

const shownByOne = ({ record, balance_after: balance, held_after: held }: Receipt): string =>
  `${record.stream}, revision ${record.revision}: ${record.type} at position ${record.position}. ` +
  (balance === null ? '' : `Afterwards the balance is ${balance}, held ${held}.`)

/**
 * Reads a file that contains a response of the API, the `data` of such a response, or a single
 * receipt.
 */
function readReceipts(path: string): ReceiptFile {
  if (statSync(path).size > FILE_BYTES_MAX) throw new Error(`${path} is too large`)
  const content = parsed(path) as { readonly data?: unknown } | null
  const answer = (content?.data ?? content) as {
    readonly items?: readonly Receipt[]
    readonly last_revision?: number
    readonly consistency?: ConsistencyProof | null
    readonly later_consistency?: ConsistencyProof | null
    readonly key_rotations?: readonly string[]
    readonly record?: unknown
  } | null
  const receipts = answer?.record === undefined ? answer?.items : [answer as unknown as Receipt]
  if (
    !Array.isArray(receipts) ||
    !receipts.every((one) => typeof one === 'object' && one !== null)
  ) {
    throw new Error(`${path} has no receipts`)
  }
  const proofs = [answer?.consistency, answer?.later_consistency].filter((proof) => proof != null)
  const rotations = answer?.key_rotations ?? []
  if (!Array.isArray(rotations) || !rotations.every((note) => typeof note === 'string')) {
    throw new Error(`${path} has malformed rotations of the key`)
  }
  const lastRevision = answer?.last_revision
  return {
    ...{ path, receipts, proofs, rotations, isStatement: lastRevision !== undefined },
    lastRevision: Number(lastRevision ?? 0),
  }
}

function parsed(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    throw new Error(`${path} is not JSON`)
  }
}
