import { readFileSync, statSync } from 'node:fs'
import { countOf, printable } from './report-text.ts'
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
  readonly findings: readonly ReceiptFinding[]
  /** What could not be verified yet, as sentences. These are not findings. */
  readonly notes: readonly string[]
  /** What the receipts show, as sentences. Empty if something was found. */
  readonly shown: readonly string[]
}

const FILE_BYTES_MAX = 64 * 1024 * 1024

/**
 * Verifies the receipts in files. A file has the answer of `GET /api/audit/receipts` or
 * `GET /api/ledger/self/receipts`. The pages of one account in several files are one statement:
 * a revision that is missing between two pages is found as well. All receipts are compared with
 * each other. The newest events of an account may not be sealed yet, which is noted.
 */
export function verifyReceiptFiles(
  paths: readonly string[],
  keys: ReceiptKeys,
): ReceiptFilesReport {
  const files = paths.map(readReceipts)
  const rotations = files.flatMap((file) => file.rotations)
  const ringed: ReceiptKeys = { ...keys, rotations: [...(keys.rotations ?? []), ...rotations] }
  const statements = statementsOf(files)
  const others = files.flatMap(({ receipts, isStatement }) => (isStatement ? [] : receipts))
  const all = files.flatMap(({ receipts }) => receipts)
  const proofs = files.flatMap((file) => file.proofs)
  const unsealed = newestUnsealed(all)
  const findings = [
    ...files.filter(isEmpty).map(emptyFile),
    ...all.flatMap((receipt) => {
      const found = verifyReceipt(receipt, ringed).findings
      return unsealed.has(receipt) ? found.filter(({ fault }) => fault !== 'pending') : found
    }),
  ]
  if (findings.every(({ fault }) => fault !== 'form')) {
    findings.push(...statements.flatMap(({ receipts }) => compareRevisions(receipts)))
    findings.push(...compareReceipts(all, [], proofs))
  }
  const isRight = findings.length === 0
  const shown = isRight ? [...statements.flatMap(shownByStatement), ...others.map(shownByOne)] : []
  const notes = [...new Set([...unsealed].map(unsealedNote))]
  return { receipts: all.length, findings, notes, shown }
}

/**
 * Returns the unsealed receipts that no sealed receipt of the same account follows. Events are
 * sealed in the order of their positions, so an unsealed event before a sealed one is a finding.
 */
function newestUnsealed(receipts: readonly Receipt[]): ReadonlySet<Receipt> {
  const lastSealed = new Map<string, number>()
  for (const receipt of receipts) {
    if (isUnsealed(receipt)) continue
    const { stream, position } = receipt.record ?? {}
    lastSealed.set(`${stream}`, Math.max(lastSealed.get(`${stream}`) ?? 0, Number(position)))
  }
  return new Set(
    receipts.filter((receipt) => {
      const { stream, position } = receipt.record ?? {}
      return isUnsealed(receipt) && Number(position) >= (lastSealed.get(`${stream}`) ?? 0)
    }),
  )
}

const unsealedNote = ({ record }: Receipt): string =>
  `${record.stream}, revision ${record.revision}: the event at position ${record.position} is ` +
  'not sealed yet. Verify its receipt again when a signed checkpoint covers it.'

/** Formats the report for a reader. */
export function receiptText({ receipts, findings, notes, shown }: ReceiptFilesReport): string {
  const lines = findings.map(({ fault, position, detail }) => {
    const place = position === null ? '' : ` at position ${position}`
    return `${fault}${place}: ${detail}`
  })
  const result = findings.length === 0 ? 'Nothing was found.' : `${countOf(findings.length)}.`
  const verified =
    receipts === 1 ? '1 receipt was verified.' : `${receipts} receipts were verified.`
  const all = [...lines, ...shown, ...notes, `${verified} ${result}`]
  return all.map((line) => `${printable(line)}\n`).join('')
}

type ReceiptFile = {
  readonly path: string
  readonly receipts: readonly Receipt[]
  readonly proofs: readonly ConsistencyProof[]
  readonly rotations: readonly string[]
  readonly isStatement: boolean
  /** The last revision of the account, as the site names it. */
  readonly lastRevision: number
}

/** The receipts of one account from all files, each revision once. */
type Statement = { readonly receipts: readonly Receipt[]; readonly lastRevision: number }

function statementsOf(files: readonly ReceiptFile[]): readonly Statement[] {
  const streams = new Map<string, { receipts: Map<string, Receipt>; lastRevision: number }>()
  for (const { receipts, isStatement, lastRevision } of files) {
    if (!isStatement || receipts.length === 0) continue
    const stream = String(receipts[0]?.record?.stream)
    const statement = streams.get(stream) ?? { receipts: new Map(), lastRevision: 0 }
    streams.set(stream, statement)
    statement.lastRevision = Math.max(statement.lastRevision, lastRevision)
    for (const receipt of receipts) {
      const { record, leaf_hash: leaf } = receipt
      statement.receipts.set(`${record?.revision} ${leaf}`, receipt)
    }
  }
  return [...streams.values()].map(({ receipts, lastRevision }) => {
    return { receipts: [...receipts.values()], lastRevision }
  })
}

/** A new account has no events, and the site names -1 as its last revision. */
const isEmpty = ({ receipts, isStatement, lastRevision }: ReceiptFile): boolean =>
  receipts.length === 0 && !(isStatement && lastRevision === -1)

const emptyFile = ({ path }: ReceiptFile): ReceiptFinding => ({
  ...{ fault: 'missing', position: null, detail: `${path} has no receipts` },
})

function shownByStatement({ receipts, lastRevision }: Statement): string[] {
  const sorted = receipts.toSorted((a, b) => a.record.revision - b.record.revision)
  const [first, last] = [sorted[0], sorted.at(-1)]
  if (first === undefined || last === undefined) return []
  const { stream, revision } = last.record
  const from = first.record.revision
  const sentences = [
    `${stream}, revisions ${from} to ${revision}: none is missing between them. ` +
      `Afterwards the balance is ${last.balance_after}, held ${last.held_after}.`,
  ]
  if (from > 0) sentences.push(`Not shown: what happened before revision ${from}.`)
  if (lastRevision > revision) {
    sentences.push(`Not shown: the revisions ${revision + 1} to ${lastRevision}.`)
  }
  return sentences
}

const shownByOne = ({ record, balance_after: balance, held_after: held }: Receipt): string =>
  `${record.stream}, revision ${record.revision}: ${record.type} at position ${record.position}. ` +
  (balance === null ? '' : `Afterwards the balance is ${balance}, held ${held}.`)

/** Reads the answer of the API, or its member `data`, or a single receipt. */
function readReceipts(path: string): ReceiptFile {
  if (statSync(path).size > FILE_BYTES_MAX) throw new Error(`${path} is too large`)
  const content = parsed(path) as { readonly data?: unknown } | null
  const answer = (content?.data ?? content) as {
    readonly items?: readonly Receipt[]
    readonly last_revision?: number
    readonly consistency?: ConsistencyProof | null
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
  const proofs = answer?.consistency == null ? [] : [answer.consistency]
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
