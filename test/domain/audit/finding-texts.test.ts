import { describe, expect, it } from 'vitest'
import { grantName, movementName } from '#domain/audit/finding-texts/names-in-finding-texts.ts'
import {
  type FindingCode,
  FindingError,
  findingText,
  type ParamsOf,
} from '#domain/audit/finding-texts.ts'
import { detailIn, Findings } from '#domain/audit/findings.ts'

/** Two values of each param. The type check requires every code and every param. */
type Samples = {
  readonly [Code in FindingCode]: {
    readonly [Name in keyof ParamsOf<Code>]: readonly [ParamsOf<Code>[Name], ParamsOf<Code>[Name]]
  }
}

const count = [3, 4] as const
const amount = [5n, 6n] as const
const text = ['one', 'two'] as const
const movement = ['order 7', 'rebate of order 7 refund 2'] as const
const balance = ['balance', 'held'] as const
const source = ['signed', 'earlier'] as const

/** The events between a checkpoint that agrees and one that differs. */
const RANGE = { from: count, to: count, agreed: count, size: count, count }

const SAMPLES: Samples = {
  DataInvalid: { type: text, reason: text },
  FieldInvalid: { type: text, field: text },
  DataNotJson: {},
  DataNotObject: {},
  LineNotRecord: {},
  Unreadable: { reason: text },
  PositionNotNext: { last: count },
  RevisionNotNext: { last: count },
  RevisionNotFirst: {},
  LastRevisionMissing: { revision: count },
  VerifiedEventsMissing: { first: count, last: count },
  LastEventsMissing: { head: count, last: count },
  PostingsMissing: { type: text },
  PostingsUnexpected: { type: text },
  AmountNegative: { type: text, field: text, amount },
  OwnerDiffers: { userId: text },
  PostingsDiffer: {},
  PostsElsewhere: { account: text },
  PostingAccountUnknown: {},
  PostingsUnbalanced: { sum: amount },
  HeldNegative: { held: amount },
  RewardsNegative: { rewards: amount },
  BalanceDiffers: { balance, recorded: amount, expected: amount },
  TrialBalanceNotZero: { sum: amount },
  GrantRepeated: { grant: ['grant a', 'refund 2 of order 7'] },
  CheckInRepeated: { day: text },
  CallRepeated: { call: text },
  CallNotOpen: { call: text },
  CallOfOtherAccount: { call: text, stream: text },
  CallEndedTwice: { call: text },
  HoldDiffers: { hold: amount, recorded: amount },
  ReturnedHoldDiffers: { returned: amount, hold: amount },
  HoldOverdue: { call: text, hold: amount, minutes: count },
  ChargeDiffers: { call: text, charge: amount, expected: amount },
  PriceDiffers: { call: text },
  UsageNotLastProgress: {},
  CorrectedChargeUnknown: { call: text, charge: amount },
  CorrectionUnknown: { correction: text },
  CallNotInScope: { call: text, correction: text },
  CorrectedChargeDiffers: { call: text, corrected: amount, expected: amount },
  BatchUnknown: { batch: text },
  BatchNotOpen: { batch: text },
  BilledLinesDiffer: { charged: count, billed: count },
  LineNotNew: { line: count, batch: text },
  LineChargeDiffers: { line: count, charge: amount },
  MovementRepeated: { movement, position: count },
  MovementDiffers: { movement, moved: amount, expected: amount },
  AccountEventMissing: { movement },
  SourceMissing: { movement },
  CodeRedeemedAgain: { userId: count },
  CodeUnknown: { code: count },
  CodeUsesDiffer: { code: count, recorded: count, uses: count },
  CodeUsedUp: { code: count, uses: count, max: count },
  CodeQuotaDiffers: { code: count, quota: amount, expected: amount },
  CodeDisabled: { code: count },
  CodeNotYetValid: { code: count },
  CodeExpired: { code: count },
  OrderUnknown: { order: count },
  OrderNotPayable: { order: count },
  RefundsExceedPayment: { movement, remaining: amount },
  OrderPartNotNext: { movement },
  EventDiffersFromSeal: {},
  SealedHashMissing: {},
  EventRemoved: {},
  EventsRemoved: { count },
  LeavesRemoved: { leaf: count },
  LeafDiffers: { leaf: count },
  TileMissing: { tile: text, first: count, last: count },
  TilesMissing: { firstTile: count, lastTile: count, first: count, last: count },
  RootTileMissing: { size: count, tile: text },
  RebuiltTileDiffers: { tile: text, first: count, last: count },
  TileDiffers: { tile: text, position: count },
  EventsNotSealed: { size: count },
  SealedEventsMissing: { sealed: count, events: count },
  EarlierRootDiffers: { size: count },
  WitnessRefused: { witness: text, size: count },
  WitnessAcknowledged: { witness: text, size: count },
  WitnessUnreadable: {},
  VerifiedLogDiffers: { size: count },
  CheckpointUnsigned: { source },
  CheckpointIncomplete: { source },
  SignatureMalformed: { source },
  StoredCheckpointMalformed: { size: count, position: count },
  StoredCheckpointDiffers: { size: count, position: count },
  EventsDifferFromCheckpoints: RANGE,
  TilesDifferFromCheckpoints: RANGE,
  CheckpointDiffers: { source, size: count },
  CheckpointDiffersAfter: { source, size: count, agreed: count },
  CheckpointEventsMissing: { source, size: count, events: count },
  NextCheckpointDiffers: { size: count },
  SignerUnknown: { source, size: count },
  SignerOfOtherLog: {
    ...{ source, size: count },
    origin: ['other.example.com', 'shadow.example.com'],
    key: ['site.example.com', 'my.example.com'],
  },
  SignerRetired: { source, size: count, until: count },
  SignerNotInForce: { source, size: count, from: count },
  EventsNotSigned: { size: count },
  EventsNotWitnessed: { size: count, quorum: count },
  LogKeyRetired: {},
  LogKeyDiffers: {},
  KeyMalformed: {},
  KeyHashDiffers: { name: text, id: text, expected: text },
  KeyNotOfWitness: { name: text },
  WitnessKeyOfSite: { name: text },
  RotationKeysEqual: {},
  RotationOfOtherLog: {},
  RotationUnsigned: { size: count },
  RotationUntrusted: { size: count },
  RotationMissing: {},
  RotationsContradict: { size: count, otherSize: count },
  RotationTreeDiffers: { size: count },
  VerificationStopped: { reason: text },
  SnapshotChanged: {},
  ReadModelsAhead: { reached: count, head: count, readModels: text },
  EventsNotFoldable: { reason: text },
  ReadModelDiffers: { readModel: text, tables: text },
  ReadModelRowDiffers: { readModel: text, table: text, row: text, columns: text },
  ReadModelRowMissing: { readModel: text, table: text, row: text },
  ReadModelRowUnexpected: { readModel: text, table: text, row: text },
  ReadModelRowsNotComparable: { readModel: text, reason: text },
  BalancesNotCompared: { position: count },
  BalanceRowDiffers: { balance, userId: text, found: amount, expected: amount },
  BalanceRowMissing: { userId: text },
  FileMissing: { file: text },
  FileDiffers: { file: text },
  FileNotDecompressible: { file: text },
  FileTooLarge: { file: text, max: count },
  LinesTooMany: { file: text, max: count },
  LineTooLong: { file: text, max: count },
  LineUnreadable: { file: text, line: count, reason: text },
  EventOutsideFile: { file: text },
  FileEventsDiffer: { file: text, events: count, named: count },
  ExportEventsDiffer: { named: count, events: count },
}

const HAN = /\p{Script=Han}/u

describe('the texts of findings', () => {
  it.each(Object.entries(SAMPLES))('%s has both texts, which use every param', (code, samples) => {
    const values = Object.entries(samples as Record<string, readonly [unknown, unknown]>)
    const params = Object.fromEntries(values.map(([name, [first]]) => [name, first]))
    const shown = findingText(code, params)
    expect(shown?.zh).toMatch(HAN)
    expect(shown?.en).not.toMatch(HAN)
    for (const [name, [, other]] of values) {
      const changed = findingText(code, { ...params, [name]: other })
      expect(changed?.zh, `zh ${name}`).not.toBe(shown?.zh)
      expect(changed?.en, `en ${name}`).not.toBe(shown?.en)
    }
    expect(Object.values(shown ?? {}).join()).not.toMatch(/undefined|\[object|\$\d/)
  })

  it('name movements and adjustments of each kind in Chinese', () => {
    const orders = ['order 7', 'order 7 refund 1', 'order 7 restoration 1']
    const movements = [
      ...orders,
      ...orders.map((key) => `rebate of ${key}`),
      'redemption 3 by user 4',
    ]
    const grants = [
      ...['grant a b', 'deduction a', 'transfer a', 'invitation 4', 'credit of order 7 '],
      ...[
        'credit of order 7 1',
        'refund 1 of order 7',
        'rebate of order 7 ',
        'rebate of order 7 1',
      ],
      ...['returned rebate 1 of order 7', 'correction a 1'],
    ]
    for (const names of [movements.map(movementName), grants.map(grantName)]) {
      const untranslated = names.filter(({ zh }) => !HAN.test(zh) || zh.includes(' of '))
      expect(untranslated).toEqual([])
      expect(new Set(names.map(({ zh }) => zh)).size).toBe(names.length)
    }
    expect(movementName('else')).toEqual({ zh: 'else', en: 'else' })
  })
})

describe('a finding', () => {
  const reported = (reason: string) => {
    const findings = new Findings()
    findings.report('records', null, 'DataInvalid', { type: 'CallSettled', reason })
    const [finding] = findings.list()
    if (finding === undefined) throw new Error('nothing was reported')
    return finding
  }

  it('has its code, its params and the English sentence', () => {
    expect(reported('x')).toMatchObject({
      ...{ code: 'DataInvalid', params: { type: 'CallSettled', reason: 'x' } },
      detail: 'CallSettled has invalid data: x',
    })
  })

  it('stays short, whatever the events contain', () => {
    const finding = reported('x'.repeat(1_000))
    expect(finding.params?.reason).toBe(`${'x'.repeat(300)}…`)
    expect(finding.detail).toHaveLength(301)
    expect(detailIn('zh', finding)).toHaveLength(301)
  })

  it('keeps quota beyond the safe integers exactly', () => {
    const findings = new Findings()
    const sum = 2n ** 70n
    findings.expect('postings', false, null, 'PostingsUnbalanced', () => ({ sum }))
    expect(findings.list()[0]?.params).toEqual({ sum: String(sum) })
  })

  it('is kept although another rule of the same check has many findings', () => {
    const findings = new Findings()
    const lost = { tile: '1', first: 257, last: 512 }
    for (let times = 0; times < 200; times += 1) {
      findings.report('transparency-log', null, 'TileMissing', lost)
    }
    findings.report('transparency-log', { position: 7 }, 'EventDiffersFromSeal')
    const codes = findings.list().map(({ code }) => code)
    expect(codes.filter((code) => code === 'TileMissing')).toHaveLength(20)
    expect(codes.at(-1)).toBe('EventDiffersFromSeal')
    expect(findings.total()).toBe(201)
    expect(findings.first(2).map(({ code }) => code)).toEqual([
      ...['TileMissing', 'EventDiffersFromSeal'],
    ])
    expect(findings.first(100)).toEqual(findings.list())
  })

  it('is shown in the language of the reader', () => {
    const finding = reported('x')
    expect(detailIn('en', finding)).toBe(finding.detail)
    expect(detailIn('zh', finding)).toBe('CallSettled 的数据无效：x')
  })

  it('of another release is shown as it was stored', () => {
    const detail = 'the stored sentence'
    expect(detailIn('zh', { detail })).toBe(detail)
    expect(detailIn('zh', { detail, code: 'Later', params: { a: 1 } })).toBe(detail)
    expect(detailIn('zh', { detail, code: 'toString', params: {} })).toBe(detail)
    expect(detailIn('zh', { detail, code: 'CheckpointUnsigned', params: {} })).toBe(detail)
  })

  it('of an error has the code of the error, or only the name of an unexpected one', () => {
    const findings = new Findings()
    findings.reportError('records', null, new FindingError({ code: 'LineNotRecord', params: {} }))
    findings.reportError('records', null, new SyntaxError('"secret" is not JSON'))
    expect(findings.list()).toMatchObject([
      { code: 'LineNotRecord', detail: 'the line is not an event record' },
      { code: 'Unreadable', detail: 'cannot be read: SyntaxError' },
    ])
  })
})
