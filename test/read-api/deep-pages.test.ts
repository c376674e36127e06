import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { logRows } from '#projections/call-log/query.ts'
import { monthOf } from '#projections/runner/months.ts'
import type { LogPage } from '#read-api/contract/log.ts'
import { NOW } from '#test/projections/fixture.ts'
import { budget } from '#test/support/budget.ts'
import { ADMIN, ALICE, type Api, apiFixture } from './fixture.ts'

const ROWS = 120_000
let api: Api

/** Two months of calls, most of them one user's, as the fold would have left them. */
beforeAll(async () => {
  api = await apiFixture()
  const end = NOW / 1_000
  const start = end - 40 * 86_400
  const { pg } = api.core
  for (const seconds of [start, start + 20 * 86_400, end]) {
    const month = monthOf(seconds)
    await pg.query(`create table if not exists read_call_log.log_${month.name}
      partition of read_call_log.log for values from (${month.start}) to (${month.end})`)
  }
  await pg.query(
    `insert into read_call_log.log (id, created_at, type, user_id, model, reason, request_id)
     select 1000 + i, $1::bigint + i * 40 * 86400 / $2::bigint, 2, ${ALICE} + (i % 5 = 0)::int,
       'model-' || i % 7, 'settled', 'call-' || i
     from generate_series(1, $2::bigint) i`,
    [start, ROWS],
  )
  await pg.query(
    `insert into read_usage_by_hour.by_user_and_model
     select user_id, created_at - created_at % 3600, type, model, count(*), 0, 0, 0
     from read_call_log.log where user_id in (${ALICE}, ${ALICE + 1}) group by 1, 2, 3, 4`,
  )
  await pg.query(
    `insert into read_usage_by_hour.by_model
     select hour, type, model, sum(count), 0, 0, 0
     from read_usage_by_hour.by_user_and_model group by 1, 2, 3`,
  )
  await pg.query('analyze read_call_log.log')
})

afterAll(() => api.close())

const medianMs = async (work: () => Promise<unknown>): Promise<number> => {
  const times: number[] = []
  for (let i = 0; i < 15; i += 1) {
    const startedAt = performance.now()
    await work()
    times.push(performance.now() - startedAt)
  }
  return times.sort((a, b) => a - b)[7] ?? 0
}

describe(`the log at ${ROWS} rows`, () => {
  it.each([{}, { userId: ALICE }, { userId: ALICE, model: 'model-3' }])(
    'reads a page as fast at the far end as at the near one: %j',
    async (filter) => {
      const { db } = api.core
      const page = (before?: number) =>
        logRows(db, filter, { ...(before === undefined ? {} : { before }), offset: 0, limit: 20 })
      const deep = () => page(1_000 + ROWS / 20)
      expect(await deep()).toHaveLength(20)
      const near = await medianMs(() => page())
      expect(await medianMs(deep)).toBeLessThan(budget(near * 4 + 2))
    },
  )

  it('walks a whole list by p alone, each row once, in order', async () => {
    const admin = await api.logIn(ADMIN)
    const wanted = await api.core.pg.query<{ id: string }>(
      `select id from read_call_log.log where user_id = ${ALICE + 1} order by id desc`,
    )
    const got: number[] = []
    for (let p = 0; ; p += 1) {
      const path = `/api/log/?username=bob&p=${p}&page_size=100`
      const { data } = (await api.get<LogPage>(path, admin)).body
      if (p === 0) expect(data).toMatchObject({ total: ROWS / 5, is_total_capped: false })
      if (data.items.length === 0) break
      got.push(...data.items.map(({ id }) => id))
    }
    expect(got).toEqual(wanted.rows.map(({ id }) => Number(id)))
  })

  it('says when it stopped counting', async () => {
    const admin = await api.logIn(ADMIN)
    const { data } = (await api.get<LogPage>('/api/log/?channel=0&group=&type=2', admin)).body
    expect(data).toMatchObject({ total: ROWS, is_total_capped: false })
    await api.core.pg.query(`update read_call_log.log set channel_id = 9 where user_id = ${ALICE}`)
    const capped = (await api.get<LogPage>('/api/log/?channel=9', admin)).body.data
    expect(capped).toMatchObject({ total: 10_000, is_total_capped: true })
    const past = await api.get<LogPage>('/api/log/?channel=9&p=150&page_size=100', admin)
    expect(past.body.data.items).toHaveLength(100)
  })
})
