import { beforeAll, describe, expect, it, vi } from 'vitest'
import {
  figuresAtEnds,
  figuresBefore,
  type LedgerFilter,
  listMovements,
  rangeOfPeriod,
  totalsOf,
} from '#projections/ledger/query.ts'
import type { LedgerItem, LedgerPage, Statement } from '#read-api/contract/ledger.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { ADMIN, ALICE, apiFixture, ROOT } from './fixture.ts'

/** One user has nearly all movements, and of these one in 10 000 is no call. */
const ROWS = 300_000
const START = Date.UTC(2026, 0) / 1_000
const [HEAVY, LEGACY, SKEWED, MIXED] = [ALICE, ALICE + 1, ROOT, ALICE + 2]
const LEGACY_ROWS = 20_000
const END = Number.MAX_SAFE_INTEGER
const api = startedOnce(apiFixture)
const scanned = { blocks: 0 }

/** The rows as the fold would have left them. The rows of `LEGACY` lack both figures. */
beforeAll(async () => {
  const { pg } = api.core
  await pg.query(
    `insert into read_ledger.movements
       (user_id, position, revision, created_at, type, source, amount, balance, held, model)
     select ${HEAVY}, 1000000 + i, i, $1::bigint + i * 10, kind, kind || i, 1,
       i - 7, 7, case kind when 'call' then 'model-' || i % 20 else '' end
     from (select i, case when i % 10000 = 0 then 'grant' else 'call' end as kind
       from generate_series(1, $2::bigint) i) numbered`,
    [START, ROWS],
  )
  await pg.query(
    `insert into read_ledger.movements
       (user_id, position, revision, created_at, type, source, amount)
     select ${LEGACY}, 2000000 + i, i, $1::bigint + i,
       case when i % 1000 = 0 then 'grant' else 'call' end, 'old-' || i, i % 5 - 1
     from generate_series(1, $2::bigint) i`,
    [START, LEGACY_ROWS],
  )
  await pg.query(
    `insert into read_ledger.movements
       (user_id, position, revision, created_at, type, source, amount, balance, held)
     select ${MIXED}, 5000000 + i, i, $1::bigint + i,
       (array['grant', 'refund', 'order'])[1 + i % 3], 'mixed-' || i, 1, i, 0
     from generate_series(1, $2::bigint) i`,
    [START, LEGACY_ROWS],
  )
  await pg.query('vacuum analyze read_ledger.movements')
})

/** Runs the queries of `work`, and returns the most blocks that one of them reads. */
async function blocksOf(work: (db: typeof api.core.db) => Promise<unknown>): Promise<number> {
  scanned.blocks = 0
  const { pg } = api.core
  const db = new Proxy(api.core.db, {
    get(target, name, receiver) {
      const method = Reflect.get(target, name, receiver)
      if (typeof method !== 'function') return method
      return async (query: { sql: string; values: unknown[] }) => {
        const text = query.sql.replaceAll('$slonik_', '$')
        const { rows } = await pg.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
          `explain (analyze, buffers, format json) ${text}`,
          [...query.values],
        )
        const plan = rows[0]?.['QUERY PLAN'][0].Plan ?? {}
        expect(JSON.stringify(plan)).not.toContain('Seq Scan')
        const read = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
        scanned.blocks = Math.max(scanned.blocks, read)
        return method.call(target, query)
      }
    },
  })
  await work(db)
  return scanned.blocks
}

const all: LedgerFilter = { userId: HEAVY, after: 0, before: END, types: [] }

describe(`a ledger of ${ROWS} movements`, () => {
  it.each<[string, Partial<LedgerFilter>]>([
    ['first', {}],
    ['middle', { before: 1_000_000 + ROWS / 2 }],
    ['last', { before: 1_000_080 }],
    ['first of the grants', { types: ['grant'] }],
    ['last of the grants', { types: ['grant'], before: 1_020_000 }],
    ['first of a type without rows', { types: ['refund'] }],
    ['first of several types', { types: ['call', 'refund'] }],
    ['first of the types other than calls', { types: ['grant', 'refund', 'order'] }],
  ])('reads little more than the rows of the %s page', async (_, part) => {
    expect(await blocksOf((db) => listMovements(db, { ...all, ...part }, 51))).toBeLessThan(80)
  })

  it('reads no more than a page of each type, however many there are', async () => {
    const filter = { ...all, userId: MIXED, before: 5_000_000 + LEGACY_ROWS / 2 }
    const pages: Record<string, unknown>[] = []
    const types = ['grant', 'refund', 'grant', 'redemption']
    const read = async (db: typeof api.core.db) => {
      pages.push(...(await listMovements(db, { ...filter, types }, 50)))
    }
    expect(await blocksOf(read)).toBeLessThan(60)
    const revisions = pages.map(({ revision }) => revision)
    const expected = Array.from({ length: LEGACY_ROWS / 2 }, (_, i) => LEGACY_ROWS / 2 - 1 - i)
    expect(revisions).toEqual(expected.filter((revision) => revision % 3 !== 2).slice(0, 50))
  })

  it('reads a few rows for the figures of any moment, and for the ends of a period', async () => {
    for (const position of [1_000_001, 1_000_000 + ROWS / 2, END]) {
      expect(await blocksOf((db) => figuresBefore(db, HEAVY, position))).toBeLessThan(20)
    }
    for (const share of [0, 0.5, 0.99]) {
      const from = START + ROWS * 10 * share
      expect(
        await blocksOf((db) => rangeOfPeriod(db, HEAVY, { from, to: from + 86_400 })),
      ).toBeLessThan(80)
    }
  })
})

describe('movements of earlier versions, which lack their figures', () => {
  const total = (i: number) => {
    let sum = 0
    for (let n = 1; n <= i; n += 1) sum += (n % 5) - 1
    return sum
  }

  it('have their totals on a page at any depth, read by a constant number of queries', async () => {
    const admin = await api.logIn(ADMIN)
    for (const [query, first] of [
      ['', LEGACY_ROWS],
      ['cursor=2000101', 100],
      ['types=grant', LEGACY_ROWS],
      ['types=grant&cursor=2003500', 3_000],
    ] as const) {
      const path = `/api/audit/ledger/${LEGACY}?limit=3&${query}`
      const { data } = (await api.get<LedgerPage>(path, admin)).body
      expect(data.items.map((item) => item.total)).toEqual(
        data.items.map(({ revision }) => total(revision)),
      )
      expect(data.items[0]?.revision).toBe(first)
    }
    let queries = 0
    const counting = new Proxy(api.core.db, {
      get: (target, name, receiver) => {
        queries += 1
        return Reflect.get(target, name, receiver)
      },
    })
    const rows = await listMovements(api.core.db, { ...all, userId: LEGACY }, 1_000)
    const totals = await totalsOf(counting, LEGACY, rows, null)
    expect(totals.map(Number)).toEqual(rows.map(({ revision }) => total(revision)))
    expect(queries).toBeLessThan(5)
  })

  it('are exported with the same totals, each read about once', async () => {
    const headers = await api.logIn(ADMIN)
    for (const types of ['', 'grant']) {
      const url = `/api/audit/ledger/${LEGACY}/export?format=ndjson&types=${types}`
      const { body } = await api.app.inject({ url, headers })
      const items = body
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as LedgerItem)
      expect(items).toHaveLength(types === '' ? LEGACY_ROWS : LEGACY_ROWS / 1_000)
      let sum = total(LEGACY_ROWS)
      let next = LEGACY_ROWS
      for (const item of items) {
        for (; next > item.revision; next -= 1) sum -= (next % 5) - 1
        expect(item.total).toBe(sum)
      }
    }
  })
})

describe('a ledger of which the clocks of two processes differ', () => {
  /** The seconds after the start, in the order of the account. */
  const SECONDS = [0, 10, 300, 40, 20, 310, 600, 90, 700]

  beforeAll(async () => {
    await api.core.pg.query(
      `insert into read_ledger.movements
         (user_id, position, revision, created_at, type, source, amount, balance, held)
       select ${SKEWED}, 3000000 + i, i, $1::bigint + at, 'grant', 'g' || i, 1, i, 0
       from unnest($2::int8[]) with ordinality as listed (at, i)`,
      [START, SECONDS],
    )
  })

  it('lists each movement in one of successive periods, which begin where others end', async () => {
    const admin = await api.logIn(ADMIN)
    const ends = [0, 5, 15, 30, 50, 100, 305, 320, 650, 10_000]
    const listed: number[] = []
    let total = 0
    for (const [n, end] of ends.entries()) {
      const period = `from=${START + (ends[n - 1] ?? 0)}&to=${START + end}`
      const path = `/api/audit/ledger/${SKEWED}?${period}`
      const { opening, closing, items } = (await api.get<LedgerPage>(path, admin)).body.data
      expect(opening.total).toBe(total)
      expect(closing.total).toBe(total + items.length)
      total = closing.total
      listed.push(...items.map(({ revision }) => revision).reverse())
    }
    expect(listed).toEqual(SECONDS.map((_, i) => i + 1))
  })

  it('has an empty period between equal figures where the end is before the start', async () => {
    const { db } = api.core
    const range = await rangeOfPeriod(db, SKEWED, { from: START + 600, to: START + 10 })
    const { opening, closing } = await figuresAtEnds(db, SKEWED, range)
    expect(closing).toEqual(opening)
    const filter = { userId: SKEWED, ...range, types: [] }
    expect(await listMovements(db, filter, SECONDS.length)).toEqual([])
  })
})

describe('a ledger that is read while calls end', () => {
  it('adds up, although movements are written between its queries', async () => {
    const admin = await api.logIn(ADMIN)
    const { db, pg } = api.core
    let next = 0
    let moved: Promise<unknown> = Promise.resolve()
    // As in an account, each movement is visible only after all earlier ones.
    const move = async () => {
      next += 1
      const revision = next
      moved = moved.then(() => insert(revision))
      await moved
    }
    const insert = (revision: number) =>
      pg.query(
        `with moved as (insert into read_ledger.movements
           (user_id, position, revision, created_at, type, source, amount, balance, held)
         values (${ADMIN}, 4000000 + $1::bigint, $1, ${START}, 'grant', 'now', 1, $1, 0))
         insert into read_ledger.account_days as d values (${ADMIN}, ${START}, 'grant', '', 1, 1)
         on conflict (user_id, day, type, model) do update set count = d.count + 1,
           amount = d.amount + 1`,
        [revision],
      )
    await move()
    const { any, transaction } = db
    const spy = vi.spyOn(db, 'any').mockImplementation((async (
      query: Parameters<typeof any>[0],
    ) => {
      await move()
      return await any.call(db, query)
    }) as typeof any)
    const moving = <Connection extends object>(connection: Connection): Connection =>
      new Proxy(connection, {
        get: (target, name, receiver) => {
          const method = Reflect.get(target, name, receiver)
          if (typeof method !== 'function') return method
          return async (...query: unknown[]) => {
            await move()
            return await method.apply(target, query)
          }
        },
      })
    const inside = vi
      .spyOn(db, 'transaction')
      .mockImplementation(((work: Parameters<typeof transaction>[0]) =>
        transaction.call(db, (snapshot) => work(moving(snapshot)))) as typeof transaction)
    try {
      const path = `/api/audit/ledger/${ADMIN}`
      const { closing, items } = (await api.get<LedgerPage>(path, admin)).body.data
      expect(closing.total).toBe(items[0]?.total)
      const month = new Date(START * 1_000).toISOString().slice(0, 7)
      const statement = `/api/audit/statement/${ADMIN}?month=${month}`
      const sums = (await api.get<Statement>(statement, admin)).body.data
      const [sum] = sums.by_type
      expect(sum?.amount).toBe(sum?.count)
      expect(sums.opening.total + (sum?.amount ?? 0)).toBe(sums.closing.total)
      expect(next).toBeGreaterThan(7)
    } finally {
      spy.mockRestore()
      inside.mockRestore()
    }
  })
})
