import { createHash } from 'node:crypto'
import type { PoolClient } from 'pg'
import { assert } from '#domain/shared/assert.ts'
import type { Projection, TableShape } from '../projection.ts'
import {
  type ColumnTypes,
  insertRowsWithCopy,
  readColumnTypes,
  type TypesOfTables,
} from './insert-rows-with-copy.ts'
import { ensureMonthsOf } from './monthly-partitions.ts'
import type { Cell, Cells, RowChange, RowChanges } from './row-changes.ts'

const ROWS_PER_STATEMENT = 1_000
/**
 * The minimum number of new rows that are sent with COPY to a table that others may write, too. For
 * fewer rows, the prepared `insert` costs less.
 */
const COPIED_ROWS_MIN = 16

export type WriteOptions = {
  readonly types: TypesOfTables
  /**
   * True if only the caller writes the tables. All new rows and large groups of rows are then sent
   * with COPY, and rows are not locked in a fixed order.
   */
  readonly isOnlyWriter: boolean
}

export type TableChanges = {
  readonly projection: Projection
  readonly schema: string
  readonly changes: RowChanges
}

type TableRows = {
  /** The table name, qualified with its schema. */
  readonly table: string
  readonly shape: TableShape
  readonly rows: readonly RowChange[]
}

/**
 * Writes folded batches in the caller's transaction. One statement writes up to 1,000 rows of one
 * table with the same kind of change and the same columns. All statements are sent at once, and
 * Postgres executes them in order. Rows are passed as one JSON text, so that each statement is
 * planned once per connection. Many new rows of a table that is not shared are sent with COPY,
 * which costs Postgres less. Shared tables and their rows are written in a fixed order (see
 * `isShared`). Throws if a row to insert exists or a required row is missing.
 */
export async function writeChanges(
  client: PoolClient,
  writes: readonly TableChanges[],
  options: WriteOptions,
): Promise<void> {
  const tables = writes.flatMap(tablesOf)
  await ensureMonths(client, tables)
  await readTypes(client, tables, options)
  const shared = tables.filter(({ shape }) => shape.isShared === true)
  const ordered = [
    ...tables.filter(({ shape }) => shape.isShared === undefined),
    ...shared
      .map((own) => (options.isOnlyWriter ? own : { ...own, rows: own.rows.toSorted(byKey) }))
      .sort((a, b) => (a.table < b.table ? -1 : 1)),
  ]
  // The statements are sent with one system call.
  const { stream } = client.connection
  stream.cork()
  const writing = [
    ...ordered.flatMap((own) => writeTable(client, own, options)),
    ...writes.flatMap(({ schema, changes }) =>
      changes.wide.map(([name, change]) => writeMatchingRows(client, `${schema}.${name}`, change)),
    ),
  ]
  stream.uncork()
  await Promise.all(writing)
}

/** Changes or removes all existing rows that have the given values. There may be no such rows. */
async function writeMatchingRows(
  client: PoolClient,
  table: string,
  change: RowChange,
): Promise<void> {
  const text = statementFor(table, Object.keys(change.key), change)
  const record = JSON.stringify([storable({ ...change.key, ...change.set })])
  await client.query({ name: nameOf(text), text, values: [record] })
}

async function readTypes(
  client: PoolClient,
  tables: readonly TableRows[],
  { types, isOnlyWriter }: WriteOptions,
): Promise<void> {
  for (const { table, rows } of tables) {
    if (types.has(table) || (!isOnlyWriter && rows.length < COPIED_ROWS_MIN)) continue
    types.set(table, await readColumnTypes(client, table))
  }
}

/** Creates the monthly partitions that are missing for the rows of the tables. */
async function ensureMonths(client: PoolClient, tables: readonly TableRows[]): Promise<void> {
  await Promise.all(
    tables.map(({ table, shape: { monthColumn }, rows }) =>
      monthColumn === undefined ? undefined : ensureMonthsOf(client, table, rows, monthColumn),
    ),
  )
}

function tablesOf({ projection, schema, changes }: TableChanges): TableRows[] {
  return [...changes.tables()].map(([table, rows]) => {
    const shape = projection.tables[table]
    assert(shape !== undefined, `${projection.name} has no table ${table}`)
    return { table: `${schema}.${table}`, shape, rows: [...rows] }
  })
}

function byKey(one: RowChange, other: RowChange): number {
  for (const column in one.key) {
    const [a, b] = [String(one.key[column]), String(other.key[column])]
    if (a !== b) return a < b ? -1 : 1
  }
  return 0
}

function writeTable(
  client: PoolClient,
  { table, shape, rows }: TableRows,
  { types: typesOfTables, isOnlyWriter }: WriteOptions,
): Promise<void>[] {
  const writing: Promise<void>[] = []
  const types = typesOfTables.get(table)
  for (const group of bySignature(rows)) {
    const kind = group[0]?.kind
    const isMany = group.length >= COPIED_ROWS_MIN && shape.isShared === undefined
    if (types !== undefined && kind === 'insert' && (isOnlyWriter || isMany)) {
      writing.push(insertRowsWithCopy(client, table, types, group))
      continue
    }
    const isLarge = isOnlyWriter && group.length > ROWS_PER_STATEMENT
    if (types !== undefined && kind === 'upsert' && isLarge) {
      writing.push(copyAndUpsert(client, table, shape, types, group))
      continue
    }
    for (let from = 0; from < group.length; from += ROWS_PER_STATEMENT) {
      const part = group.slice(from, from + ROWS_PER_STATEMENT)
      writing.push(writeGroup(client, table, shape, part))
    }
  }
  return writing
}

/** Groups rows with the same kind of change and the same columns, in any order of the columns. */
function bySignature(rows: readonly RowChange[]): RowChange[][] {
  const groups = new Map<string, RowChange[]>()
  let last: { row: RowChange; set: string[]; add: string[]; group: RowChange[] } | null = null
  for (const row of rows) {
    // Most rows have the columns of the row before, in the same order.
    const isAlike =
      row.kind === last?.row.kind && hasColumns(row.set, last.set) && hasColumns(row.add, last.add)
    if (!isAlike || last === null) {
      const [set, add] = [Object.keys(row.set), Object.keys(row.add)]
      const signature = `${row.kind}|${set.toSorted()}|${add.toSorted()}`
      const group = groups.get(signature) ?? []
      groups.set(signature, group)
      last = { row, set, add, group }
    }
    last.group.push(row)
  }
  return [...groups.values()]
}

function hasColumns(cells: Cells, columns: readonly string[]): boolean {
  let count = 0
  for (const column in cells) {
    if (column !== columns[count]) return false
    count += 1
  }
  return count === columns.length
}

/**
 * Copies rows into a separate table, and then writes them to the target table with one statement.
 * The separate table exists only within the transaction. This table is not a temporary table,
 * because a role may lack the right to create temporary tables.
 */
async function copyAndUpsert(
  client: PoolClient,
  table: string,
  { key }: TableShape,
  types: ColumnTypes,
  rows: readonly RowChange[],
): Promise<void> {
  const [first] = rows
  if (first === undefined) return
  const columns = Object.keys({ ...first.key, ...first.set, ...first.add })
  const staged = `${table}_staged`
  const source = `(select * from ${staged} order by ${key.join(', ')})`
  const [, , { rowCount }] = await Promise.all([
    client.query(`create unlogged table ${staged} as select ${columns} from ${table} with no data`),
    insertRowsWithCopy(client, staged, types, rows),
    client.query(statementFor(table, key, first, source)),
    client.query(`drop table ${staged}`),
  ])
  assert(rowCount === rows.length, `upsert into ${table}: ${rowCount} of ${rows.length} rows`)
}

async function writeGroup(
  client: PoolClient,
  table: string,
  { key }: TableShape,
  rows: readonly RowChange[],
): Promise<void> {
  const [first] = rows
  if (first === undefined) return
  const text = statementFor(table, key, first)
  const records = rows.map((row) => storable({ ...row.key, ...row.set, ...row.add }))
  const { rowCount } = await client.query({
    name: nameOf(text),
    text,
    values: [JSON.stringify(records)],
  })
  assert(
    rowCount === rows.length,
    `${first.kind} into ${table}: ${rowCount} of ${rows.length} rows were as expected`,
  )
}

function statementFor(
  table: string,
  key: readonly string[],
  change: RowChange,
  source = `json_populate_recordset(null::${table}, $1)`,
): string {
  const set = Object.keys(change.set).sort()
  const add = Object.keys(change.add).sort()
  const columns = [...key, ...set, ...add].join(', ')
  const insert = `insert into ${table} as t (${columns}) select ${columns} from ${source} r`
  const matches = key.map((column) => `t.${column} = r.${column}`).join(' and ')
  const changed = (row: string): string =>
    [
      ...set.map((column) => `${column} = ${row}.${column}`),
      ...add.map((column) => `${column} = t.${column} + ${row}.${column}`),
    ].join(', ')
  switch (change.kind) {
    case 'insert':
      return insert
    case 'upsert':
      return `${insert} on conflict (${key.join(', ')}) do update set ${changed('excluded')}`
    case 'patch':
      return `update ${table} t set ${changed('r')} from ${source} r where ${matches}`
    case 'remove':
      return `delete from ${table} t using ${source} r where ${matches}`
  }
}

const names = new Map<string, string>()

function nameOf(text: string): string {
  const existing = names.get(text)
  if (existing !== undefined) return existing
  const name = `projection-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
  names.set(text, name)
  return name
}

/**
 * Converts cells to values that Postgres can store. Postgres rejects NUL characters and unpaired
 * surrogates. One rejected text would stop the projection for all later events of the lane.
 */
function storable(cells: Record<string, Cell>): Record<string, unknown> {
  const row: Record<string, unknown> = cells
  for (const column in cells) {
    const cell = cells[column]
    if (typeof cell === 'bigint') row[column] = String(cell)
    else if (typeof cell === 'string') row[column] = wellFormed(cell)
  }
  return row
}

const wellFormed = (text: string): string =>
  text.includes('\0') ? text.replaceAll('\0', '\ufffd').toWellFormed() : text.toWellFormed()
