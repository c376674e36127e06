import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Fact } from '#domain/shared/event.ts'
import { ALL_LANES, LANE_COUNT } from '#infra/event-bus/lane-of-stream.ts'
import { callLog } from '#projections/logs/projection.ts'
import { type Projection, projectionOf } from '#projections/projection.ts'
import { PROJECTIONS } from '#projections/projection-registry.ts'
import { type FoldOptions, foldIntoNewTables } from '#projections/runner/fold-into-new-tables.ts'
import { rebuildReadModels } from '#projections/runner/rebuild-read-model.ts'
import type { Cells, RowChanges } from '#projections/runner/row-changes.ts'
import {
  foldContext,
  type ProjectionRunner,
  startProjections,
} from '#projections/runner/start-projections.ts'
import {
  aCall,
  admitted,
  budgetSet,
  channelChanged,
  channelCreated,
  type Fixture,
  type Given,
  granted,
  NOW,
  projectionFixture,
  settledCall,
  tokenCreated,
  userCreated,
  userErased,
} from './fixture.ts'

let fixture: Fixture

beforeEach(async () => {
  fixture = await projectionFixture()
})
afterEach(async () => {
  await fixture.close()
})

/** Starts the projections, folds all events, and returns a runner that the caller must stop. */
async function folded(projections: readonly Projection[] = PROJECTIONS) {
  const runner = await startProjections(fixture.core, { projections })
  await allFolded(runner)
  return runner
}

async function allFolded(runner: ProjectionRunner): Promise<void> {
  const head = await fixture.core.store.headPosition()
  const reached = () =>
    runner.health().filter(({ lanes, position }) => lanes === LANE_COUNT && position >= head).length
  await expect.poll(reached, { timeout: 60_000 }).toBe(runner.health().length)
}

/** Appends events in their order, as few at a time as the store takes. */
async function appendAll(given: readonly Given[]): Promise<void> {
  for (let from = 0; from < given.length; from += 500) {
    await fixture.append(given.slice(from, from + 500))
  }
}

const DAY_MS = 86_400_000

/** A call whose two events may be far apart in the history, and in two months. */
function aLongCall(index: number): [Given, Given] {
  const call = aCall({ userId: 1 + (index % 3), tokenId: 1 + (index % 3) })
  const at = NOW - (index % 40) * DAY_MS
  return [admitted(call, at), settledCall(call, index, at, 1 + (index % 2))]
}

/** About 3,000 events: calls that end up to 2,000 events after they began, or not at all. */
function severalPages(): Given[] {
  const calls = Array.from({ length: 1_450 }, (_, index) => aLongCall(index))
  const ended = calls.slice(0, 1_400).map(([, end]) => end)
  return [
    ...[userCreated(1, 'root', 100), userCreated(2, 'gone'), channelCreated(1, 'one')],
    ...[
      granted(1, 1_000_000),
      budgetSet(1, 1, 500),
      tokenCreated(1, 2, 'a'),
      channelCreated(2, 'two'),
    ],
    ...calls.slice(0, 1_000).map(([begin]) => begin),
    ...[userErased(2), tokenCreated(2, 1, 'b'), channelChanged(1, 'ChannelsDisabled')],
    ...ended.slice(0, 500),
    ...calls.slice(1_000).map(([begin]) => begin),
    ...ended.slice(500),
    ...[budgetSet(1, 1, 700), channelChanged(1, 'ChannelsEnabled')],
  ]
}

/** Describes all columns, constraints and indexes of the read models, partitions included. */
async function definitions(): Promise<string[]> {
  const { rows } = await fixture.core.pg.query<{ definition: string }>(`
    select indexdef as definition from pg_indexes where schemaname ^@ 'read_'
    union all
    select conrelid::regclass || ' ' || pg_get_constraintdef(c.oid) from pg_constraint c
    where connamespace::regnamespace::text ^@ 'read_'
    union all
    select attrelid::regclass || ' ' || attname || attnotnull from pg_attribute
    join pg_class on pg_class.oid = attrelid
    where relnamespace::regnamespace::text ^@ 'read_' and attnum > 0 and relkind in ('r', 'p')`)
  return rows.map(({ definition }) => definition).sort()
}

describe('a rebuild of read models', () => {
  it('the rebuilt read models equal those that followed the events page by page', async () => {
    await appendAll(severalPages())
    const runner = await folded()
    const before = await definitions()
    expect((await runner.verify()).filter(({ isEqual }) => !isEqual)).toEqual([])
    await runner.rebuild(PROJECTIONS.map(({ name }) => name))
    expect(await definitions()).toEqual(before)
    // The live tables of this runner were written by the rebuild, and new events follow them.
    await appendAll(severalPages().slice(7, 1_007))
    await allFolded(runner)
    expect((await runner.verify()).filter(({ isEqual }) => !isEqual)).toEqual([])
    const { rows } = await fixture.core.pg.query('select count(*) from read_open_calls.calls')
    expect(rows).toEqual([{ count: '1050' }])
    await runner.stop()
  })

  it('tables in other schemas have all indexes, unless they are only compared', async () => {
    await fixture.append([granted(1, 5)])
    const { core } = fixture
    const upTo = ALL_LANES.map(() => 1)
    const indexesOf = async (options: FoldOptions): Promise<number> => {
      const target = { projection: callLog, schema: 'other_call_log', upTo }
      await foldIntoNewTables(core, foldContext(core), [target], options)
      const text = `select from pg_indexes where schemaname = 'other_call_log'`
      return (await core.pg.query(text)).rowCount ?? 0
    }
    // Each of the 12 indexes of the log is in the table and in its partition for a month.
    expect(await indexesOf({})).toBe(26)
    expect(await indexesOf({ withIndexes: false })).toBe(0)
  })

  it('the planner has statistics of all rebuilt tables at once', async () => {
    await appendAll(severalPages())
    const runner = await folded()
    await runner.rebuild(['call-log', 'usage-by-hour'])
    const { rows } = await fixture.core.pg.query<{ relname: string; reltuples: number }>(`
      select relname, reltuples from pg_class
      where relnamespace::regnamespace::text in ('read_call_log', 'read_usage_by_hour')
        and relkind in ('r', 'p') and reltuples < 0`)
    expect(rows).toEqual([])
    await runner.stop()
  })
})

type Row = Fact<'Row', { readonly id: number; readonly cells: Cells }>

/** A read model with a row for each event `Row`, and a column of each type. */
const rowsOf = (handler: (id: number, cells: Cells, rows: RowChanges) => void): Projection =>
  projectionOf<Row>({
    name: 'orders',
    version: 1,
    sql: `create table cells (
        id bigint primary key, words text, number bigint default 0, decimal numeric default 0,
        is_true boolean,
        document jsonb, numbers bigint[], texts text[] default '{none}'
      );
      create index cells_by_words on cells (words);`,
    tables: { cells: { key: ['id'], isAppendOnly: true } },
    handlers: { Row: ({ data: { id, cells } }, rows) => handler(id, cells, rows) },
  })

const rowGiven = (id: number, cells: Cells): Given => ({
  ...{ stream: `row-${id}`, type: 'Row', v: 1, data: { id, cells } },
})

const rowTexts = async (): Promise<string[]> => {
  const text = 'select cells::text as row from read_orders.cells order by id'
  return (await fixture.core.pg.query<{ row: string }>(text)).rows.map(({ row }) => row)
}

const HOSTILE = [
  '',
  '\\N',
  '\\.',
  'a\tb\nc\rd\\t\\\\',
  'null',
  '"quoted" {1,2}, \'x\'',
  '\u0000 and \ud800 alone',
  '你好 🚀 \u2028 \u0007',
  '{"a": "\\u0000"}',
]

/** The number of new rows that the live read models insert with COPY, for each text. */
const COPIES = 20

describe('many new rows at once', () => {
  const inserting = rowsOf((id, cells, rows) => rows.insert('cells', { id }, cells))

  it.each(HOSTILE)('the rows have the same values as single rows: %j', async (words) => {
    const isStorable = !/[\0\ud800]/.test(words)
    const cells = { words, ...(isStorable ? { document: { words }, texts: [words, null] } : {}) }
    const runner = await folded([inserting])
    await fixture.append([rowGiven(0, cells)])
    await allFolded(runner)
    await fixture.append(Array.from({ length: COPIES }, (_, id) => rowGiven(id + 1, cells)))
    await allFolded(runner)
    const [single = '', ...copied] = await rowTexts()
    expect(copied.map((row) => row.replace(/^\(\d+/, '(0'))).toEqual(Array(COPIES).fill(single))
    await runner.stop()
  })

  it('a row that exists stays, and stops the read model in its lane only', async () => {
    const runner = await folded([inserting])
    await fixture.append([rowGiven(7, { words: 'first' })])
    await allFolded(runner)
    await fixture.append(Array.from({ length: COPIES }, (_, id) => rowGiven(id, { words: 'new' })))
    await expect.poll(() => runner.health()[0]?.state).toBe('stopped')
    const rows = await rowTexts()
    expect(rows.filter((row) => row.startsWith('(7,'))).toEqual([expect.stringContaining('first')])
    expect(rows.length).toBeGreaterThan(COPIES / 2)
    await runner.stop()
  })
})

describe('rows that a rebuild inserts', () => {
  it('the rows have the same values as rows that follow the events', async () => {
    const given = [
      ...HOSTILE.map((words) => ({ words })),
      ...HOSTILE.filter((words) => !/[\0\ud800]/.test(words)).flatMap((words) => [
        { document: { words, list: [words, null, 1.5, true] } },
        { texts: [words, 'other'] },
        { document: words },
      ]),
      { words: { is: 'an object' }, number: 2 ** 53 - 1, decimal: 0.1 },
      { words: 12, number: -0, decimal: '123456789012345678901234567890.5', is_true: false },
      { words: true, is_true: true, document: [], numbers: [], texts: [] },
      { numbers: [1, -2, null], texts: [null, 'NULL', ''], document: null },
      ...[{ number: 1, words: 'one' }, { words: 'two', number: 2 }, { number: 3 }],
      { words: null, number: null, decimal: Number.NaN, numbers: null, texts: null },
      {},
    ]
    await fixture.append(given.map((cells, id) => rowGiven(id, cells)))
    const projection = rowsOf((id, cells, rows) => rows.insert('cells', { id }, cells))
    const runner = await folded([projection])
    const live = await rowTexts()
    expect(live).toHaveLength(given.length)
    await runner.rebuild('orders')
    expect(await rowTexts()).toEqual(live)
    await runner.stop()
  })

  it('sums over many pages, with more rows than are kept in memory, are the same', async () => {
    // Each of the first events adds to 7,000 rows. Later events add to some of them again.
    const wide = Array.from({ length: 6 }, (_, id) => rowGiven(id * 7_000, { rows: 7_000 }))
    const later = Array.from({ length: 1_200 }, (_, id) => rowGiven(id * 30, { rows: 2 }))
    await appendAll([...wide, ...later, rowGiven(50, { words: 'a\tb' }), ...wide.slice(0, 1)])
    const projection = rowsOf((id, { rows: count = 1, words = '' }, rows) => {
      for (let row = id; row < id + Number(count); row += 1) {
        const set = row % 2 === 0 ? { is_true: true, words } : {}
        rows.add('cells', { id: row }, { number: BigInt(row), decimal: 1n }, set)
      }
    })
    const shared = { ...projection, tables: { cells: { key: ['id'], isShared: true as const } } }
    const runner = await folded([shared])
    const live = await rowTexts()
    expect(live).toHaveLength(42_000)
    await runner.rebuild('orders')
    expect(await rowTexts()).toEqual(live)
    await runner.stop()
  })

  it('a rebuild that inserts a row twice fails, and the live rows stay readable', async () => {
    // The rows of the same key are in different pages, so that only the primary key finds them.
    await appendAll(Array.from({ length: 1_001 }, (_, id) => rowGiven(id, { number: id })))
    const runner = await folded([rowsOf((id, cells, rows) => rows.insert('cells', { id }, cells))])
    const live = await rowTexts()
    const wrong = rowsOf((id, cells, rows) => rows.insert('cells', { id: id % 1_000 }, cells))
    const { core } = fixture
    await expect(rebuildReadModels(core, [wrong], foldContext(core))).rejects.toThrow(/cells_pkey/)
    expect(await rowTexts()).toEqual(live)
    await runner.rebuild('orders')
    expect(await rowTexts()).toEqual(live)
    await runner.stop()
  })
})
