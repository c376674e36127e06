import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPools, type Pools } from '#infra/postgres/pools.ts'
import { createTaskProgress, type TaskProgress } from '#infra/task-progress/store-task-progress.ts'
import { testDatabase } from '#test/support/test-database.ts'

let database: Awaited<ReturnType<typeof testDatabase>>
let pools: Pools
let progress: TaskProgress
beforeAll(async () => {
  database = await testDatabase()
  pools = await createPools(database.url)
  progress = await createTaskProgress(pools.pg)
})
afterAll(async () => {
  await pools.close()
  await database.drop()
})

it('the progress store reports how far each task is, and each change once', async () => {
  expect(await progress.mark()).toBe(0)
  await progress.put([
    { id: 'a', text: '10%' },
    { id: 'b', text: '0%' },
  ])
  expect(await progress.read(['a', 'b', 'c'])).toEqual(
    new Map([
      ['a', '10%'],
      ['b', '0%'],
    ]),
  )
  const mark = await progress.mark()
  await progress.put([
    { id: 'a', text: '10%' },
    { id: 'b', text: '40%' },
  ])
  const changed = await progress.changedAfter(mark, 10)
  expect(changed.map(({ id, text }) => ({ id, text }))).toEqual([{ id: 'b', text: '40%' }])
  expect(await progress.changedAfter(await progress.mark(), 10)).toEqual([])
})

it('the progress store forgets a task that has ended', async () => {
  await progress.put([{ id: 'over', text: '100%' }])
  await progress.remove(['over'])
  await progress.sweep()
  expect(await progress.read(['over'])).toEqual(new Map())
})
