import type { PoolClient } from 'pg'
import { isSame } from '#domain/shared/deep-equal.ts'
import type { Projection } from '../projection.ts'
import { schemaOf } from '../projection-names.ts'
import { type LanePositions, readCheckpoints } from './checkpoints.ts'

/** A row of a read model that differs from the row that a new fold of the events gives. */
export type DifferingRow = {
  readonly table: string
  readonly kind: 'differs' | 'missing' | 'unexpected'
  /**
   * The key of the row, such as `user_id 7, position 12`. Texts that may be personal data are left
   * out.
   */
  readonly row: string
  /**
   * The columns that differ, if both rows exist. Their values are omitted, because some are
   * personal data.
   */
  readonly columns: readonly string[]
  /**
   * The user, position and revision of the row's event. Each is null if the row has no such column.
   */
  readonly userId: number | null
  readonly position: number | null
  readonly revision: number | null
}

const ROWS_MAX = 10

/** Key columns whose texts are ids and names of models, and never personal data. */
const SHOWN_TEXTS: ReadonlySet<string> = new Set(['batch', 'call', 'id', 'model', 'task', 'type'])

export type ComparedTables = {
  readonly projection: Projection
  /** The schema of the newly folded rows, and the lanes' positions at which they were compared. */
  readonly schema: string
  readonly positions: LanePositions
}

/**
 * Returns the first rows of the tables that differ from the newly folded rows. If the live read
 * model has advanced since the comparison, only tables whose rows never change are searched. In
 * this case, rows that exist only in the live read model are not returned, because they may be new.
 */
export async function findDifferingRows(
  client: PoolClient,
  { projection, schema, positions }: ComparedTables,
  tables: readonly string[],
): Promise<readonly DifferingRow[]> {
  const live = (await readCheckpoints(client)).get(projection.name)?.positions ?? []
  const hasAdvanced = !isSame([...live], [...positions])
  const found: DifferingRow[] = []
  for (const table of tables) {
    const shape = projection.tables[table]
    if (shape === undefined || (hasAdvanced && shape.isAppendOnly !== true)) continue
    const sources = { folded: `${schema}.${table}`, live: `${schemaOf(projection.name)}.${table}` }
    const rows = await differingRows(client, sources, shape.key, hasAdvanced)
    found.push(...rows.map((row) => rowOf(table, shape.key, row)))
  }
  return found.slice(0, ROWS_MAX)
}

type Cells = Readonly<Record<string, unknown>>
type Row = { readonly expected: Cells | null; readonly found: Cells | null }

/**
 * Returns the first rows that differ between two tables of the same shape, in no particular order.
 */
export async function differingRowsOf(
  client: PoolClient,
  table: string,
  sources: Sources,
  key: readonly string[],
): Promise<readonly DifferingRow[]> {
  const rows = await differingRows(client, sources, key, false)
  return rows.map((row) => rowOf(table, key, row))
}

/**
 * The qualified names of a table with newly folded rows, and of the table with the rows to compare.
 */
type Sources = { readonly folded: string; readonly live: string }

async function differingRows(
  client: PoolClient,
  { folded, live }: Sources,
  key: readonly string[],
  hasAdvanced: boolean,
): Promise<readonly Row[]> {
  const isSameKey = key.map((column) => `f.${column} = l.${column}`).join(' and ')
  const { rows } = await client.query<Row>(
    `select to_jsonb(f) as expected, to_jsonb(l) as found
      from ${folded} f ${hasAdvanced ? 'left' : 'full'} join ${live} l on ${isSameKey}
      where f::text is distinct from l::text limit ${ROWS_MAX}`,
  )
  return rows
}

function rowOf(table: string, key: readonly string[], { expected, found }: Row): DifferingRow {
  const cells = expected ?? found ?? {}
  const columns = Object.keys(cells).filter((name) => !isSame(expected?.[name], found?.[name]))
  const shown = key.flatMap((name) => {
    const value = cells[name]
    const isShown = typeof value === 'number' || SHOWN_TEXTS.has(name)
    return isShown ? [`${name} ${String(value)}`] : []
  })
  const numberIn = (name: string): number | null => {
    const value = cells[name]
    return typeof value === 'number' && Number.isSafeInteger(value) ? value : null
  }
  return {
    ...{ table, row: shown.join(', ') },
    kind: expected === null ? 'unexpected' : found === null ? 'missing' : 'differs',
    columns: expected === null || found === null ? [] : columns,
    ...{ userId: numberIn('user_id'), position: numberIn('position') },
    revision: numberIn('revision'),
  }
}
