import { describe, expect, it } from 'vitest'
import { RowChanges } from '#projections/runner/row-changes.ts'

const tablesOf = (changes: RowChanges) =>
  Object.fromEntries([...changes.tables()].map(([table, rows]) => [table, [...rows]]))

describe('row changes that are taken to be written', () => {
  it('sums stay, and later events are added to them', () => {
    const rows = new RowChanges()
    rows.add('sums', { day: 1 }, { count: 2n })
    rows.insert('log', { id: 1 }, { note: 'a' })
    expect(tablesOf(rows.take(false))).toEqual({
      log: [{ kind: 'insert', key: { id: 1 }, set: { note: 'a' }, add: {} }],
    })
    rows.add('sums', { day: 1 }, { count: 3n })
    expect(tablesOf(rows.take(false))).toEqual({})
    expect(rows.size).toBe(1)
    expect(tablesOf(rows.take(true))).toEqual({
      sums: [{ kind: 'upsert', key: { day: 1 }, set: {}, add: { count: 5n } }],
    })
    expect(rows.isEmpty).toBe(true)
  })

  it('a change that needs its row takes the sums of its table along', () => {
    const rows = new RowChanges()
    rows.add('budgets', { id: 1 }, { remain: 5n })
    rows.patch('budgets', { id: 2 }, { isClosed: true })
    expect(tablesOf(rows.take(false)).budgets).toHaveLength(2)
    rows.add('budgets', { id: 1 }, { remain: 1n })
    expect(tablesOf(rows.take(false))).toEqual({})
    expect(rows.size).toBe(1)
  })

  it('a row that was written is not inserted again', () => {
    const rows = new RowChanges()
    rows.insert('calls', { id: 1 }, { user: 1 })
    rows.take(false)
    rows.remove('calls', { id: 1 })
    expect(tablesOf(rows.take(false)).calls).toEqual([
      { kind: 'remove', key: { id: 1 }, set: {}, add: {} },
    ])
  })

  it('changes of all rows with given values are taken with the others', () => {
    const rows = new RowChanges()
    rows.patchWhere('tokens', { user_id: 1 }, { name: '' })
    expect(rows.take(false).wide).toHaveLength(1)
    expect(rows.wide).toEqual([])
  })
})
