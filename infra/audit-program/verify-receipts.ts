import { postingFaults } from '#domain/audit/check-accounts.ts'
import { englishText } from '#domain/audit/finding-texts.ts'
import { isConsistent, isIncluded } from '../transparency-log/merkle-tree.ts'
import {
  countDifferentKeys,
  countSigners,
  parseSignedCheckpoint,
  parseVerifierKey,
} from './signed-checkpoint.ts'
import { eventOf, leafHash, recordOf, type StoredRecord } from './stored-record.ts'
import { KeyRing } from './trusted-log-keys.ts'

/**
 * A receipt as `GET /api/audit/receipts` and `GET /api/ledger/self/receipts` return it. Hashes are
 * in base64.
 */
export type Receipt = {
  readonly record: StoredRecord
  readonly leaf_hash: string
  readonly balance_after: number | null
  readonly held_after: number | null
  readonly is_pending: boolean
  readonly inclusion: {
    readonly leaf_index: number
    readonly tree_size: number
    readonly hashes: readonly string[]
  } | null
  readonly signed_checkpoint: string | null
}

/**
 * Public keys as the site and its witnesses publish them, in the form `name+hash+key` of C2SP
 * signed-note.
 */
export type ReceiptKeys = {
  readonly site: readonly string[]
  /**
   * The witnesses whose signatures are required. `quorum` of them must have signed, or all if
   * `quorum` is omitted. A key counts once, even if it is given under several names.
   */
  readonly witnesses?: readonly string[]
  readonly quorum?: number
  /** The signed notes in which the site replaced its key, from the responses with the receipts. */
  readonly rotations?: readonly string[]
}

export type ReceiptFault =
  /** The record or the receipt has a wrong format. */
  | 'form'
  /**
   * The leaf hash or the balances do not match the record. Or the postings of the event contradict
   * its type, its owner or its amounts.
   */
  | 'record'
  /**
   * The receipt has no proof. If `isUnsealed` is true, the receipt states that its event is not
   * sealed yet.
   */
  | 'pending'
  /** The inclusion proof does not lead to the root of the signed checkpoint. */
  | 'inclusion'
  /**
   * No key that the site used at this tree size has signed the checkpoint, or the replacement of a
   * key is invalid.
   */
  | 'signature'
  /** Fewer witnesses than required have signed the checkpoint. */
  | 'witness'
  /**
   * A revision between two receipts is missing, a receipt is of another account, or a file has no
   * receipts.
   */
  | 'missing'
  /** The balance is not the previous balance plus the amount that the event adds. */
  | 'balance'
  /** Two receipts show different histories. */
  | 'fork'
  /** There is no proof that the larger tree of two receipts begins with the smaller one. */
  | 'unproven'

export type ReceiptFinding = {
  readonly fault: ReceiptFault
  /** The position of the record, or null if it is unknown. */
  readonly position: number | null
  readonly detail: string
}

export type ReceiptReport = {
  readonly findings: readonly ReceiptFinding[]
  /** The number of witnesses whose signatures on the checkpoint are valid. */
  readonly witnesses: number
}

/**
 * Reports whether the receipt states that its event is not sealed yet. Such a receipt has no proof.
 */
export const isUnsealed = (receipt: Receipt): boolean =>
  receipt.is_pending === true && receipt.inclusion === null && receipt.signed_checkpoint === null

/** Verifies one receipt. Needs only the keys of the site and no connection to it. */
export function verifyReceipt(receipt: Receipt, keys: ReceiptKeys): ReceiptReport {
  const findings: ReceiptFinding[] = []
  let position: number | null = null
  const report = (fault: ReceiptFault, detail: string): void => {
    findings.push({ fault, position, detail })
  }
  try {
    const record = recordOf(JSON.stringify(receipt.record))
    position = record.position
    verifyRecord(receipt, record, report)
    const witnesses = verifyProof(receipt, record, keys, report)
    return { findings, witnesses }
  } catch (error) {
    report('form', (error as Error).message)
    return { findings, witnesses: 0 }
  }
}

type Report = (fault: ReceiptFault, detail: string) => void

function verifyRecord(receipt: Receipt, record: StoredRecord, report: Report): void {
  if (leafHash(record).toString('base64') !== receipt.leaf_hash) {
    report('record', 'the leaf hash is not that of the record')
  } else {
    // If the record was changed after it was sealed, the finding about its hash is enough. Its
    // postings are therefore not checked.
    for (const fault of postingFaults(eventOf(record))) report('record', englishText(fault))
  }
  const { balanceAfter = null, heldAfter = null } = balancesOf(record)
  if (balanceAfter !== receipt.balance_after || heldAfter !== receipt.held_after) {
    report('record', 'the balances are not those of the record')
  }
}

/**
 * Verifies that the event is in the log, and who signed the checkpoint. Returns the number of
 * witnesses that have signed the checkpoint.
 */
function verifyProof(
  receipt: Receipt,
  record: StoredRecord,
  keys: ReceiptKeys,
  report: Report,
): number {
  const { inclusion, signed_checkpoint: note } = receipt
  if (inclusion === null || note === null) {
    const detail = isUnsealed(receipt)
      ? 'no signed checkpoint covers the event, which a site signs within two minutes'
      : 'the receipt claims that the event is sealed, but lacks the proof'
    report('pending', detail)
    return 0
  }
  const checkpoint = parseSignedCheckpoint(note)
  const ring = new KeyRing(keys.site, keys.rotations)
  for (const fault of ring.faults) report('signature', englishText(fault))
  const fault = ring.signatureFault(checkpoint)
  if (fault !== null) report('signature', englishText(fault))
  for (const rotation of ring.rotations) {
    const isOther = !rotation.checkpoint.root.equals(checkpoint.root)
    if (rotation.size === checkpoint.size && isOther) {
      report('signature', `the rotation of the key at size ${rotation.size} has another tree`)
    }
  }
  const { leaf_index: index, tree_size: size, hashes } = inclusion
  const path = hashes.map(hashOf)
  const place = { index, size, root: checkpoint.root }
  const isCounted = Number.isSafeInteger(index) && size === checkpoint.size
  if (!isCounted || !isIncluded(place, leafHash(record), path)) {
    report('inclusion', `the event is not leaf ${index} of the checkpoint's tree`)
  }
  const witnesses = (keys.witnesses ?? []).map(parseVerifierKey)
  // A key of the site still counts as required, but its signature does not count as the signature
  // of a witness.
  const independent = witnesses.filter((key) => !ring.isKeyOfSite(key))
  const count = countSigners(checkpoint, independent)
  const required = keys.quorum ?? countDifferentKeys(witnesses)
  if (count < required) {
    const signed = `${count} of ${required} required witnesses`
    report('witness', `the checkpoint of size ${checkpoint.size} is signed by ${signed}`)
  }
  return count
}

function hashOf(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== 32) throw new Error('a hash of the proof does not have 32 bytes')
  return bytes
}

/**
 * The site's proof that its tree of `new_size` events begins with its tree of `old_size` events.
 * The hashes are in base64.
 */
export type ConsistencyProof = {
  readonly old_size: number
  readonly new_size: number
  readonly hashes: readonly string[]
}

/**
 * Reports missing revisions, and balances that do not follow from the balances before. The balances
 * before the first event (revision 0) must be 0. Otherwise, a site could hide a debit in this
 * event.
 */
export function compareRevisions(receipts: readonly Receipt[]): readonly ReceiptFinding[] {
  const findings: ReceiptFinding[] = []
  const sorted = receipts.toSorted((a, b) => a.record.revision - b.record.revision)
  const isFromStart = sorted[0]?.record.revision === 0
  const running: Balances = isFromStart ? { balanceAfter: 0, heldAfter: 0 } : {}
  for (const [index, { record }] of sorted.entries()) {
    const before = sorted[index - 1]?.record
    if (before !== undefined) findings.push(...gapsBetween(before, record))
    findings.push(...carryOn(running, record))
  }
  return findings
}

function* gapsBetween(before: StoredRecord, record: StoredRecord): Generator<ReceiptFinding> {
  const { position, stream, revision } = record
  if (stream !== before.stream) {
    yield { fault: 'missing', position, detail: `the event is of ${stream}` }
  } else if (revision !== before.revision + 1) {
    const detail = `revision ${before.revision + 1} of ${stream} is missing before ${revision}`
    yield { fault: 'missing', position, detail }
  }
  if (position <= before.position) {
    yield { fault: 'fork', position, detail: 'a later revision has an earlier position' }
  }
}

type Balances = { balanceAfter?: number; heldAfter?: number }

/**
 * Compares the balances in a record with the previous balances plus the amounts of this record, and
 * updates `running` for the next record.
 */
function* carryOn(running: Balances, record: StoredRecord): Generator<ReceiptFinding> {
  const { position } = record
  const after = balancesOf(record)
  const moved = movementOf(record)
  for (const name of ['balanceAfter', 'heldAfter'] as const) {
    const [before, stated] = [running[name], after[name]]
    const expected = before === undefined ? undefined : before + moved[name]
    if (stated !== undefined && expected !== undefined && stated !== expected) {
      const detail = `${name} is ${stated}, but ${expected} follows from the movements before`
      yield { fault: 'balance', position, detail }
    }
    const next = stated ?? expected
    if (next !== undefined) running[name] = next
  }
}

function balancesOf(record: StoredRecord): Balances {
  const { balanceAfter, heldAfter } = eventOf(record).data as Balances
  return {
    ...(balanceAfter === undefined ? {} : { balanceAfter }),
    ...(heldAfter === undefined ? {} : { heldAfter }),
  }
}

/**
 * Returns the amounts that the postings (ledger entries) of a record add to the balance and to the
 * held quota.
 */
function movementOf(record: StoredRecord): Required<Balances> {
  const { postings = [] } = eventOf(record).data as {
    readonly postings?: readonly (readonly [account: string, amount: number])[]
  }
  const moved = { balanceAfter: 0, heldAfter: 0 }
  for (const [account, amount] of postings) {
    if (/^user:\d+:main$/.test(account)) moved.balanceAfter += amount
    if (/^user:\d+:held$/.test(account)) moved.heldAfter += amount
  }
  return moved
}

/**
 * Compares the receipts of two customers, or of one customer at two times. A site that shows two
 * different histories has signed two root hashes for one tree size, or can't prove that the larger
 * tree begins with the smaller one. `proofs` are the consistency proofs that the site returned for
 * the tree sizes of the receipts.
 */
export function compareReceipts(
  ours: readonly Receipt[],
  theirs: readonly Receipt[],
  proofs: readonly ConsistencyProof[] = [],
): readonly ReceiptFinding[] {
  const findings: ReceiptFinding[] = []
  const leaves = new Map<string, string>()
  const trees = new Map<number, { readonly root: Buffer; readonly position: number }>()
  for (const { record, leaf_hash: leaf, inclusion, signed_checkpoint: note } of [
    ...ours,
    ...theirs,
  ]) {
    const { position } = record
    const fork = (detail: string) => findings.push({ fault: 'fork', position, detail })
    const places = [`position ${position}`, `revision ${record.revision} of ${record.stream}`]
    if (inclusion !== null) places.push(`leaf ${inclusion.leaf_index}`)
    for (const place of places) {
      if ((leaves.get(place) ?? leaf) !== leaf) fork(`two different events are at ${place}`)
      leaves.set(place, leaf)
    }
    if (note === null) continue
    const { size, root } = parseSignedCheckpoint(note)
    const seenTree = trees.get(size)
    if (seenTree !== undefined && !seenTree.root.equals(root)) {
      fork(`the site signed two different trees of size ${size}`)
    }
    trees.set(size, { root, position })
  }
  return [...findings, ...unprovenSizes(trees, proofs)]
}

function* unprovenSizes(
  trees: ReadonlyMap<number, { readonly root: Buffer; readonly position: number }>,
  proofs: readonly ConsistencyProof[],
): Generator<ReceiptFinding> {
  const sizes = [...trees].toSorted(([a], [b]) => a - b)
  for (const [index, [size, { root, position }]] of sizes.entries()) {
    const [smaller, before] = sizes[index - 1] ?? []
    if (smaller === undefined || before === undefined) continue
    const proof = proofs.find((one) => one.old_size === smaller && one.new_size === size)
    const hashes = proof?.hashes.map(hashOf) ?? null
    const isProven =
      hashes !== null && isConsistent({ size: smaller, root: before.root }, { size, root }, hashes)
    const detail =
      hashes === null
        ? `a proof that the tree of size ${size} continues that of size ${smaller} is missing: ` +
          `read the later receipt again with since_size=${smaller}`
        : `the tree of size ${size} does not continue that of size ${smaller}`
    if (!isProven) yield { fault: hashes === null ? 'unproven' : 'fork', position, detail }
  }
}
