import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { applyToAudit } from '#domain/audit/apply-events-to-audit.ts'
import { Findings } from '#domain/audit/findings.ts'
import { initialAudit } from '#domain/audit/state.ts'
import { eventOf, leafHash, type StoredRecord } from '#infra/audit-program/stored-record.ts'
import {
  compareReceipts,
  type Receipt,
  type ReceiptFinding,
  verifyReceipt,
} from '#infra/audit-program/verify-receipts.ts'
import { isConsistent, isIncluded } from '#infra/transparency-log/merkle-tree.ts'
import { verifyChain } from '#test/support/verify-receipt-chain.ts'
import { checkpointSigner } from './checkpoint-signer.ts'
import { consistencyPath, inclusionPath, rootOf } from './naive-tree.ts'

const site = checkpointSigner('site.example.com')
const witness = checkpointSigner('witness.example.com', 4)
const KEYS = { site: [site.key], witnesses: [witness.key] }

type Movement = readonly [userId: number, main: number, held: number, fields?: object]

/** The records of a history in which each account starts with 0. */
function historyOf(movements: readonly Movement[]): StoredRecord[] {
  const accounts = new Map<number, { revision: number; main: number; held: number }>()
  return movements.map(([userId, main, held, fields], index) => {
    const before = accounts.get(userId) ?? { revision: -1, main: 0, held: 0 }
    const { revision, ...sums } = before
    const after = { revision: revision + 1, main: sums.main + main, held: sums.held + held }
    accounts.set(userId, after)
    const { type, source, ...amounts } = eventMoving(main, held)
    const postings = [
      [`user:${userId}:main`, main],
      [`user:${userId}:held`, held],
      [source, -main - held],
    ]
    const balances = { balanceAfter: after.main, heldAfter: after.held }
    return {
      ...{ position: index + 1, stream: `account-${userId}`, revision: after.revision },
      ...{ id: `id-${index}`, type, v: 1, at: 1_000 + index, actor: 'user:1' },
      cause: null,
      data: JSON.stringify({ userId, ...amounts, postings, ...balances, ...fields }),
    }
  })
}

/** The event that moves these amounts, and the account from which it takes them. */
function eventMoving(main: number, held: number) {
  if (held > 0) return { type: 'CallAdmitted', source: 'revenue', hold: held }
  if (held < 0) {
    return { type: 'CallSettled', source: 'revenue', hold: -held, charge: -held - main }
  }
  return main < 0
    ? { type: 'QuotaDeducted', source: 'site', amount: -main }
    : { type: 'QuotaGranted', source: 'site', amount: main }
}

/** The receipt of a record in the tree of the first `size` records. */
function receiptOf(
  history: readonly StoredRecord[],
  index: number,
  size = history.length,
): Receipt {
  const leaves = history.slice(0, size).map(leafHash)
  const record = history[index] as StoredRecord
  const { balanceAfter = null, heldAfter = null } = JSON.parse(record.data)
  const note = site.sign(size, rootOf(leaves))
  const [, cosigned] = witness.sign(size, rootOf(leaves), 'site.example.com').split('\n\n')
  return {
    record,
    leaf_hash: (leaves[index] as Buffer).toString('base64'),
    ...{ balance_after: balanceAfter, held_after: heldAfter, is_pending: false },
    inclusion: {
      ...{ leaf_index: index, tree_size: size },
      hashes: inclusionPath(index, leaves).map((hash) => hash.toString('base64')),
    },
    signed_checkpoint: `${note}${cosigned}`,
  }
}

const proofOf = (history: readonly StoredRecord[], from: number, to: number) => ({
  ...{ old_size: from, new_size: to },
  hashes: consistencyPath(from, history.slice(0, to).map(leafHash)).map((hash) =>
    hash.toString('base64'),
  ),
})
const faults = (findings: readonly ReceiptFinding[]) => findings.map(({ fault }) => fault)

const HISTORY = historyOf([
  [7, 1_000, 0],
  [8, 500, 0],
  [7, -300, 300],
  [7, 180, -300],
  [8, -20, 0],
  [7, -50, 0],
  [7, 5, 0],
])
const OF_7 = [0, 2, 3, 5, 6]

describe('proofs of a tree', () => {
  const leaves = Array.from({ length: 70 }, (_, n) => createHash('sha256').update(`${n}`).digest())

  it('lead from every leaf of every size to the root, and from no other leaf', () => {
    for (let size = 1; size <= leaves.length; size += 1) {
      const all = leaves.slice(0, size)
      for (const index of [0, size >> 1, size - 1]) {
        const path = inclusionPath(index, all)
        const place = { index, size, root: rootOf(all) }
        const leaf = leaves[index] as Buffer
        expect(isIncluded(place, leaf, path)).toBe(true)
        expect(isIncluded(place, leaves[(index + 1) % 70] as Buffer, path)).toBe(false)
        expect(isIncluded(place, leaf, [...path, leaf])).toBe(false)
        if (path.length > 0) expect(isIncluded(place, leaf, path.slice(1))).toBe(false)
      }
    }
  })

  it('show that one tree continues another, and never that it does not', () => {
    for (let later = 1; later <= 40; later += 1) {
      const all = leaves.slice(0, later)
      for (let earlier = 1; earlier <= later; earlier += 1) {
        const before = { size: earlier, root: rootOf(leaves.slice(0, earlier)) }
        const after = { size: later, root: rootOf(all) }
        const proof = consistencyPath(earlier, all)
        expect(isConsistent(before, after, proof)).toBe(true)
        const forged = { size: earlier, root: leaves[69] as Buffer }
        expect(isConsistent(forged, after, proof)).toBe(false)
        expect(isConsistent(before, { size: later, root: leaves[69] as Buffer }, proof)).toBe(false)
        if (proof.length > 0) expect(isConsistent(before, after, proof.slice(1))).toBe(false)
      }
    }
  })
})

describe('a receipt', () => {
  it('is verified with the key of the site alone, and counts its witnesses', () => {
    for (const index of HISTORY.keys()) {
      const report = verifyReceipt(receiptOf(HISTORY, index), KEYS)
      expect(report).toEqual({ findings: [], witnesses: 1 })
    }
  })

  it('does not count the key with which the site witnesses other sites', () => {
    const own = checkpointSigner('site.example.com/witness', 4)
    const receipt = receiptOf(HISTORY, 3)
    const root = rootOf(HISTORY.map(leafHash))
    const [, cosigned] = own.sign(HISTORY.length, root, 'site.example.com').split('\n\n')
    const signed = { ...receipt, signed_checkpoint: `${receipt.signed_checkpoint}${cosigned}` }
    const report = verifyReceipt(signed, { ...KEYS, witnesses: [own.key] })
    expect([faults(report.findings), report.witnesses]).toEqual([['witness'], 0])
  })

  it('is refused if one byte of its record, its figures or its proof was changed', () => {
    const receipt = receiptOf(HISTORY, 3)
    const { record, inclusion } = receipt
    const changed = (fields: object): Receipt => ({ ...receipt, ...fields })
    const data = record.data.replace('180', '181')
    const check = (one: Receipt) => faults(verifyReceipt(one, KEYS).findings)
    expect(check(changed({ record: { ...record, data } }))).toEqual(['record', 'inclusion'])
    expect(check(changed({ record: { ...record, at: record.at + 1 } }))).toContain('inclusion')
    expect(check(changed({ balance_after: 881 }))).toEqual(['record'])
    expect(check(changed({ inclusion: { ...inclusion, leaf_index: 2 } }))).toEqual(['inclusion'])
    expect(check(changed({ inclusion: { ...inclusion, hashes: ['x'] } }))).toEqual(['form'])
    expect(check(changed({ inclusion: null, signed_checkpoint: null }))).toEqual(['pending'])
    expect(check(changed({ record: { ...record, revision: '3' } }))).toEqual(['form'])
    expect(check(changed({ record: null }))).toEqual(['form'])
  })

  it('is refused if its event moves quota although its type must not', () => {
    const history = HISTORY.with(2, { ...(HISTORY[2] as StoredRecord), type: 'FeeTaken' })
    const { findings } = verifyReceipt(receiptOf(history, 2), KEYS)
    expect(findings.map(({ fault, detail }) => `${fault}: ${detail}`)).toEqual([
      'record: FeeTaken must not move quota, but it has postings',
    ])
  })

  const postingTo = (userId: number, amount: number) => ({
    postings: [
      [`user:${userId}:main`, amount],
      ['site', -amount],
    ],
  })

  it.each([
    ['differ from its amounts', postingTo(7, 900), ['PostingsDiffer']],
    ['are of another account', postingTo(8, 1_000), ['PostsElsewhere', 'PostingsDiffer']],
    ['do not add up to 0', { postings: [['user:7:main', 1_000]] }, ['PostingsUnbalanced']],
    ['are missing', { postings: undefined }, ['PostingsMissing']],
    ['are of another user', { userId: 8 }, ['OwnerDiffers']],
  ])('is refused if the postings that the site signed %s', (_, fields, codes) => {
    const history = historyOf([[7, 1_000, 0, fields]])
    const { findings } = verifyReceipt(receiptOf(history, 0), KEYS)
    expect(findings.map(({ fault }) => fault)).toEqual(codes.map(() => 'record'))
    const audited = new Findings()
    const event = eventOf(history[0] as StoredRecord)
    applyToAudit(initialAudit(), event, audited)
    const ofPostings = audited.list().filter(({ check }) => check === 'postings')
    expect(ofPostings.map(({ code }) => code)).toEqual(codes)
    expect(findings.map(({ detail }) => detail)).toEqual(ofPostings.map(({ detail }) => detail))
  })

  it('is refused if another key signed its checkpoint', () => {
    const other = checkpointSigner('site.example.com')
    const { findings } = verifyReceipt(receiptOf(HISTORY, 3), { site: [other.key] })
    expect(faults(findings)).toEqual(['signature'])
  })
})

describe('the receipts of contiguous revisions', () => {
  it('are a complete statement', () => {
    expect(
      verifyChain(
        OF_7.map((index) => receiptOf(HISTORY, index)),
        KEYS,
      ),
    ).toEqual([])
  })

  it('show a revision that was left out', () => {
    const receipts = [0, 2, 5, 6].map((index) => receiptOf(HISTORY, index))
    expect(faults(verifyChain(receipts, KEYS))).toEqual(['missing', 'balance', 'balance'])
  })

  it('show a hidden debit between two receipts, even if it is signed and renumbered', () => {
    // The site takes 40 between two events and states the balances after it, but hides the event:
    // the customer gets a history in which the revisions are contiguous.
    const hidden = historyOf([
      [7, 1_000, 0],
      [7, -300, 300],
      [7, 180, -300, { balanceAfter: 840 }],
      [7, -50, 0, { balanceAfter: 790 }],
    ])
    const receipts = hidden.map((_, index) => receiptOf(hidden, index))
    expect(receipts.flatMap((one) => verifyReceipt(one, KEYS).findings)).toEqual([])
    const findings = verifyChain(receipts, KEYS)
    expect(findings).toEqual([
      {
        ...{ fault: 'balance', position: 3 },
        detail: 'balanceAfter is 840, but 880 follows from the movements before',
      },
    ])
  })

  it('show a debit that was hidden in the first event', () => {
    const hidden = historyOf([
      [7, 1_000, 0, { balanceAfter: 100 }],
      [7, -10, 0, { balanceAfter: 90 }],
    ])
    const receipts = hidden.map((_, index) => receiptOf(hidden, index))
    expect(verifyChain(receipts, KEYS)).toEqual([
      {
        ...{ fault: 'balance', position: 1 },
        detail: 'balanceAfter is 100, but 1000 follows from the movements before',
      },
    ])
  })

  it('of another account among them are refused', () => {
    const findings = verifyChain([receiptOf(HISTORY, 0), receiptOf(HISTORY, 4)], KEYS)
    expect(faults(findings)).toContain('missing')
  })
})

describe('two histories shown to two customers', () => {
  const forked = HISTORY.map((record) =>
    record.position === 2 ? { ...record, data: record.data.replaceAll('500', '400') } : record,
  )

  it('are found by comparing receipts of the same size', () => {
    const ours = [receiptOf(HISTORY, 2)]
    expect(compareReceipts(ours, [receiptOf(HISTORY, 4)])).toEqual([])
    const theirs = [receiptOf(forked, 4)]
    expect(theirs.flatMap((one) => verifyReceipt(one, KEYS).findings)).toEqual([])
    expect(faults(compareReceipts(ours, theirs))).toEqual(['fork'])
  })

  it('are found at different sizes, since no proof of consistency exists', () => {
    const ours = [receiptOf(HISTORY, 2, 4)]
    expect(compareReceipts(ours, [receiptOf(HISTORY, 4)], [proofOf(HISTORY, 4, 7)])).toEqual([])
    const theirs = [receiptOf(forked, 4)]
    expect(faults(compareReceipts(ours, theirs))).toEqual(['unproven'])
    for (const history of [HISTORY, forked]) {
      expect(faults(compareReceipts(ours, theirs, [proofOf(history, 4, 7)]))).toEqual(['fork'])
    }
  })

  it('are found if both have an event at one position', () => {
    const findings = compareReceipts([receiptOf(HISTORY, 1)], [receiptOf(forked, 1)])
    expect(faults(findings)).toEqual(['fork', 'fork', 'fork', 'fork'])
  })
})
