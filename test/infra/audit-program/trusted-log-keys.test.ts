import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type CodedFinding, englishText } from '#domain/audit/finding-texts.ts'
import { parseSignedCheckpoint } from '#infra/audit-program/signed-checkpoint.ts'
import { KeyRing, rotationLine } from '#infra/audit-program/trusted-log-keys.ts'
import { checkpointBody, createNoteSigner, noteOf } from '#infra/transparency-log/note-signer.ts'

const ROOT = Buffer.alloc(32, 3)
const signer = (name = 'site.example') => createNoteSigner(name, randomBytes(32))
const [first, second, third, stranger] = [signer(), signer(), signer(), signer()]
type Signer = typeof first

const checkpoint = (size: number, ...signers: Signer[]) => {
  const body = checkpointBody('site.example', size, ROOT)
  const lines = signers.map((one) => one.sign(body))
  return parseSignedCheckpoint(noteOf(body, lines))
}

function rotation(size: number, from: Signer, to: Signer, signers = [from, to]): string {
  const line = rotationLine(from.verifierKey, to.verifierKey)
  const body = `${checkpointBody('site.example', size, ROOT)}${line}`
  return noteOf(
    body,
    signers.map((one) => one.sign(body)),
  )
}

const sentence = (fault: CodedFinding | null) => fault && englishText(fault)

const ROTATIONS = [rotation(100, first, second), rotation(200, second, third)]

describe('the keys of a log', () => {
  it.each([
    ['the first', first],
    ['the second', second],
    ['the last', third],
  ])('are in force between their rotations if %s is trusted', (_, trusted) => {
    const ring = new KeyRing([trusted.verifierKey], ROTATIONS.toReversed())
    expect(ring.faults).toEqual([])
    const isAccepted = (size: number, by: Signer) =>
      ring.signatureFault(checkpoint(size, by)) === null
    const accepted = (by: Signer) => [1, 100, 101, 200, 201].map((size) => isAccepted(size, by))
    expect(accepted(first)).toEqual([true, true, false, false, false])
    expect(accepted(second)).toEqual([false, true, true, true, false])
    expect(accepted(third)).toEqual([false, false, false, true, true])
    expect(accepted(stranger)).toEqual([false, false, false, false, false])
    expect(sentence(ring.signatureFault(checkpoint(101, first)))).toContain('retired at size 100')
  })

  it('are only the trusted one without rotations', () => {
    const ring = new KeyRing([third.verifierKey])
    expect(ring.signatureFault(checkpoint(1, third))).toBe(null)
    expect(sentence(ring.signatureFault(checkpoint(1, first)))).toContain('not signed')
  })

  it('sign checkpoints of their own log only', () => {
    const body = checkpointBody('shadow.example', 5, ROOT)
    const shadow = parseSignedCheckpoint(noteOf(body, [first.sign(body)]))
    const fault = new KeyRing([first.verifierKey]).signatureFault(shadow)
    expect(fault).toMatchObject({
      code: 'SignerOfOtherLog',
      params: { origin: 'shadow.example', key: 'site.example' },
    })
  })

  it.each([
    ['is not signed by the old key', rotation(100, first, second, [second])],
    ['is not signed by the new key', rotation(100, first, second, [first])],
    ['leads to no trusted key', rotation(100, stranger, signer())],
    ['names one key twice', rotation(100, first, first)],
    ['names a key of another log', rotation(100, first, signer('other.example'))],
    ['is malformed', 'nothing'],
  ])('do not follow a rotation that %s', (_, note) => {
    const ring = new KeyRing([first.verifierKey], [note])
    expect(ring.faults).toHaveLength(1)
    expect(ring.signatureFault(checkpoint(500, first))).toBe(null)
    expect(ring.signatureFault(checkpoint(500, second))).not.toBe(null)
  })

  it('have one successor each, so that a stolen old key cannot name another one', () => {
    const stolen = rotation(150, first, stranger)
    const ring = new KeyRing([third.verifierKey], [...ROTATIONS, stolen])
    expect(ring.faults.map(sentence)).toEqual([expect.stringContaining('100 and 150')])
    expect(sentence(ring.signatureFault(checkpoint(300, stranger)))).toContain('not signed')
    const twice = new KeyRing([third.verifierKey], [...ROTATIONS, ...ROTATIONS])
    expect(twice.faults).toEqual([])
  })

  it('must be connected if two of one log are trusted, because both would be in force', () => {
    const both = [first.verifierKey, third.verifierKey]
    expect(new KeyRing(both).faults).toHaveLength(1)
    expect(new KeyRing(both, ROTATIONS).faults).toEqual([])
  })
})
