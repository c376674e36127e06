import { type Connection, type PoolClient, Query } from 'pg'
import type { Cell, RowChange } from './row-changes.ts'

/** The Postgres type of each column of a table. */
export type ColumnTypes = ReadonlyMap<string, string>

/** A cache of the column types of tables, by the qualified name of the table. */
export type TypesOfTables = Map<string, ColumnTypes>

export async function readColumnTypes(client: PoolClient, table: string): Promise<ColumnTypes> {
  const { rows } = await client.query<{ name: string; type: string }>(
    `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
    [table],
  )
  return new Map(rows.map(({ name, type }) => [name, type]))
}

/**
 * Inserts rows with COPY, which costs Postgres much less than an `insert` from JSON. All rows must
 * have the same columns, in any order. Cells are converted as `json_populate_recordset` converts
 * them.
 */
export async function insertRowsWithCopy(
  client: PoolClient,
  table: string,
  types: ColumnTypes,
  rows: readonly RowChange[],
): Promise<void> {
  const [first] = rows
  if (first === undefined) return
  const columns = COLUMN_KINDS.flatMap((kind) =>
    Object.keys(first[kind]).map((name) => ({ kind, name, encode: encoderOf(types.get(name)) })),
  )
  const statement = `copy ${table} (${columns.map(({ name }) => name).join(', ')}) from stdin`
  await sendCopy(client, statement, Buffer.from(encodeRows(columns, rows)))
}

/** The members of a row change that contain its cells. */
const COLUMN_KINDS = ['key', 'set', 'add'] as const

type Column = {
  readonly kind: (typeof COLUMN_KINDS)[number]
  readonly name: string
  readonly encode: Encoder
}

/** The methods of the driver's connection that its type declarations lack. */
type CopyConnection = Connection & {
  readonly query: (text: string) => void
  readonly sendCopyFromChunk: (chunk: Buffer) => void
  readonly endCopyFrom: () => void
}

/**
 * Sends the statement and its data without waiting, so that other statements can follow
 * immediately. If Postgres rejects the statement, Postgres ignores the data.
 */
const sendCopy = (client: PoolClient, statement: string, data: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    const query = new Query(statement, (error: Error | null | undefined) =>
      error ? reject(error) : resolve(),
    )
    const submit = (connection: CopyConnection): void => {
      connection.query(statement)
      connection.sendCopyFromChunk(data)
      connection.endCopyFrom()
    }
    client.query(Object.assign(query, { submit, handleCopyInResponse: () => {} }))
  })

const NULL = '\\N'

/** Encodes rows in the text format of COPY. */
function encodeRows(columns: readonly Column[], rows: readonly RowChange[]): string {
  let text = ''
  for (const row of rows) {
    let separator = ''
    for (const { kind, name, encode } of columns) {
      const cell = row[kind][name] ?? null
      text += separator + (cell === null ? NULL : encode(cell))
      separator = '\t'
    }
    text += '\n'
  }
  return text
}

type Encoder = (cell: Exclude<Cell, null>) => string

const encoderOf = (type = ''): Encoder => {
  if (type === 'jsonb' || type === 'json') return (cell) => escaped(JSON.stringify(cell))
  if (type.endsWith('[]')) return (cell) => (Array.isArray(cell) ? arrayText(cell) : plain(cell))
  return plain
}

const plain: Encoder = (cell) => {
  if (typeof cell === 'string') return escaped(cell)
  if (typeof cell === 'object') return escaped(JSON.stringify(cell))
  return typeof cell === 'number' && !Number.isFinite(cell) ? NULL : String(cell)
}

const arrayText = (elements: readonly unknown[]): string =>
  escaped(`{${elements.map(elementText).join(',')}}`)

const elementText = (element: unknown): string => {
  if (element === null) return 'NULL'
  const text = typeof element === 'string' ? element : JSON.stringify(element)
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

/**
 * The replacements of characters. Most are escapes of COPY. NUL characters, which Postgres rejects,
 * are replaced as in all other writes.
 */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ...[['\\', '\\\\'] as const, ['\t', '\\t'] as const, ['\n', '\\n'] as const],
  ...[['\r', '\\r'] as const, ['\0', '\ufffd'] as const],
])

const escaped = (text: string): string =>
  /[\\\t\n\r\0]/.test(text)
    ? text.replace(/[\\\t\n\r\0]/g, (character) => ESCAPES.get(character) ?? character)
    : text
