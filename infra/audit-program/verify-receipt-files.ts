import { readFileSync, statSync } from 'node:fs'
import {
  type ConsistencyProof,
  compareReceipts,
  type Receipt,
  type ReceiptFinding,
  type ReceiptKeys,
  verifyChain,
  verifyReceipt,
} from './verify-receipts.ts'

export type ReceiptFilesReport = {
  readonly receipts: number
  readonly findings: readonly ReceiptFinding[]
}

const FILE_BYTES_MAX = 64 * 1024 * 1024

/**
 * Verifies the receipts in files: those of one file by themselves, as a statement if they are of
 * contiguous revisions, and those of different files against each other. A file has the answer of
 * `GET /api/audit/receipts` or `GET /api/ledger/self/receipts`.
 */
export function verifyReceiptFiles(
  paths: readonly string[],
  keys: ReceiptKeys,
): ReceiptFilesReport {
  const files = paths.map(readReceipts)
  const rotations = files.flatMap((file) => file.rotations)
  const ringed: ReceiptKeys = { ...keys, rotations: [...(keys.rotations ?? []), ...rotations] }
  const findings: ReceiptFinding[] = []
  for (const { receipts, isStatement } of files) {
    if (isStatement) findings.push(...verifyChain(receipts, ringed))
    else findings.push(...receipts.flatMap((receipt) => verifyReceipt(receipt, ringed).findings))
  }
  const receipts = files.flatMap((file) => file.receipts)
  const isFormValid = findings.every(({ fault }) => fault !== 'form')
  if (files.length > 1 && isFormValid) {
    findings.push(
      ...compareReceipts(
        receipts,
        [],
        files.flatMap(({ proofs }) => proofs),
      ),
    )
  }
  return { receipts: receipts.length, findings }
}

/** Formats the report for a reader. */
export function receiptText({ receipts, findings }: ReceiptFilesReport): string {
  const lines = findings.map(({ fault, position, detail }) => {
    const place = position === null ? '' : ` at position ${position}`
    return `${fault}${place}: ${detail}\n`
  })
  const result = findings.length === 0 ? 'Nothing was found.' : `${findings.length} findings.`
  return `${lines.join('')}${receipts} receipts were verified. ${result}\n`
}

type ReceiptFile = {
  readonly receipts: readonly Receipt[]
  readonly proofs: readonly ConsistencyProof[]
  readonly rotations: readonly string[]
  readonly isStatement: boolean
}

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
  return { receipts, proofs, rotations, isStatement: answer?.last_revision !== undefined }
}

function parsed(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    throw new Error(`${path} is not JSON`)
  }
}
