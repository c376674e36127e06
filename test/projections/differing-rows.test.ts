import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Findings } from '#domain/audit/findings.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { compareReadModels } from '#infra/audit-program/compare-read-models.ts'
import { inTransaction } from '#infra/postgres/in-transaction.ts'
import { ledger } from '#projections/ledger/projection.ts'
import { PROJECTIONS } from '#projections/projection-registry.ts'
import { type LanePositions, readCheckpoints } from '#projections/runner/checkpoints.ts'
import { findDifferingRows } from '#projections/runner/find-differing-rows.ts'
import { PoisonEvent } from '#projections/runner/fold-events.ts'
import { verificationErrorText } from '#projections/runner/verification-error-text.ts'
import { granted, type RunningProjections, runningProjections } from './fixture.ts'

let fixture: RunningProjections
let positions: LanePositions

const sql = (text: string) => fixture.core.pg.query(text)

/** Keeps the rows of the ledger as those that the events give, and then edits the live ones. */
beforeEach(async () => {
  fixture = await runningProjections()
  const amounts = [5, 6, 7]
  await fixture.settled(await fixture.append(amounts.map((amount) => granted(7, amount))))
  positions = (await readCheckpoints(fixture.core.pg)).get('ledger')?.positions ?? []
  await sql(`create schema folded;
    create table folded.movements as table read_ledger.movements;
    create table folded.account_days as table read_ledger.account_days`)
  await sql(`update read_ledger.movements set amount = 100, reason = '' where position = 1;
    delete from read_ledger.movements where position = 2;
    insert into read_ledger.movements (user_id, position, revision, created_at, type, amount)
      values (7, 9, 3, 0, 'call', 1);
    update read_ledger.account_days set amount = amount + 1`)
}, 120_000)

afterEach(() => fixture.close())

const find = (at: LanePositions) =>
  inTransaction(fixture.core.pg, (client) => {
    const compared = { projection: ledger, schema: 'folded', positions: at }
    return findDifferingRows(client, compared, ['movements', 'account_days'])
  })

const row = (position: number, kind: string, columns: string[] = []) => ({
  ...{ table: 'movements', kind, columns, row: `user_id 7, position ${position}` },
  ...{ userId: 7, position, revision: expect.any(Number) },
})

describe('the rows of a read model that differ from the events', () => {
  it('are named by their keys, with the columns that differ', async () => {
    const found = await find(positions)
    expect(found).toHaveLength(4)
    expect(found).toEqual(
      expect.arrayContaining([
        row(1, 'differs', ['amount', 'reason']),
        row(2, 'missing'),
        row(9, 'unexpected'),
        expect.objectContaining({ table: 'account_days', kind: 'differs', columns: ['amount'] }),
      ]),
    )
  })

  it('are only those that no event changes, if the read model has advanced', async () => {
    const found = await find(positions.map((position) => position - 1))
    expect(found).toHaveLength(2)
    expect(found).toEqual(
      expect.arrayContaining([row(1, 'differs', ['amount', 'reason']), row(2, 'missing')]),
    )
  })

  it('need not be comparable for the difference to be reported', async () => {
    await sql('alter table read_ledger.movements drop column position cascade')
    const findings = new Findings()
    const others = PROJECTIONS.filter(({ name }) => name !== 'ledger').map(({ name }) => name)
    await compareReadModels(fixture.core, new Set(others), findings, {})
    expect(findings.list()).toMatchObject([
      { code: 'ReadModelDiffers', params: { readModel: 'ledger' } },
      {
        code: 'ReadModelRowsNotComparable',
        params: { readModel: 'ledger', reason: 'Postgres reports SQLSTATE 42703' },
      },
    ])
  })
})

describe('the reason why a comparison failed', () => {
  it('has no values of rows or texts, because results are kept for good', async () => {
    const ofPostgres = await sql("select 'a secret'::bigint").catch((error: unknown) => error)
    expect(String(ofPostgres)).toContain('a secret')
    expect(verificationErrorText(ofPostgres)).toBe('Postgres reports SQLSTATE 22P02')
    const event = { type: 'QuotaGranted', position: 7 } as Recorded
    const poison = new PoisonEvent(event, ofPostgres)
    expect(verificationErrorText(poison)).toBe(
      'QuotaGranted at position 7: Postgres reports SQLSTATE 22P02',
    )
    expect(verificationErrorText(new TypeError('a secret'))).toBe('the process reports TypeError')
  })
})
