import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { runVerifier } from '#infra/audit-program/offline-verifier.ts'
import { leafHash, type StoredRecord } from '#infra/audit-program/stored-record.ts'
import { receiptText, verifyReceiptFiles } from '#infra/audit-program/verify-receipt-files.ts'
import type { Receipt } from '#infra/audit-program/verify-receipts.ts'
import { checkpointSigner, type Signer } from './checkpoint-signer.ts'
import { consistencyPath, inclusionPath, rootOf } from './naive-tree.ts'

const folder = mkdtempSync(join(tmpdir(), 'receipts-'))
afterAll(() => rmSync(folder, { recursive: true }))

const site = checkpointSigner('site.example.com')
const witnesses = [1, 2, 3].map((n) => checkpointSigner(`witness-${n}.example.com`, 4))
const [first, second, third] = witnesses.map(({ key }) => key) as [string, string, string]
const KEYS = { site: [site.key] }

/** The account 7 gets 1 000, and each later event takes 10 from it. */
const HISTORY: readonly StoredRecord[] = Array.from({ length: 12 }, (_, index) => ({
  ...{ position: index + 1, stream: 'account-7', revision: index, id: `id-${index}` },
  ...{ type: index === 0 ? 'QuotaGranted' : 'QuotaDeducted' },
  ...{ v: 1, at: index, actor: 'user:1', cause: null },
  data: JSON.stringify({
    ...{ userId: 7, ...(index === 0 ? movementOf(1_000) : movementOf(-10)) },
    ...{ balanceAfter: 1_000 - 10 * index, heldAfter: 0 },
  }),
}))

function movementOf(quota: number) {
  const postings = [
    ['user:7:main', quota],
    ['site', -quota],
  ]
  return { amount: Math.abs(quota), postings }
}

/** The receipt of an event in the tree of the first `size` events, signed by two witnesses. */
function receiptOf(index: number, size: number): Receipt {
  const leaves = HISTORY.slice(0, size).map(leafHash)
  const record = HISTORY[index] as StoredRecord
  const root = rootOf(leaves)
  const cosigned = witnesses
    .slice(0, 2)
    .map((witness) => witness.sign(size, root, 'site.example.com').split('\n\n')[1])
  const { balanceAfter, heldAfter } = JSON.parse(record.data)
  const hashes = inclusionPath(index, leaves).map((hash) => hash.toString('base64'))
  return {
    ...{ record, leaf_hash: leafHash(record).toString('base64'), is_pending: false },
    ...{ balance_after: balanceAfter, held_after: heldAfter },
    inclusion: { leaf_index: index, tree_size: size, hashes },
    signed_checkpoint: `${site.sign(size, root)}${cosigned.join('')}`,
  }
}

const proof = (from: number, to: number) => ({
  ...{ old_size: from, new_size: to },
  hashes: consistencyPath(from, HISTORY.slice(0, to).map(leafHash)).map((hash) =>
    hash.toString('base64'),
  ),
})

/** The receipt of an event that no signed checkpoint covers yet. */
const unsealedReceipt = (index: number): Receipt => ({
  ...{ ...receiptOf(index, 12), is_pending: true },
  ...{ inclusion: null, signed_checkpoint: null },
})

/** The time of verification at which all events of the history are new. */
const FRESH = 60_000

let files = 0
function fileOf(answer: object): string {
  files += 1
  const path = join(folder, `${files}.json`)
  writeFileSync(path, JSON.stringify({ data: answer }))
  return path
}

/** A page of `GET /api/ledger/self/receipts`. */
const page = (from: number, to: number, size: number, consistency: object | null = null) =>
  fileOf({
    ...{ stream: 'account-7', last_revision: HISTORY.length - 1, consistency },
    items: Array.from({ length: to - from + 1 }, (_, n) => receiptOf(from + n, size)),
  })

const faultsOf = (paths: readonly string[], keys: object = {}, now = FRESH) =>
  verifyReceiptFiles(paths, { ...KEYS, ...keys }, now).findings.map(({ fault }) => fault)

/** Runs the verifier with the key of the site. */
async function run(...args: readonly string[]): Promise<[code: number, text: string]> {
  const output = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const clock = vi.spyOn(Date, 'now').mockReturnValue(FRESH)
  try {
    const code = await runVerifier([...args, '--key', site.key])
    return [code, output.mock.calls.join('')]
  } finally {
    clock.mockRestore()
    output.mockRestore()
  }
}

describe('receipts in files', () => {
  it('of one account in several pages are one statement, and say what they show', () => {
    const report = verifyReceiptFiles([page(0, 4, 8), page(4, 9, 12, proof(8, 12))], KEYS)
    expect(report).toMatchObject({ receipts: 11, findings: [] })
    expect(receiptText(report)).toBe(
      [
        'account-7, revisions 0 to 9: none is missing between them. ',
        'Afterwards the balance is 910, held 0.\n',
        'Not shown: the revisions 10 to 11.\n',
        '11 receipts were verified. Nothing was found.\n',
      ].join(''),
    )
  })

  it('show a revision that is missing between two pages', () => {
    expect(faultsOf([page(0, 4, 12), page(6, 9, 12)])).toEqual(['missing', 'balance'])
  })

  it('show that the trees of two pages may not continue each other', () => {
    expect(faultsOf([page(0, 4, 8), page(5, 9, 12)])).toEqual(['unproven'])
  })

  it('are all verified, also those that are there twice', () => {
    const changed = receiptOf(2, 12)
    const record = { ...changed.record, actor: 'user:2' }
    const items = [{ ...changed, record }]
    const twice = fileOf({ last_revision: 11, items })
    expect(faultsOf([page(0, 4, 12), twice])).toEqual(['record', 'inclusion'])
    expect(faultsOf([twice, page(0, 4, 12)])).toEqual(['record', 'inclusion'])
  })

  it('need the signatures of all witnesses that the caller names, or of a quorum', () => {
    const one = [fileOf({ items: [receiptOf(3, 12)] })]
    expect(faultsOf(one, { witnesses: [first, second] })).toEqual([])
    expect(faultsOf(one, { witnesses: [first, third] })).toEqual(['witness'])
    expect(faultsOf(one, { witnesses: [first, third], quorum: 1 })).toEqual([])
    expect(faultsOf(one, { witnesses: [third] })).toEqual(['witness'])
  })

  it('count a witness once, however often and under which names its key is given', async () => {
    const renamed = (witnesses[0] as Signer).renamed('witness-4.example.com')
    const receipt = receiptOf(3, 12)
    const root = rootOf(HISTORY.map(leafHash))
    const [, again] = renamed.sign(12, root, 'site.example.com').split('\n\n')
    const note = `${receipt.signed_checkpoint}${again}`
    const one = [fileOf({ items: [{ ...receipt, signed_checkpoint: note }] })]
    for (const other of [first, renamed.key]) {
      const keys = { witnesses: [first, other, third] }
      expect(faultsOf(one, { ...keys, quorum: 1 })).toEqual([])
      expect(faultsOf(one, { ...keys, quorum: 2 })).toEqual(['witness'])
      expect(faultsOf(one, { witnesses: [first, other] })).toEqual([])
      const named = [first, other].flatMap((key) => ['--witness', key])
      const [code] = await run('--receipt', one[0] as string, ...named, '--quorum', '2')
      expect(code).toBe(2)
    }
  })

  it('of the newest events may be unsealed, which is noted and not a finding', async () => {
    const items = [receiptOf(9, 10), unsealedReceipt(10), unsealedReceipt(11)]
    const path = fileOf({ last_revision: 11, items })
    const report = verifyReceiptFiles([path], { ...KEYS, witnesses: [first] }, FRESH)
    expect(report).toMatchObject({ receipts: 3, proved: 1, findings: [] })
    expect(report.notes).toHaveLength(2)
    const [code, text] = await run('--receipt', path, '--witness', first)
    expect(code).toBe(0)
    expect(text).toContain('account-7, revision 11: the event at position 12 is not sealed yet:')
    expect(text).toContain('3 receipts were verified. 1 is proved, 2 are not sealed yet. Nothing')
  })

  it('show no more than what the last proved one shows', async () => {
    const items = [receiptOf(8, 10), receiptOf(9, 10), unsealedReceipt(10), unsealedReceipt(11)]
    const [, text] = await run('--receipt', fileOf({ last_revision: 13, items }))
    expect(text.split('\n').slice(0, 4)).toEqual([
      'account-7, revisions 8 to 9: none is missing between them. ' +
        'Afterwards the balance is 910, held 0.',
      'Not shown: what happened before revision 8.',
      'Not proved: the revisions 10 to 11, not sealed yet.',
      'Not shown: the revisions 12 to 13.',
    ])
  })

  it('prove nothing if all are unsealed', async () => {
    const [code, text] = await run('--receipt', fileOf({ items: [unsealedReceipt(11)] }))
    expect([code, text]).toEqual([1, expect.stringContaining('verify it again in a minute')])
    expect(text).toContain('1 receipt was verified. It is not proved: 1 is not sealed yet.\n')
    const items = [unsealedReceipt(10), unsealedReceipt(11)]
    const path = fileOf({ last_revision: 11, items })
    for (const args of [[], ['--witness', first], ['--witness', first, '--quorum', '1']]) {
      const [codeOfAll, textOfAll] = await run('--receipt', path, ...args)
      expect(codeOfAll).toBe(1)
      expect(textOfAll).toContain('account-7: none of the revisions 10 to 11 is proved.\n')
      expect(textOfAll).toContain('None of them is proved: 2 are not sealed yet.\n')
      expect(textOfAll).not.toMatch(/balance|Nothing was found/)
    }
  })

  it('may not be unsealed if the event is not new, or of the future', () => {
    const all = Array.from({ length: 12 }, (_, index) => unsealedReceipt(index))
    const path = fileOf({ last_revision: 11, items: all })
    expect(faultsOf([path], {}, 130_000)).toEqual(all.map(() => 'pending'))
    const last = fileOf({ items: [receiptOf(10, 11), unsealedReceipt(11)] })
    expect(faultsOf([last], {}, 120_011)).toEqual([])
    expect(faultsOf([last], {}, 120_012)).toEqual(['pending'])
    expect(faultsOf([last], {}, -119_989)).toEqual([])
    expect(faultsOf([last], {}, -119_990)).toEqual(['pending'])
  })

  it('that were unsealed are proved by later receipts of the same events', () => {
    const [before, after] = [fileOf({ items: [unsealedReceipt(9)] }), page(8, 11, 12)]
    for (const paths of [
      [before, after],
      [after, before],
    ]) {
      const report = verifyReceiptFiles(paths, KEYS)
      expect(report).toMatchObject({ receipts: 5, proved: 5, findings: [], notes: [] })
    }
    const early = fileOf({ last_revision: 11, items: [receiptOf(8, 12), unsealedReceipt(9)] })
    for (const paths of [
      [early, after],
      [after, early],
    ]) {
      const [shown] = verifyReceiptFiles(paths, KEYS).shown
      expect(shown).toContain('account-7, revisions 8 to 11: none is missing')
    }
    const other = checkpointSigner('site.example.com')
    expect(faultsOf([before, after], { site: [other.key] })).toContain('pending')
  })

  it('may not be unsealed before a sealed one of the same account', () => {
    const items = [unsealedReceipt(9), receiptOf(10, 12), unsealedReceipt(11)]
    const report = verifyReceiptFiles([fileOf({ last_revision: 11, items })], KEYS, FRESH)
    expect(report.findings).toMatchObject([{ fault: 'pending', position: 10 }])
    expect(report.notes).toHaveLength(1)
    expect(receiptText(report)).toContain('3 receipts were verified. 1 finding.\n')
    const pages = [unsealedReceipt(9), receiptOf(10, 12)].map((one) => fileOf({ items: [one] }))
    expect(faultsOf(pages)).toEqual(['pending'])
  })

  it('may not lack the proof if they claim to be sealed', () => {
    const { inclusion, signed_checkpoint: note } = receiptOf(11, 12)
    for (const part of [
      { is_pending: false },
      { is_pending: 'true' },
      { is_pending: undefined },
      { inclusion },
      { signed_checkpoint: note },
    ]) {
      const path = fileOf({ last_revision: 11, items: [{ ...unsealedReceipt(11), ...part }] })
      expect(faultsOf([path])).toEqual(['pending'])
    }
  })

  it('that are unsealed must still agree with their record and with each other', () => {
    const changed = { ...unsealedReceipt(11), balance_after: 5 }
    expect(faultsOf([fileOf({ items: [changed] })])).toEqual(['record'])
    const items = [receiptOf(9, 10), unsealedReceipt(11)]
    expect(faultsOf([fileOf({ last_revision: 11, items })])).toEqual(['missing', 'balance'])
    const formless = { ...unsealedReceipt(11), record: null }
    expect(faultsOf([fileOf({ items: [formless] })])).toEqual(['form'])
  })

  it('are not verified if there are none, unless the account is new', () => {
    expect(faultsOf([fileOf({ last_revision: 11, items: [] })])).toEqual(['missing'])
    expect(faultsOf([fileOf({ items: [] })])).toEqual(['missing'])
    expect(faultsOf([fileOf({ last_revision: -1, items: [] })])).toEqual([])
  })

  it('are not verified with a malformed key, which is one error of the caller', async () => {
    const paths = [page(0, 4, 12), page(5, 9, 12)].flatMap((path) => ['--receipt', path])
    const [output, errors] = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')]
    for (const spy of [output, errors]) spy.mockReturnValue(true)
    try {
      for (const keys of [
        ['--key', 'nonsense'],
        ['--key', site.key, '--witness', 'nonsense'],
      ]) {
        errors.mockClear()
        expect(await runVerifier([...paths, ...keys])).toBe(2)
        expect(errors.mock.calls).toEqual([[expect.stringMatching(/^a key has the form.*\n$/)]])
      }
      expect(output).not.toHaveBeenCalled()
    } finally {
      for (const spy of [output, errors]) spy.mockRestore()
    }
  })

  it('can not write to the terminal of the reader', () => {
    const receipt = receiptOf(1, 12)
    const stream = 'account-7\u001b[2J\u202eNothing was found.'
    const record = { ...receipt.record, stream }
    const path = fileOf({ last_revision: 11, items: [receiptOf(0, 12), { ...receipt, record }] })
    const text = receiptText(verifyReceiptFiles([path], KEYS))
    expect(text).toContain('\\u001b[2J\\u202e')
    expect(text).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u)
  })
})
